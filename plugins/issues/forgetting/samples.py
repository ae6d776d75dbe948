"""What an issue shows when the event that it showed is to be forgotten: another event, else what its grouping says."""

from typing import Any

from sqlalchemy import RowMapping

from snaglist.kernel import Call
from snaglist.plugins.issues.above import sources
from snaglist.plugins.issues.events import Event, ExceptionInfo
from snaglist.plugins.issues.forgetting import queries
from snaglist.plugins.issues.forgetting.names import Name
from snaglist.plugins.issues.storing.queries import put_samples, update_issues
from snaglist.plugins.issues.storing.samples import NO_MESSAGE, sample_fields, sample_texts, search_text
from snaglist.plugins.issues.totals import Totals
from snaglist.plugins.issues.values.reading import StoredText


def show_another(call: Call, issue: RowMapping, user: str) -> None:
    """Let a (locked) issue show its latest event that did not happen to somebody, as far as the database has it."""
    row = queries.latest_text(call.db, sources(call).table, issue["id"], user)
    parts = queries.newest_grouping(call.db, issue["id"]) or {}
    text = StoredText(row) if row is not None else None
    message = (text.message if text else None) or Name(user).hidden(_fixed(parts)) or NO_MESSAGE
    event = Event(
        message,
        severity=row.severity if row else issue["severity"],
        environment=row.environment if row else issue["environment"],
        log_type=row.log_type if row else issue["log_type"],
        channel=row.channel if row else issue["channel"],
        context=(row.context_preview or "") if row else "",
        exceptions=[ExceptionInfo(one["class"]) for one in parts.get("exceptions", ())],
    )
    fields = sample_fields(event)
    fields["source_frame"] = frame = issue["source_frame"]  # a place in the code
    fields["search_text"] = search_text(
        fields["title"], fields["exception_class"], frame, fields["channel"], event.message
    )
    update_issues(call.db, [{"row_id": issue["id"], **fields, "sample_occurrence_id": row.id if row else None}])
    put_samples(call.db, [{"issue_id": issue["id"], **sample_texts(event)}])
    totals = Totals()
    totals.remove(issue["status"], issue["severity"], issue["log_type"], issue["count"])
    totals.add(issue["status"], fields["severity"], fields["log_type"], issue["count"])
    totals.write(call.db)


def _fixed(parts: dict[str, Any]) -> str:
    if text := parts.get("template") or parts.get("custom"):
        return str(text)
    if line := parts.get("access"):
        return f"{line['method']} {line['path']} → {line['status']:03d}"
    return ", ".join(one["class"] for one in parts.get("exceptions", ()))
