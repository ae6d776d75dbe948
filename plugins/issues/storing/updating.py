"""What a batch changes in its issues: counters, the sample of the latest event, reoccurrence, totals."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from snaglist.kernel import Call
from snaglist.plugins.issues import history
from snaglist.plugins.issues.events import Event, StoredBatch
from snaglist.plugins.issues.storing import queries, reoccurrence
from snaglist.plugins.issues.storing.queries import LockedIssue
from snaglist.plugins.issues.storing.samples import sample_fields, sample_texts
from snaglist.plugins.issues.storing.tally import Group
from snaglist.plugins.issues.totals import Totals

_Locked = Mapping[int, LockedIssue]


def update_issues(
    call: Call, batch: StoredBatch, by_issue: Mapping[int, Group], locked: _Locked, *, reoccur: bool
) -> None:
    """Bring the issues of a batch up to date; `locked` are their rows before.

    `reoccur` is false for events that are read again: they bring no issue back and use up no snooze.
    """
    returned = _reoccurrences(call, batch, locked) if reoccur else {}
    counters: dict[int, dict[str, Any]] = {}
    for issue_id, group in sorted(by_issue.items()):
        issue = locked[issue_id]
        batch.counts[issue_id] = (issue.seen, issue.seen + group.span.count)
        silent = min(issue.snooze_count or 0, group.span.count) if reoccur else 0
        if silent:
            batch.silent[issue_id] = silent
        counters[issue_id] = {
            "row_id": issue_id,
            "count": issue.seen + group.span.count,
            "stored_occurrences": issue.stored + group.span.count,
            "first_seen": min(issue.first_seen, group.span.first),
            "last_seen": max(issue.last_seen, group.span.last),
            "snooze_count": ((issue.snooze_count or 0) - silent) or None,
            "updated_at": call.now,
        }
    # Importing an older archive never changes what an issue shows.
    latest = {
        issue_id: group.latest
        for issue_id, group in sorted(by_issue.items())
        if group.span.last >= locked[issue_id].last_seen
    }
    shown = {issue_id: sample_fields(event) for issue_id, event in latest.items()}
    samples = _put_samples(call, batch, latest, shown, locked)
    # One change of a row for both: each costs its share of every index.
    queries.update_issues(call.db, [{**counters[issue_id], **sample} for issue_id, sample in samples.items()])
    queries.update_issues(call.db, [row for issue_id, row in counters.items() if issue_id not in samples])
    queries.update_issues(
        call.db,
        [{"row_id": issue_id, "status": "reoccurred", "status_updated_at": call.now} for issue_id in sorted(returned)],
    )
    history.append(call.db, [row for _, row in sorted(returned.items())])
    batch.reoccurred_issues.update(returned)
    _update_totals(call, batch, by_issue, shown, locked)


def _put_samples(
    call: Call, batch: StoredBatch, latest: Mapping[int, Event], shown: Mapping[int, dict[str, Any]], locked: _Locked
) -> dict[int, dict[str, Any]]:
    """Store the sample texts; returns the columns of `issues` that show the samples."""
    messages = queries.sample_messages(call.db, latest.keys() - batch.new_issues)
    texts = {issue_id: sample_texts(event) for issue_id, event in latest.items()}
    ids = {one.event.byte_start: one.occurrence_id for one in batch.stored if one.occurrence_id is not None}
    if not ids:
        ids = queries.occurrence_ids(call.db, batch.source.id, [event.byte_start for event in latest.values()])
    queries.put_samples(call.db, [{"issue_id": issue_id, **text} for issue_id, text in texts.items()])
    for issue_id in latest.keys() - batch.new_issues:
        before, after = locked[issue_id], shown[issue_id]
        same = (before.title, before.exception_class) == (after["title"], after["exception_class"])
        if not same or messages.get(issue_id) != texts[issue_id]["message"]:
            batch.changed_issues.add(issue_id)
    return {
        issue_id: {"sample_occurrence_id": ids[event.byte_start], **shown[issue_id]}
        for issue_id, event in latest.items()
    }


def _update_totals(
    call: Call, batch: StoredBatch, issue_ids: Iterable[int], shown: Mapping[int, dict[str, Any]], locked: _Locked
) -> None:
    totals = Totals()
    for issue_id in issue_ids:
        issue, sample = locked[issue_id], shown.get(issue_id, {})
        before, after = batch.counts[issue_id]
        if issue_id not in batch.new_issues:
            totals.remove(issue.status, issue.severity, issue.log_type, before)
        status = "reoccurred" if issue_id in batch.reoccurred_issues else issue.status
        totals.add(status, sample.get("severity", issue.severity), sample.get("log_type", issue.log_type), after)
    totals.write(call.db)


def _reoccurrences(call: Call, batch: StoredBatch, locked: _Locked) -> dict[int, dict[str, Any]]:
    """Return a history row for each fixed issue that the batch brings back."""
    fixed = {issue_id for issue_id, issue in locked.items() if issue.status == "fixed"}
    events: defaultdict[int, list[Event]] = defaultdict(list)
    if fixed:
        for one in batch.stored:
            if one.issue_id in fixed:
                events[one.issue_id].append(one.event)
    found = {}
    for issue_id, of_issue in events.items():
        event = reoccurrence.find_reoccurrence(call, locked[issue_id], of_issue)
        if event:
            found[issue_id] = history.entry(
                issue_id,
                "reoccurrence",
                call.now,
                actor=None,
                note=reoccurrence.note(event),
                from_status="fixed",
                to_status="reoccurred",
            )
    return found
