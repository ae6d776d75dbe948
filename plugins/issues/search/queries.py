"""Which issues a search lists, in which order, and how many there are."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, literal_column, select, true

from snaglist.plugins.issues.search.conditions import Condition, unindexed
from snaglist.plugins.issues.search.sorting import Position, Sort
from snaglist.plugins.issues.tables import issue_totals, issues

COUNTED = 10_000  # a total that no index answers is counted up to here
NARROW = 2_000  # a filter that finds at most so many rows leads; else the list's order or a scan does
_NEAR = 10  # a row fetched by a walk through an index costs so many rows of a scan (SQLite, 100,000 issues: 6-9)
_STREAMED = 5_000


@dataclass(frozen=True, slots=True)
class Search:
    """Conditions in the form that suits how many rows they find, and the number of issues that pass them.

    `exact` is false when counting stopped at COUNTED. `narrow`: one filter's index finds few enough rows to sort.
    """

    where: ColumnElement[bool]
    total: int
    exact: bool
    narrow: bool

    def way(self, sort: Sort, wanted: int) -> Sort:
        """Return the sort in the form for reading `wanted` rows.

        Walking the sort's index pays where the next match is never far; else reading the table once and
        sorting what passes is many times faster, because a walk fetches every row by itself.
        """
        walk = not self.narrow and self.total >= _NEAR * wanted
        return sort if walk else replace(sort, value=unindexed(sort.value))


def plan(db: Connection, conditions: Sequence[Condition]) -> Search:
    """Choose the filter that leads, if one is narrow, and count."""
    counted = not conditions or any(condition.totals for condition in conditions)
    totals = db.execute(select(issue_totals)).all() if counted else []
    sizes = [_size(db, condition, totals) for condition in conditions]
    narrow = [number for number, size in enumerate(sizes) if size is not None and size <= NARROW]
    leader = min(narrow, key=lambda number: sizes[number] or 0, default=None)
    tests = [
        condition.lead if number == leader and condition.lead is not None else condition.test
        for number, condition in enumerate(conditions)
    ]
    where = and_(true(), *tests)
    known = _known_total(db, conditions, totals)
    total = _count(db, _passing(conditions, where).limit(COUNTED + 1)) if known is None else known
    exact = known is not None or total <= COUNTED
    return Search(where, total if exact else COUNTED, exact, bool(narrow))


def page(
    db: Connection, search: Search, sort: Sort, limit: int, *, offset: int = 0, after: Position | None = None
) -> list[Position]:
    """Return the ids and sort values of one page."""
    if search.exact and search.total <= offset:
        return []
    chosen = search.way(sort, offset + limit)
    statement = _ordered(search, chosen).limit(limit).offset(offset)
    if after is not None:
        statement = statement.where(chosen.after(after))
    return [Position(int(value) if sort.numeric else value, issue_id) for issue_id, value in db.execute(statement)]


def every_id(db: Connection, search: Search, sort: Sort) -> "array[int]":
    """Return all ids in order, eight bytes each, so that an export shows one state of the list."""
    rows = db.execute(_ordered(search, sort).execution_options(yield_per=_STREAMED))
    return array("q", (row[0] for row in rows))


def _ordered(search: Search, sort: Sort) -> Select[Any]:
    value = sort.value.label("value")
    return (
        select(issues.c.id, value)
        .select_from(sort.rows)
        .where(search.where)
        .order_by(value.desc() if sort.descending else value.asc(), issues.c.id.desc())
    )


def _passing(conditions: Sequence[Condition], where: ColumnElement[bool]) -> Select[Any]:
    """Select a row for each issue that passes."""
    only = conditions[0] if len(conditions) == 1 else None
    if only and only.found is not None and not only.edge:
        return only.found
    return select(literal_column("1")).select_from(issues).where(where)


def _size(db: Connection, condition: Condition, totals: Sequence[Row[Any]]) -> int | None:
    """Return how many rows the condition's index finds, counted a little past NARROW; None without an index."""
    if condition.totals:
        return _sum(totals, [condition])
    return None if condition.found is None else _count(db, condition.found.limit(NARROW + 1))


def _known_total(db: Connection, conditions: Sequence[Condition], totals: Sequence[Row[Any]]) -> int | None:
    if all(condition.totals for condition in conditions):
        return _sum(totals, conditions)
    only = conditions[0] if len(conditions) == 1 else None
    return _count(db, only.found) if only and only.cheap and only.found is not None else None


def _sum(totals: Sequence[Row[Any]], conditions: Sequence[Condition]) -> int:
    tests = [condition.totals for condition in conditions if condition.totals]
    return sum(row.issues for row in totals if all(getattr(row, column) in values for column, values in tests))


def _count(db: Connection, rows: Select[Any]) -> int:
    return int(db.execute(select(func.count()).select_from(rows.subquery())).scalar_one())
