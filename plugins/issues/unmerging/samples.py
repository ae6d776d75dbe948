"""What the two issues of an unmerge show: the event they show already, or what the database knows of the latest."""

from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Connection, RowMapping, select

from snaglist.kernel import Call
from snaglist.plugins.issues.above import sources
from snaglist.plugins.issues.events import Event, ExceptionInfo
from snaglist.plugins.issues.storing.samples import sample_fields, sample_texts
from snaglist.plugins.issues.tables import issue_samples, occurrences
from snaglist.plugins.issues.unmerging import queries

_TEXTS = ("message", "stack", "context", "exceptions")


@dataclass(frozen=True, slots=True)
class Sample:
    """Columns of `issues` and `issue_samples` that come from one event."""

    columns: dict[str, Any]
    texts: dict[str, Any]
    grouping_id: int | None

    COLUMNS: ClassVar = (
        "severity",
        "severity_rank",
        "environment",
        "log_type",
        "channel",
        "title",
        "exception_class",
        "source_frame",
        "search_text",
        "sample_occurrence_id",
    )


def stored_sample(db: Connection, issue: RowMapping) -> Sample:
    """Return what an issue shows now."""
    texts = db.execute(select(issue_samples).where(issue_samples.c.issue_id == issue["id"])).mappings().one()
    of_event = select(occurrences.c.grouping_id).where(occurrences.c.id == issue["sample_occurrence_id"])
    return Sample(
        {name: issue[name] for name in Sample.COLUMNS},
        {name: texts[name] for name in _TEXTS},
        db.execute(of_event).scalar(),
    )


def known_sample(call: Call, issue_id: int, like: RowMapping, grouping: RowMapping) -> Sample:
    """Return what is known of the latest stored event of an issue without its text, which its grouping stands for."""
    row = queries.latest_occurrence(call.db, sources(call).table, issue_id)
    event = Event(
        _message(grouping["parts"]),
        severity=row.severity if row else like["severity"],
        environment=row.environment if row else like["environment"],
        log_type=row.log_type if row else like["log_type"],
        channel=row.channel if row else like["channel"],
        context=(row.context_preview or "") if row else "",
        exceptions=[ExceptionInfo(one["class"], "", []) for one in grouping["parts"]["exceptions"]],
    )
    occurrence_id = row.id if row else None
    columns = {**sample_fields(event), "sample_occurrence_id": occurrence_id}
    return Sample(columns, sample_texts(event), grouping["id"])


def _message(parts: dict[str, Any]) -> str:
    if parts["template"] or parts["custom"]:
        return str(parts["template"] or parts["custom"])
    if line := parts.get("access"):
        return f"{line['method']} {line['path']} {line['status']}"
    return ", ".join(one["class"] for one in parts["exceptions"])
