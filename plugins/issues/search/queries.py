"""Which issues a search lists, in which order, and how many there are."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, and_, case, false, func, select, true

from snaglist.plugins.issues.contract import Condition
from snaglist.plugins.issues.search.fields import as_test
from snaglist.plugins.issues.search.sorting import Position, Sort
from snaglist.plugins.issues.tables import issue_totals, issues

COUNTED = 10_000  # a total that no index answers is counted up to here
TOTALS = {"status", "severity", "log_type"}  # words that `issue_totals` counts
_STREAMED = 5_000

FEW = 20  # pages of a list that are found first and then sorted; a longer one is read in the order of an index


def sum_totals(db: Connection, query: Mapping[str, Sequence[str]]) -> int:
    """Return how many issues have one of the values of each of the TOTALS given."""
    tests = [issue_totals.c[name].in_(values) for name, values in query.items()]
    return int(db.execute(select(func.coalesce(func.sum(issue_totals.c.issues), 0)).where(*tests)).scalar_one())


def count(db: Connection, where: Sequence[Condition], at_most: int | None) -> int:
    """Return how many issues pass, counting up to a bound."""
    rows = _ids(db, where).limit(at_most).subquery()
    return int(db.execute(select(func.count()).select_from(rows)).scalar_one())


def find(db: Connection, where: Sequence[Condition], at_most: int) -> list[int]:
    """Return the ids of issues that pass, in no order."""
    return [row[0] for row in db.execute(_ids(db, where).limit(at_most))]


def by_status(db: Connection, where: Sequence[Condition], at_most: int) -> dict[str, int]:
    """Return how many issues pass by status, counting up to a bound."""
    rows = select(issues.c.status).where(*_found(db, where)).limit(at_most).subquery()
    counted = select(rows.c.status, func.count()).group_by(rows.c.status)
    return {name: int(number) for name, number in db.execute(counted)}


def tests(db: Connection, where: Sequence[Condition]) -> list[ColumnElement[bool]]:
    """Return conditions as tests of rows that something else finds."""
    return _as_one(db, [as_test(condition) for condition in where])


def page(
    db: Connection,
    where: Sequence[Condition],
    ids: Sequence[int] | None,
    sort: Sort,
    limit: int,
    offset: int,
    after: Position | None,
) -> list[Position]:
    """Return the ids and sort values of one page of the issues that pass, whose `ids` are known where they are few."""
    statement = _ordered(db, where if ids is None else [issues.c.id.in_(ids)], sort, few=ids is not None)
    if after is not None:
        statement = statement.where(sort.after(after))
    rows = db.execute(statement.limit(limit).offset(offset))
    return [Position(int(value) if sort.numeric else value, issue_id) for issue_id, value in rows]


def every_id(db: Connection, where: Sequence[Condition], sort: Sort) -> "array[int]":
    """Return all ids in order, eight bytes each, so that an export shows one state of the list."""
    rows = db.execute(_ordered(db, where, sort).execution_options(yield_per=_STREAMED))
    return array("q", (row[0] for row in rows))


def _ordered(db: Connection, where: Sequence[Condition], sort: Sort, *, few: bool = False) -> Select[Any]:
    value = sort.value.label("value")
    passed = _found(db, where) if few else tests(db, where)
    # Where no index has the order, SQLite must not take another one for the sake of the id.
    last = issues.c.id if isinstance(sort.value, Column) else issues.c.id + 0
    order = (value.desc() if sort.descending else value.asc(), last.desc())
    return select(issues.c.id, value).select_from(sort.rows).where(*passed).order_by(*order)


def _ids(db: Connection, where: Sequence[Condition]) -> Select[int]:
    only = where[0] if len(where) == 1 else None
    return only.distinct() if isinstance(only, Select) else select(issues.c.id).where(*_found(db, where))


def _found(db: Connection, where: Sequence[Condition]) -> list[ColumnElement[bool]]:
    """Return conditions in the form for finding rows: by the ids that they select, else by reading the table."""
    tests = [condition for condition in where if not isinstance(condition, Select)]
    selected = [issues.c.id.in_(condition) for condition in where if isinstance(condition, Select)]
    return [*(tests if len(tests) < 2 else _as_one(db, tests)), *selected]


def _as_one(db: Connection, tests: Sequence[ColumnElement[bool]]) -> list[ColumnElement[bool]]:
    """Return tests as one that SQLite does not take apart to fetch most of the table through an index.

    It knows how many values a column has, but not how often each one occurs.
    """
    return [case((and_(*tests), true()), else_=false())] if tests and db.dialect.name == "sqlite" else [*tests]
