"""The report as one HTML page that needs nothing else: tables with bars, and plots of days and hours as SVG.

It is built as a tree and written by the standard library, which escapes whatever the log says; it has no scripts.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from snaglist.kernel.text import visible
from snaglist.plugins.access_analytics.command.printing import figures, panels

_STYLE = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; }
dt { opacity: .7; } dd { margin: 0; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .2rem .6rem; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
tr { border-bottom: 1px solid light-dark(#ddd, #444); }
svg { width: 100%; height: 8rem; } td svg { width: 8rem; height: .8rem; }
rect { fill: light-dark(#4f46e5, #818cf8); } rect.errors { fill: light-dark(#dc2626, #f87171); }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_WIDTH, _HEIGHT = 1000, 100  # of a plot, in its own units


def write_page(target: Path, report: Mapping[str, Any], files: Sequence[str]) -> None:
    """Write the page; raises OSError."""
    html = Element("html", lang="en")
    head = SubElement(html, "head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY})
    SubElement(head, "meta", name="viewport", content="width=device-width")
    _add(head, "title", "Access report")
    _add(head, "style", _STYLE)
    body = SubElement(html, "body")
    _add(body, "h1", "Access report")
    _add(body, "p", f"{report['from']} to {report['to']} UTC, from {', '.join(_plain(file) for file in files)}")
    _figures(body, report)
    _plot(body, "Requests by day", report["by_day"], "day")
    _plot(body, "Requests by hour", report["by_hour"], "hour")
    for title, rows, columns in panels(report):
        if rows and title != "Days":
            _table(body, title, rows, columns)
    with target.open("wb") as page:
        page.write(b"<!doctype html>\n" + tostring(html, encoding="utf-8", method="html"))


def _figures(body: Element, report: Mapping[str, Any]) -> None:
    times = report["response_time"]
    shown = figures(report) | {row["class"]: f"{row['count']:,}" for row in report["status_classes"]}
    if times["measured"]:
        shown |= {name: f"{times[f'{name}_ms']:,} ms" for name in ("p50", "p95", "p99")}
    listing = SubElement(body, "dl")
    for name, value in shown.items():
        pair = SubElement(listing, "div")
        _add(pair, "dt", name)
        _add(pair, "dd", value)


def _plot(body: Element, title: str, rows: Sequence[Mapping[str, Any]], name: str) -> None:
    """Add a bar for each row, the share of errors in it apart; a title says what each bar is."""
    _add(body, "h2", title)
    sizes = {"viewBox": f"0 0 {_WIDTH} {_HEIGHT}", "preserveAspectRatio": "none", "role": "img", "aria-label": title}
    plot = SubElement(body, "svg", sizes)
    most = max((row["count"] for row in rows), default=0) or 1
    step = _WIDTH / max(len(rows), 1)
    for place, row in enumerate(rows):
        bar = SubElement(plot, "g")
        _add(bar, "title", f"{row[name]}: {row['count']:,} requests, {row['errors']:,} errors")
        _bar(bar, place * step, step * 0.85, _HEIGHT * row["count"] / most, "")
        _bar(bar, place * step, step * 0.85, _HEIGHT * row["errors"] / most, "errors")


def _bar(parent: Element, x: float, width: float, height: float, kind: str) -> None:
    place = {"x": x, "y": _HEIGHT - height, "width": width, "height": height}
    SubElement(parent, "rect", {name: f"{value:.2f}" for name, value in place.items()}, **{"class": kind})


def _table(body: Element, title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    _add(body, "h2", title)
    table = SubElement(body, "table")
    _row(SubElement(table, "thead"), "th", [*columns, ""])
    content = SubElement(table, "tbody")
    most = max(row[columns[1]] for row in rows)
    for row in rows:
        cells = [f"{row[c]:,}" if isinstance(row[c], int) and c != columns[0] else row[c] for c in columns]
        line = _row(content, "td", ["" if cell is None else str(cell) for cell in cells])
        sizes = {"viewBox": "0 0 100 10", "preserveAspectRatio": "none", "aria-hidden": "true"}
        bar = SubElement(SubElement(line, "td"), "svg", sizes)
        SubElement(bar, "rect", width=f"{100 * row[columns[1]] / most:.1f}", height="10")


def _row(parent: Element, kind: str, cells: Iterable[str]) -> Element:
    row = SubElement(parent, "tr")
    for cell in cells:
        _add(row, kind, cell)
    return row


def _add(parent: Element, kind: str, text: str) -> None:
    SubElement(parent, kind).text = _plain(text)


def _plain(text: str) -> str:
    """Replace what no page may hold, control characters and halves of characters; show what turns the direction."""
    plain = "".join(c if c >= " " or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in visible(text))
    return plain.encode("utf-8", "replace").decode()
