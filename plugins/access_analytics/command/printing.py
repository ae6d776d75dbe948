"""The report as text for a terminal."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import clip
from snaglist.plugins.system import table

_WIDTH = 80  # of a path


def text_of(report: Mapping[str, Any]) -> str:
    """Return the report as tables."""
    times = report["response_time"]
    told = [f"{name.lower()} {value}" for name, value in figures(report).items()]
    general = [f"{report['from']} to {report['to']} UTC", "   ".join(told[:4]), "   ".join(told[4:])]
    if times["measured"]:
        general.append(f"response time: p50 {times['p50_ms']} ms, p95 {times['p95_ms']} ms, p99 {times['p99_ms']} ms")
    classes = "   ".join(f"{row['class']} {row['count']:,}" for row in report["status_classes"])
    parts = ["\n".join([*general, classes])]
    for title, rows, columns in panels(report):
        if rows:
            cells = [[_cell(row[column]) for column in columns] for row in rows]
            parts.append(f"{title}\n" + table([column.upper() for column in columns], cells))
    return "\n\n".join(parts)


def figures(report: Mapping[str, Any]) -> dict[str, str]:
    """Return the sums of a report by their names."""
    return {
        "Requests": f"{report['total']:,}",
        "Visitors": f"{report['unique_visitors']:,}",
        "Paths": f"{report['unique_paths']:,}",
        "Bytes": f"{report['bytes']:,}",
        "Errors": f"{report['error_rate']:.2%}",
        "Of bots": f"{report['bots']:,}",
        "Malformed": f"{report['malformed']:,}",
        "Not understood": f"{report['not_understood']:,}",
    }


def _cell(value: Any) -> Any:
    return clip(value, _WIDTH) if isinstance(value, str) else value


def panels(report: Mapping[str, Any]) -> list[tuple[str, list[dict[str, Any]], list[str]]]:
    """Return the lists of a report: title, rows, and the columns that are shown, first the one that names a row."""
    measured = report["response_time"]["measured"]
    path_columns = ["path", "count", "errors", "bytes", *(["p50_ms", "p95_ms"] if measured else [])]
    agents = [{**row, "bot": "bot" if row["bot"] else ""} for row in report["top_agents"]]
    return [
        ("Days", report["by_day"], ["day", "count", "errors", "visitors"]),
        ("Paths", report["top_paths"], path_columns),
        ("Paths with errors", report["error_paths"], ["path", "errors"]),
        ("Statuses", report["statuses"], ["status", "count"]),
        ("Methods", report["methods"], ["method", "count"]),
        ("Agents", agents, ["agent", "count", "bot"]),
        ("Referrers", report["top_referrers"], ["referrer", "count"]),
    ]
