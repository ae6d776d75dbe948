"""The text of an issue's latest event, read back from its source; no transaction waits for a file."""

from snaglist.kernel import Call
from snaglist.plugins.issues.above import sources
from snaglist.plugins.issues.reading import read_back
from snaglist.plugins.issues.storing.samples import sample_fields, sample_texts
from snaglist.plugins.issues.totals import Totals
from snaglist.plugins.issues.unmerging import queries


def refresh_sample(call: Call, issue_id: int) -> None:
    """Let an issue show its latest stored event, if that can be read; opens transactions of its own."""
    from snaglist.plugins.issues.preparing import redact, redaction_of  # needs `storing`, which needs it

    with call.transaction(write=False) as db:
        latest = queries.latest_occurrence(db, sources(call).table, issue_id)
        event = read_back(call, latest.id) if latest else None
    if latest is None or event is None:
        return
    redact(event, redaction_of(call))  # a file still has what was not stored
    # What the occurrence says is what was counted; one event read alone may say less (no year, no level).
    event.severity, event.environment, event.release = latest.severity, latest.environment, latest.release

    def store() -> None:
        with call.transaction() as db:
            issue = queries.lock_issue(db, issue_id)
            if issue is None or issue["sample_occurrence_id"] != latest.id:
                return  # a later event came meanwhile
            shown = sample_fields(event)
            queries.update_issue(db, issue_id, shown)
            queries.replace_sample(db, issue_id, sample_texts(event))
            totals = Totals()
            totals.remove(issue["status"], issue["severity"], issue["log_type"], issue["count"])
            totals.add(issue["status"], shown["severity"], shown["log_type"], issue["count"])
            totals.write(db)

    call.repeat(store)
