"""The memory of deletions: what was deleted on purpose does not come back by reading it again.

Remembered is what was stored when a deletion ran, as bytes of its source: a range of them, or, of somebody's events,
where each began. What comes later, of the same day too, is stored like anything else.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, literal, or_, select, update

from snaglist.kernel import Call
from snaglist.kernel.database import chunks, insert_ignore, upsert
from snaglist.plugins.issues import Event, stored
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, Trail, prefix_hash
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.store import coverage, queries
from snaglist.plugins.logs.tables import deleted_events, deleted_places, deleted_ranges
from snaglist.plugins.logs.tables import sources as _sources
from snaglist.plugins.system import rows

DAY, SOURCE = "date", "source"
CHUNK = 500
_occurrences, _ranges, _places = stored.occurrences, deleted_ranges, deleted_places

Covers = Callable[[Event], bool]


def deleted_of(db: Connection, source_id: int, start: int, end: int) -> Covers:
    """Return the test for events of a source that were deleted and begin from one byte on and before another."""
    ranges = db.execute(select(_ranges).where(_ranges.c.source_id == source_id)).all()
    within = (_places.c.source_id == source_id, _places.c.byte_start >= start, _places.c.byte_start < end)
    places = set(db.execute(select(_places.c.byte_start).where(*within)).scalars())

    def covers(event: Event) -> bool:
        return event.byte_start in places or any(
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
    starts = [event.byte_start for event in events]
    covers = deleted_of(db, source_id, min(starts), max(starts) + 1)
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
    single = select(_places.c.source_id, func.count()).group_by(_places.c.source_id)
    found: Counter[int] = Counter()
    for statement, of in ((summed, _ranges.c.source_id), (single, _places.c.source_id)):
        for source_id, number in rows.among(db, statement, of, source_ids):
            found[source_id] += int(number)
    return dict(+found)


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
        _remember_sent(db, deletion_id, some)


def remember_places(db: Connection, deletion_id: int, occurrence_ids: Sequence[int]) -> None:
    """Note single occurrences that are about to be deleted, others between them not, in the open write transaction."""
    for some in chunks(occurrence_ids, CHUNK):
        begin = select(_occurrences.source_id, _occurrences.byte_start).join(
            _sources, _sources.c.id == _occurrences.source_id
        )
        files = begin.where(_occurrences.id.in_(some), _sources.c.log_type != queries.PUSHED)
        found = db.execute(files.order_by(_occurrences.source_id, _occurrences.byte_start)).mappings()
        insert_ignore(db, _places, [{**row, "deletion_id": deletion_id} for row in found])
        _remember_sent(db, deletion_id, some)


def _remember_sent(db: Connection, deletion_id: int, occurrence_ids: Sequence[int]) -> None:
    here = (_occurrences.id.in_(occurrence_ids), _occurrences.event_id.is_not(None))
    ids = db.execute(select(_occurrences.event_id).where(*here).order_by(_occurrences.event_id)).scalars()
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
    known = or_(
        _sources.c.id.in_(select(_ranges.c.source_id)),
        select(_places.c.deletion_id).where(_places.c.source_id == _sources.c.id).exists(),
    )
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
    _copy_places(db, source_id, copy_id, first_byte)


def _copy_places(db: Connection, source_id: int, target_id: int, first_byte: int) -> None:
    here = (_places.c.source_id == source_id, _places.c.byte_start >= first_byte)
    columns = (literal(target_id), _places.c.byte_start, _places.c.deletion_id)
    known = _places.alias()
    there = select(known.c.source_id).where(known.c.source_id == target_id, known.c.byte_start == _places.c.byte_start)
    names = ["source_id", "byte_start", "deletion_id"]
    db.execute(insert(_places).from_select(names, select(*columns).where(*here, ~there.exists())))


def join(db: Connection, source_id: int, copy_id: int) -> None:
    """Let a source take over what was deleted of its copy, which goes, in the open write transaction."""
    of_copy = _ranges.c.source_id == copy_id
    taken = [{**row, "source_id": source_id} for row in db.execute(select(_ranges).where(of_copy)).mappings()]
    upsert(db, _ranges, taken, add=("occurrences",), least=("byte_start",), greatest=("byte_end",))
    db.execute(delete(_ranges).where(of_copy))
    _copy_places(db, copy_id, source_id, 0)
    db.execute(delete(_places).where(_places.c.source_id == copy_id))
