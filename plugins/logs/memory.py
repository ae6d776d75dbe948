"""The memory of deletions: what was deleted on purpose does not come back by reading it again."""

from collections.abc import Sequence

from sqlalchemy import Connection, or_, select

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.tables import log_deletions

DAY, SOURCE = "date", "source"


def without_deleted(db: Connection, source_id: int, events: Sequence[Event]) -> Sequence[Event]:
    """Return those events of a source that no deletion covers."""
    if not events:
        return events
    days = sorted({event.occurred_at[:10] for event in events})
    rows = db.execute(
        select(log_deletions).where(
            or_(
                (log_deletions.c.scope == DAY) & log_deletions.c.day.in_(days),
                log_deletions.c.source_id == source_id,
            )
        )
    ).all()
    if not rows:
        return events
    until = {row.day: row.created_at for row in sorted(rows, key=lambda row: row.created_at) if row.scope == DAY}
    offset = max((row.up_to_offset for row in rows if row.scope == SOURCE), default=0)
    return [
        event
        for event in events
        if event.byte_start >= offset and event.occurred_at > until.get(event.occurred_at[:10], "")
    ]
