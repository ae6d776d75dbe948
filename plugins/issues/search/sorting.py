"""The sorts of `errors` and `groups`: by which value, from which rows, and where a cursor continues."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, FromClause, and_, case, cast, func, or_, select

from snaglist.kernel import Invalid, times
from snaglist.plugins.issues.search.scope import HOURS_SHOWN, Scope, hours_until
from snaglist.plugins.issues.tables import event_hours, issues

SMOOTHED = 10  # events
UNCHANGED = 1_000  # the growth of an issue that has as many events as before
_MAX_INTEGER = 9_223_372_036_854_775_807


@dataclass(frozen=True, slots=True)
class Position:
    """A row in the order of a sort: its sort value and id."""

    value: str | int
    id: int


@dataclass(frozen=True, slots=True)
class Sort:
    """An order of issues; equal values are ordered by id, newest first.

    `anchor` is the hour that a sort by trend refers to: a walk by cursor keeps it, though hours pass.
    """

    value: ColumnElement[Any]
    rows: FromClause = issues
    descending: bool = True
    anchor: str | None = None
    numeric: bool = False

    def after(self, position: Position) -> ColumnElement[bool]:
        """Test whether a row comes after a position."""
        value, other = self.value, position.value
        # Spelled so that the first test alone bounds a walk through the index.
        near, far = (value <= other, value < other) if self.descending else (value >= other, value > other)
        return and_(near, or_(far, issues.c.id < position.id))

    def cursor_values(self, position: Position) -> list[Any]:
        """Return what a cursor holds."""
        return [position.value, position.id, self.anchor]


def sort_by(name: str, scope: Scope, now: str, anchor: str | None = None) -> Sort:
    """Return the order that `sort` names; in a scope it refers to the range."""
    if name == "newest":
        return Sort(scope.last_seen)
    if name == "oldest":
        return Sort(scope.first_seen, descending=False)
    if name == "first_seen":
        return Sort(scope.first_seen)
    if name == "occurrences":
        return Sort(scope.count, numeric=True)
    if name == "users":
        return Sort(issues.c.users, numeric=True)
    return _trend(scope, anchor or scope.chart_hours(now)[-1])


def resume(name: str, scope: Scope, now: str, values: list[Any]) -> tuple[Sort, Position]:
    """Return the sort and the position that a cursor's values name; Invalid when they were made up."""
    if len(values) != 3 or (name == "trend" and not times.is_time(values[2])):
        raise not_a_cursor()
    value, issue_id, anchor = values
    sort = sort_by(name, scope, now, anchor)
    if not is_number(issue_id) or not (is_number(value) if sort.numeric else times.is_time(value)):
        raise not_a_cursor()
    return sort, Position(value, issue_id)


def not_a_cursor() -> Invalid:
    """Return the refusal of a cursor whose values nobody here wrote."""
    return Invalid("cursor: not a cursor of this list; start again without it")


def is_number(value: Any) -> bool:
    """Tell whether a value of a cursor is a whole number that databases take."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MAX_INTEGER


def _trend(scope: Scope, last_hour: str) -> Sort:
    """Order by growth: events of the 24 hours that end with an hour against those of the 24 hours before.

    In a shorter range its hours count against as many before. The ratio has a constant added to both sides (additive
    smoothing, after Lidstone 1920), so that a first event is no endless growth. A difference would rank by size: of a
    noisy issue that is as it always was, it is the greatest.
    """
    hours = hours_until(last_hour, 2 * HOURS_SHOWN)
    recent = [hour for hour in hours[HOURS_SHOWN:] if scope.has(hour)] or hours[HOURS_SHOWN:]
    begun, first = recent[0], hours[-2 * len(recent)]
    hour, count = event_hours.c.hour, event_hours.c.count
    sums = [cast(func.sum(case((test, count), else_=0)), BigInteger) for test in (hour >= begun, hour < begun)]
    after, before = (number + SMOOTHED for number in sums)
    growth = (
        select(event_hours.c.issue_id, (after * UNCHANGED // before).label("growth"))
        .where(hour >= first, hour <= last_hour)
        .group_by(event_hours.c.issue_id)
        .subquery("growth")
    )
    rows = issues.outerjoin(growth, growth.c.issue_id == issues.c.id)
    return Sort(func.coalesce(growth.c.growth, UNCHANGED), rows, anchor=last_hour, numeric=True)
