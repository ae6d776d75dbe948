"""The statements of storing a batch: their number does not depend on the number of events."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Connection, bindparam, delete, func, insert, select, update

from snaglist.kernel.database import chunks, insert_ignore, inserted_id, upsert
from snaglist.plugins.issues.row_updates import update_rows
from snaglist.plugins.issues.tables import (
    event_days,
    event_hours,
    groupings,
    issue_samples,
    issues,
    occurrences,
)
from snaglist.plugins.issues.values.index import indexed_at_once
from snaglist.plugins.system import insert_rows

CHUNK = 500


class Place(NamedTuple):
    """Where events of a fingerprint go, and what was counted there before."""

    grouping_id: int
    issue_id: int
    seen: int
    first_seen: str
    last_seen: str


class LockedIssue(NamedTuple):
    """An issue as it was before the batch."""

    id: int
    status: str
    severity: str
    log_type: str
    seen: int
    stored: int
    first_seen: str
    last_seen: str
    title: str
    exception_class: str | None
    fixed_at: str | None
    fixed_release: str | None
    snooze_count: int | None


# In the order of the fields above.
_PLACE = (groupings.c.id, groupings.c.issue_id, groupings.c["count"], groupings.c.first_seen, groupings.c.last_seen)
_LOCKED = (
    issues.c.id,
    issues.c.status,
    issues.c.severity,
    issues.c.log_type,
    issues.c["count"],
    issues.c.stored_occurrences,
    issues.c.first_seen,
    issues.c.last_seen,
    issues.c.title,
    issues.c.exception_class,
    issues.c.fixed_at,
    issues.c.fixed_release,
    issues.c.snooze_count,
)

# PERF: these run with every batch, and for pushed events a batch may be one event. Building a statement costs
# several times as much as executing it again.
_some: BindParameter[Any] = bindparam("some", expanding=True)
_of_source = occurrences.c.source_id == bindparam("source")
_HIGHEST_START = select(func.max(occurrences.c.byte_start)).where(_of_source)
_KNOWN_STARTS = select(occurrences.c.byte_start).where(_of_source, occurrences.c.byte_start.in_(_some))
_KNOWN_EVENT_IDS = select(occurrences.c.event_id).where(occurrences.c.event_id.in_(_some))
_PLACES = (
    select(groupings.c.fingerprint, *_PLACE)
    .where(groupings.c.fingerprint.in_(_some))
    .order_by(groupings.c.fingerprint)
    .with_for_update(key_share=True)
)
_LOCK_ISSUES = select(*_LOCKED).where(issues.c.id.in_(_some)).order_by(issues.c.id).with_for_update(key_share=True)
_MESSAGES = select(issue_samples.c.issue_id, issue_samples.c.message).where(issue_samples.c.issue_id.in_(_some))
_OCCURRENCE_IDS = select(occurrences.c.byte_start, occurrences.c.id).where(
    _of_source, occurrences.c.byte_start.in_(_some)
)


def known_starts(db: Connection, source_id: int, starts: Sequence[int]) -> set[int]:
    """Return those of the positions in a source that have an occurrence."""
    highest = db.execute(_HIGHEST_START, {"source": source_id}).scalar_one()
    # A file that grows is read forward, so that nearly always nothing is left to look up.
    doubtful = [] if highest is None else [start for start in starts if start <= highest]
    found: set[int] = set()
    for some in chunks(doubtful, CHUNK):
        found.update(db.execute(_KNOWN_STARTS, {"source": source_id, "some": some}).scalars())
    return found


def known_event_ids(db: Connection, event_ids: Sequence[str]) -> set[str]:
    """Return those of the event ids that have an occurrence."""
    found: set[str] = set()
    for some in chunks(event_ids, CHUNK):
        ids = db.execute(_KNOWN_EVENT_IDS, {"some": some}).scalars()
        found.update(event_id for event_id in ids if event_id is not None)
    return found


def find_places(db: Connection, fingerprints: Iterable[str]) -> dict[str, Place]:
    """Find and lock the known groupings, in key order, so that no merge moves them meanwhile."""
    found: dict[str, Place] = {}
    for some in chunks(sorted(fingerprints), CHUNK):
        rows = db.execute(_PLACES, {"some": some})
        found.update((fingerprint, Place(*place)) for fingerprint, *place in rows)
    return found


def add_issues(db: Connection, rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Insert issues; returns their ids by fingerprint."""
    if not rows:
        return {}
    if db.dialect.insert_executemany_returning:
        statement = insert(issues).returning(issues.c.fingerprint, issues.c.id)
        return {row.fingerprint: row.id for row in db.execute(statement, list(rows))}
    return {row["fingerprint"]: inserted_id(db.execute(insert(issues), row)) for row in rows}


def add_groupings(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert groupings, in key order; one that another writer was first to insert stays as it is."""
    insert_ignore(db, groupings, rows)


def drop_issues(db: Connection, issue_ids: Collection[int]) -> None:
    """Remove issues that nothing refers to."""
    for some in chunks(sorted(issue_ids), CHUNK):
        db.execute(delete(issues).where(issues.c.id.in_(some)))


def lock_issues(db: Connection, issue_ids: Iterable[int]) -> dict[int, LockedIssue]:
    """Lock issues in key order and return what storing needs of them."""
    found: dict[int, LockedIssue] = {}
    for some in chunks(sorted(issue_ids), CHUNK):
        found.update((row.id, LockedIssue._make(row)) for row in db.execute(_LOCK_ISSUES, {"some": some}))
    return found


def sample_messages(db: Connection, issue_ids: Iterable[int]) -> dict[int, str]:
    """Return the sample messages of issues."""
    found: dict[int, str] = {}
    for some in chunks(sorted(issue_ids), CHUNK):
        found.update((row.issue_id, row.message) for row in db.execute(_MESSAGES, {"some": some}))
    return found


def add_occurrences(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert occurrences."""
    with indexed_at_once(db, occurrences):
        insert_rows(db, occurrences, rows)


def occurrence_ids(db: Connection, source_id: int, starts: Sequence[int]) -> dict[int, int]:
    """Return the ids of the occurrences at positions in a source."""
    found: dict[int, int] = {}
    for some in chunks(starts, CHUNK):
        rows = db.execute(_OCCURRENCE_IDS, {"source": source_id, "some": some})
        found.update((row.byte_start, row.id) for row in rows)
    return found


def move_occurrences(db: Connection, source_id: int, target_id: int) -> None:
    """Give the occurrences of a source to another one, at the same bytes."""
    db.execute(update(occurrences).where(occurrences.c.source_id == source_id).values(source_id=target_id))


def settle_occurrence(db: Connection, source_id: int, byte_start: int) -> None:
    """Make the provisional last event of a source final."""
    here = (occurrences.c.source_id == source_id, occurrences.c.byte_start == byte_start)
    db.execute(update(occurrences).where(*here).values(provisional=False))


def update_groupings(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Set columns of (locked) groupings; rows hold `row_id` and the same columns each."""
    update_rows(db, groupings, rows)


def update_issues(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Set columns of (locked) issues; rows hold `row_id` and the same columns each."""
    update_rows(db, issues, rows)


def put_samples(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the sample texts of issues."""
    upsert(db, issue_samples, rows, replace=("message", "stack", "context", "exceptions"))


def add_hours(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add to the events per grouping and hour."""
    upsert(db, event_hours, rows, add=("count",))


def add_days(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add to the events per day and severity."""
    upsert(db, event_days, rows, add=("count",))
