"""The memory of deletions: what was deleted on purpose does not come back by reading it again.

Remembered is what was stored when a deletion ran, as bytes of its source. What comes later, of the same day too, is
stored like anything else.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, or_, select, update

from snaglist.kernel import Call
from snaglist.kernel.database import chunks, insert_ignore, upsert
from snaglist.plugins.issues import Event, stored
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, Trail, prefix_hash
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.store import coverage, queries
from snaglist.plugins.logs.tables import deleted_events, deleted_ranges
from snaglist.plugins.logs.tables import sources as _sources
from snaglist.plugins.system import rows

DAY, SOURCE = "date", "source"
CHUNK = 500
_occurrences, _ranges = stored.occurrences, deleted_ranges

Covers = Callable[[Event], bool]


def deleted_of(db: Connection, source_id: int) -> Covers:
    """Return the test for events of a source that were deleted."""
    ranges = db.execute(select(_ranges).where(_ranges.c.source_id == source_id)).all()

    def covers(event: Event) -> bool:
        return any(
            row.byte_start <= event.byte_start < row.byte_end
            and row.day in (None, event.occurred_at[:10])
            and (row.counted is None or coverage.was_counted(row.counted, event))
            for row in ranges
        )

    return covers


def without_deleted(db: Connection, source_id: int, events: Sequence[Event]) -> Sequence[Event]:
    """Return those events of a source that no deletion covers."""
    if not events:
        return events
    covers = deleted_of(db, source_id)
    return [event for event in events if not covers(event)]


def number_of(call: Call, source_id: int | None) -> int:
    """Return how many events of a source, if there is one, were deleted; outside a transaction."""
    if source_id is None:
        return 0
    with call.transaction(write=False) as db:
        return numbers_of(db, [source_id]).get(source_id, 0)


def numbers_of(db: Connection, source_ids: Collection[int]) -> dict[int, int]:
    """Return how many events were deleted, by source; those without are left out."""
    summed = select(_ranges.c.source_id, func.sum(_ranges.c.occurrences)).group_by(_ranges.c.source_id)
    return {row[0]: int(row[1]) for row in rows.among(db, summed, _ranges.c.source_id, source_ids) if row[1]}


def remember(db: Connection, deletion_id: int, day: str | None, occurrence_ids: Sequence[int]) -> None:
    """Note occurrences that are about to be deleted, in the open write transaction."""
    for some in chunks(occurrence_ids, CHUNK):
        spans = (func.min(_occurrences.byte_start), func.max(_occurrences.byte_end), func.count())
        found = select(_occurrences.source_id, *spans).where(_occurrences.id.in_(some))
        by_source = {row[0]: row[1:] for row in db.execute(found.group_by(_occurrences.source_id))}
        files = select(_sources.c.id, _sources.c.counted).where(
            _sources.c.id.in_(by_source),
            _sources.c.log_type != queries.PUSHED,  # nothing is ever read again there
        )
        removed = []
        for source_id, record in db.execute(files.order_by(_sources.c.id)):
            start, end, number = by_source[source_id]
            span = {"byte_start": start, "byte_end": end, "occurrences": number}
            removed.append({"deletion_id": deletion_id, "source_id": source_id, "day": day, "counted": record, **span})
        upsert(db, _ranges, removed, add=("occurrences",), least=("byte_start",), greatest=("byte_end",))
        sent = select(_occurrences.event_id).where(_occurrences.id.in_(some), _occurrences.event_id.is_not(None))
        ids = db.execute(sent.order_by(_occurrences.event_id)).scalars()
        insert_ignore(db, deleted_events, [{"event_id": one, "deletion_id": deletion_id} for one in ids])


def settle(db: Connection, deletion_id: int) -> None:
    """Note where nothing is left among what a deletion removed: the times of lines do not matter there any more."""
    ranges = select(_ranges).where(_ranges.c.deletion_id == deletion_id, _ranges.c.day.is_not(None))
    for row in db.execute(ranges).all():
        within = _occurrences.byte_start.between(row.byte_start, row.byte_end - 1)
        left = select(_occurrences.id).where(_occurrences.source_id == row.source_id, within).limit(1)
        if db.execute(left).first() is None:
            this = (_ranges.c.deletion_id == deletion_id, _ranges.c.source_id == row.source_id)
            db.execute(update(_ranges).where(*this).values(day=None))


def sent_and_deleted(db: Connection, event_ids: Sequence[str]) -> set[str]:
    """Return those ids of pushed events that were stored once and deleted."""
    of = deleted_events.c.event_id
    return {row.event_id for row in rows.among(db, select(of), of, event_ids)}


def alike(db: Connection, head: bytes) -> list[Row[Any]]:
    """Return sources of which events were deleted and whose bytes a file with that head may hold, longest first."""
    known = _sources.c.id.in_(select(_ranges.c.source_id))
    possible = or_(_sources.c.prefix_hash == prefix_hash(head), _sources.c.prefix_length < PREFIX_BYTES)
    found = select(_sources).where(known, possible, _sources.c.offset > 0).order_by(_sources.c.offset.desc())
    return list(db.execute(found))


def copied_from(file: OpenFile, head: bytes, sources: Sequence[Row[Any]]) -> int | None:
    """Return the first of these sources all of whose bytes a file holds."""
    for row in sources:
        if trail := Trail.resume(file, head, row):
            trail.close()
            return int(row.id)
    return None


def copy(db: Connection, source_id: int, copy_id: int, first_byte: int) -> None:
    """Let what was deleted of a source be deleted of a copy too that is read from a byte on, in the transaction."""
    ranges = select(_ranges).where(_ranges.c.source_id == source_id, _ranges.c.byte_end > first_byte)
    found = db.execute(ranges.order_by(_ranges.c.deletion_id)).mappings().all()
    whole = [{**row, "source_id": copy_id} for row in found]
    insert_ignore(db, _ranges, [row if first_byte <= row["byte_start"] else {**row, "occurrences": 0} for row in whole])


def join(db: Connection, source_id: int, copy_id: int) -> None:
    """Let a source take over what was deleted of its copy, which goes, in the open write transaction."""
    of_copy = _ranges.c.source_id == copy_id
    taken = [{**row, "source_id": source_id} for row in db.execute(select(_ranges).where(of_copy)).mappings()]
    upsert(db, _ranges, taken, add=("occurrences",), least=("byte_start",), greatest=("byte_end",))
    db.execute(delete(_ranges).where(of_copy))
