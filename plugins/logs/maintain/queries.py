"""SQL of maintenance: which occurrences a deletion or a retention rule covers, and the memory of deletions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, func, insert, select, update

from snaglist.kernel.database import chunks, inserted_id
from snaglist.plugins.issues import stored
from snaglist.plugins.logs.store.queries import PUSHED
from snaglist.plugins.logs.tables import deleted_places, log_deletions, sources
from snaglist.plugins.system import rows

CHUNK = 500
_issues, _occurrences, _hours = stored.issues, stored.occurrences, stored.hours


def issues_of_day(db: Connection, start: str, end: str) -> list[int]:
    """Return the issues that events between two times were counted for, by the counters per hour."""
    found = select(_hours.issue_id).where(_hours.hour >= start, _hours.hour < end).distinct()
    return list(db.execute(found.order_by(_hours.issue_id)).scalars())


def within(issue_ids: Sequence[int], start: str, end: str) -> Iterator[ColumnElement[bool]]:
    """Give conditions that together mean the occurrences of issues between two times."""
    for some in chunks(issue_ids, CHUNK):
        yield (_occurrences.issue_id.in_(some) & (_occurrences.occurred_at >= start) & (_occurrences.occurred_at < end))


def of_source(source_id: int) -> ColumnElement[bool]:
    """Return the condition that means the occurrences of a source."""
    return _occurrences.source_id == source_id


def count(db: Connection, conditions: Sequence[ColumnElement[bool]]) -> tuple[int, int, int]:
    """Return how many occurrences meet one of the (exclusive) conditions, in how many issues and sources."""
    occurrences, issue_ids, source_ids = 0, set(), set()
    for condition in conditions:
        columns = (_occurrences.issue_id, _occurrences.source_id, func.count())
        for row in db.execute(select(*columns).where(condition).group_by(*columns[:2])):
            issue_ids.add(row[0])
            source_ids.add(row[1])
            occurrences += row[2]
    return occurrences, len(issue_ids), len(source_ids)


def some_ids(db: Connection, condition: ColumnElement[bool], up_to_id: int, limit: int) -> list[int]:
    """Return some of the occurrences that meet a condition and are not younger than an id."""
    found = select(_occurrences.id).where(condition, _occurrences.id <= up_to_id).limit(limit)
    return list(db.execute(found).scalars())


def last_occurrence_id(db: Connection) -> int:
    """Return the highest id of an occurrence, 0 without any."""
    return db.execute(select(func.max(_occurrences.id))).scalar_one() or 0


def remember_deletion(db: Connection, values: Mapping[str, Any]) -> int:
    """Write a deletion down; returns its id."""
    return inserted_id(db.execute(insert(log_deletions).values({"occurrences": 0, **values})))


def deletion(db: Connection, deletion_id: int) -> Row[Any]:
    """Return a deletion."""
    return db.execute(select(log_deletions).where(log_deletions.c.id == deletion_id)).one()


def count_deleted(db: Connection, deletion_id: int, occurrences: int) -> None:
    """Count what a deletion removed."""
    more = log_deletions.c.occurrences + occurrences
    db.execute(update(log_deletions).where(log_deletions.c.id == deletion_id).values(occurrences=more))


def events_of_user(db: Connection, user: str) -> list[Row[Any]]:
    """Return how many stored events happened to somebody, by issue, with their first and last time; most first."""
    at = _occurrences.occurred_at
    number = func.count().label("events")
    counted = select(_occurrences.issue_id, number, func.min(at).label("first"), func.max(at).label("last"))
    mine = counted.where(_occurrences.user_name == user).group_by(_occurrences.issue_id)
    return list(db.execute(mine.order_by(number.desc(), _occurrences.issue_id)))


def titles_of(db: Connection, issue_ids: Sequence[int]) -> dict[int, str]:
    """Return the titles of issues."""
    return {row.id: row.title for row in rows.among(db, select(_issues.id, _issues.title), _issues.id, issue_ids)}


def some_of_user(db: Connection, user: str, limit: int) -> list[int]:
    """Return some of the occurrences that happened to somebody."""
    return list(db.execute(select(_occurrences.id).where(_occurrences.user_name == user).limit(limit)).scalars())


def files_of_user(db: Connection, user: str) -> list[Row[Any]]:
    """Return the files that events of somebody are stored of, and how many; most first."""
    return _files(db, _occurrences.source_id, _occurrences.user_name == user)


def files_of_deletion(db: Connection, deletion_id: int) -> list[Row[Any]]:
    """Return the files that single events were deleted of, and how many; most first."""
    return _files(db, deleted_places.c.source_id, deleted_places.c.deletion_id == deletion_id)


def _files(db: Connection, source_id: ColumnElement[int], wanted: ColumnElement[bool]) -> list[Row[Any]]:
    columns = (sources.c.id, sources.c.path, sources.c.status)
    events = func.count().label("events")
    here = (sources.c.id == source_id, sources.c.log_type != PUSHED, wanted)
    return list(
        db.execute(select(*columns, events).where(*here).group_by(*columns).order_by(events.desc(), sources.c.id))
    )


def forget_name(db: Connection, deletion_id: int) -> None:
    """Note no longer whom a deletion is about."""
    db.execute(update(log_deletions).where(log_deletions.c.id == deletion_id).values(user_name=None))


def issues_older_than(db: Connection, moment: str, after_id: int, limit: int) -> list[int]:
    """Return a page, by id, of issues that have an occurrence before a time."""
    older = exists().where(_occurrences.issue_id == _issues.id, _occurrences.occurred_at < moment)
    found = select(_issues.id).where(
        _issues.id > after_id, _issues.first_seen < moment, _issues.stored_occurrences > 0, older
    )
    return list(db.execute(found.order_by(_issues.id).limit(limit)).scalars())


def issues_with_more(db: Connection, maximum: int) -> list[int]:
    """Return the issues that have more occurrences than a number."""
    found = select(_issues.id).where(_issues.count > maximum, _issues.stored_occurrences > maximum)
    return list(db.execute(found.order_by(_issues.id)).scalars())


def beyond(db: Connection, issue_id: int, newest: int, kept_times: Collection[str]) -> list[int]:
    """Return some of the occurrences of an issue behind its newest ones, but for its first and those of some times."""
    mine = select(_occurrences.id, _occurrences.occurred_at).where(_occurrences.issue_id == issue_id)
    newest_first = mine.order_by(_occurrences.occurred_at.desc(), _occurrences.id.desc())
    at = db.execute(newest_first.offset(newest).limit(1)).first()
    if at is None:
        return []
    same_second_or_before = (_occurrences.occurred_at < at.occurred_at) | (_occurrences.id <= at.id)
    found = newest_first.where(
        _occurrences.occurred_at <= at.occurred_at,
        same_second_or_before,
        _occurrences.occurred_at.not_in(sorted(kept_times)),
        _occurrences.id != first_occurrence(db, issue_id),
    )
    return list(db.execute(found.limit(CHUNK * 2)).scalars())


def first_occurrence(db: Connection, issue_id: int) -> int | None:
    """Return the first occurrence of an issue."""
    found = select(_occurrences.id).where(_occurrences.issue_id == issue_id)
    return db.execute(found.order_by(_occurrences.occurred_at, _occurrences.id).limit(1)).scalar()
