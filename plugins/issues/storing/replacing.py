"""Replaces an event that was stored before all of it had arrived, under the same occurrence id.

The first form is taken out of all counters and the whole event is stored like any other, so that it may
also lead to another issue. An issue that only the first form had made goes again. What turned out to be a part of
another event is withdrawn in the same way.
"""

from typing import Any

from sqlalchemy import Connection, RowMapping, and_, delete, func, select, update

from snaglist.kernel import Call
from snaglist.plugins.issues.events import Event, EventSource, StoredBatch
from snaglist.plugins.issues.ids import resolve_issue_id
from snaglist.plugins.issues.storing.batch import store_events
from snaglist.plugins.issues.storing.taking import take_out
from snaglist.plugins.issues.tables import (
    groupings,
    issues,
    occurrences,
    status_history,
)
from snaglist.plugins.issues.totals import Totals


def replace_event(call: Call, source: EventSource, event: Event, *, channel: str | None = None) -> StoredBatch | None:
    """Store what an event has grown to, in the open write transaction; None when no first form is stored.

    `channel` is that of the first form, where it had another one.
    """
    first = _first_form(call.db, source.id, event.byte_start)
    if first is None:
        return None
    call.db.execute(delete(occurrences).where(occurrences.c.id == first["id"]))
    take_out(call.db, [(first, event.channel if channel is None else channel)], source.path)
    # Storing the whole event uses a snooze up once more.
    again = {"snooze_count": issues.c.snooze_count + 1}
    call.db.execute(update(issues).where(issues.c.id == first["issue_id"]).values(again))
    batch = store_events(call, source, [event])
    if batch.stored:
        _keep_id(call.db, first["id"], source.id, event.byte_start, batch.stored[0].issue_id)
    before = resolve_issue_id(call.db, first["issue_id"])  # storing may have learned, and merged it
    if before not in {stored.issue_id for stored in batch.stored}:
        _left_behind(call.db, before, first)
    return batch


def withdraw_event(call: Call, source: EventSource, byte_start: int, channel: str) -> bool:
    """Take back the first form of what turned out to be no event, in the open write transaction; False without one.

    The row of `sources` is the caller's: its `occurrence_count` falls by one.
    """
    first = _first_form(call.db, source.id, byte_start)
    if first is None:
        return False
    call.db.execute(delete(occurrences).where(occurrences.c.id == first["id"]))
    take_out(call.db, [(first, channel)], source.path)
    _left_behind(call.db, first["issue_id"], first)
    return True


def _first_form(db: Connection, source_id: int, byte_start: int) -> RowMapping | None:
    """Return the stored form, with its grouping and issue locked in the order that storing locks."""
    wanted = select(occurrences).where(occurrences.c.source_id == source_id, occurrences.c.byte_start == byte_start)
    row = db.execute(wanted).mappings().first()
    if row is not None:
        db.execute(select(groupings.c.id).where(groupings.c.id == row["grouping_id"]).with_for_update()).all()
        db.execute(select(issues.c.id).where(issues.c.id == row["issue_id"]).with_for_update()).all()
    return row


def _issue(db: Connection, issue_id: int) -> RowMapping:
    columns = (issues.c.status, issues.c.severity, issues.c.log_type, issues.c["count"], issues.c.origin)
    return db.execute(select(*columns).where(issues.c.id == issue_id)).mappings().one()


def _keep_id(db: Connection, kept_id: int, source_id: int, byte_start: int, issue_id: int) -> None:
    """Give the stored event the id of its first form."""
    here = (occurrences.c.source_id == source_id, occurrences.c.byte_start == byte_start)
    new_id = db.execute(select(occurrences.c.id).where(*here)).scalar_one()
    db.execute(update(occurrences).where(occurrences.c.id == new_id).values(id=kept_id))
    sample = (issues.c.id == issue_id, issues.c.sample_occurrence_id == new_id)
    db.execute(update(issues).where(*sample).values(sample_occurrence_id=kept_id))


def _left_behind(db: Connection, issue_id: int, first: RowMapping) -> None:
    """Bring the issue of the first form in order, when the whole event went to another one."""
    grouping_id = first["grouping_id"]
    if forget_empty(db, issue_id):
        return
    of_issue = occurrences.c.issue_id == issue_id  # the index on occurrences begins with the issue
    of_grouping = and_(of_issue, occurrences.c.grouping_id == grouping_id)
    _correct_span(db, groupings, groupings.c.id == grouping_id, of_grouping)
    _correct_span(db, issues, issues.c.id == issue_id, of_issue)
    latest = (
        select(occurrences.c.id)
        .where(occurrences.c.issue_id == issue_id)
        .order_by(occurrences.c.occurred_at.desc(), occurrences.c.id.desc())
        .limit(1)
    )
    sample = (issues.c.id == issue_id, issues.c.sample_occurrence_id == first["id"])
    db.execute(update(issues).where(*sample).values(sample_occurrence_id=db.execute(latest).scalar()))


def forget_empty(db: Connection, issue_id: int) -> bool:
    """Remove a (locked) issue that all events have left and nobody worked on; False when it stays."""
    issue = _issue(db, issue_id)
    if issue["count"] or issue["origin"] != "ingested" or _touched(db, issue_id):
        return False
    totals = Totals()
    totals.remove(issue["status"], issue["severity"], issue["log_type"], 0)
    totals.write(db)
    db.execute(delete(issues).where(issues.c.id == issue_id))
    return True


def _touched(db: Connection, issue_id: int) -> bool:
    """Somebody worked on the issue: it stays even without events."""
    return (
        db.execute(select(status_history.c.id).where(status_history.c.issue_id == issue_id).limit(1)).first()
        is not None
    )


def _correct_span(db: Connection, table: Any, row: Any, events: Any) -> None:
    last = db.execute(select(func.max(occurrences.c.occurred_at)).where(events)).scalar()
    if last is not None:
        db.execute(update(table).where(row, table.c.last_seen > last).values(last_seen=last))
