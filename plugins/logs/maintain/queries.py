"""SQL of maintenance: which occurrences a deletion or a retention rule covers, and the memory of deletions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, func, insert, select, update

from snaglist.kernel.database import chunks, inserted_id
from snaglist.plugins.issues import stored
from snaglist.plugins.logs.tables import log_deletions

CHUNK = 500
_issues, _occurrences, _hours = stored.issues, stored.occurrences, stored.hours


def issues_of_day(db: Connection, start: str, end: str) -> list[int]:
    """Return the issues that events between two times were counted for, by the counters per hour."""
    rows = select(_hours.issue_id).where(_hours.hour >= start, _hours.hour < end).distinct()
    return list(db.execute(rows.order_by(_hours.issue_id)).scalars())


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
    rows = select(_occurrences.id).where(condition, _occurrences.id <= up_to_id).limit(limit)
    return list(db.execute(rows).scalars())


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


def issues_older_than(db: Connection, moment: str, after_id: int, limit: int) -> list[int]:
    """Return a page, by id, of issues that have an occurrence before a time."""
    older = exists().where(_occurrences.issue_id == _issues.id, _occurrences.occurred_at < moment)
    rows = select(_issues.id).where(
        _issues.id > after_id, _issues.first_seen < moment, _issues.stored_occurrences > 0, older
    )
    return list(db.execute(rows.order_by(_issues.id).limit(limit)).scalars())


def issues_with_more(db: Connection, maximum: int) -> list[int]:
    """Return the issues that have more occurrences than a number."""
    rows = select(_issues.id).where(_issues.count > maximum, _issues.stored_occurrences > maximum)
    return list(db.execute(rows.order_by(_issues.id)).scalars())


def beyond(db: Connection, issue_id: int, newest: int, kept_times: Collection[str]) -> list[int]:
    """Return some of the occurrences of an issue behind its newest ones, but for its first and those of some times."""
    mine = select(_occurrences.id, _occurrences.occurred_at).where(_occurrences.issue_id == issue_id)
    newest_first = mine.order_by(_occurrences.occurred_at.desc(), _occurrences.id.desc())
    at = db.execute(newest_first.offset(newest).limit(1)).first()
    if at is None:
        return []
    same_second_or_before = (_occurrences.occurred_at < at.occurred_at) | (_occurrences.id <= at.id)
    rows = newest_first.where(
        _occurrences.occurred_at <= at.occurred_at,
        same_second_or_before,
        _occurrences.occurred_at.not_in(sorted(kept_times)),
        _occurrences.id != first_occurrence(db, issue_id),
    )
    return list(db.execute(rows.limit(CHUNK * 2)).scalars())


def first_occurrence(db: Connection, issue_id: int) -> int | None:
    """Return the first occurrence of an issue."""
    rows = select(_occurrences.id).where(_occurrences.issue_id == issue_id)
    return db.execute(rows.order_by(_occurrences.occurred_at, _occurrences.id).limit(1)).scalar()
