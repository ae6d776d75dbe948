"""The sorts of `errors` and `groups`: by which value, from which rows, and where a cursor continues."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, case, func, or_, select

from snaglist.kernel import Invalid, times
from snaglist.plugins.issues.search.scope import HOURS_SHOWN, Scope, hours_until
from snaglist.plugins.issues.tables import event_hours, issues

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
    """Events of the 24 hours that end with an hour, minus those of the 24 hours before."""
    hours = hours_until(last_hour, 2 * HOURS_SHOWN)
    signed = case((event_hours.c.hour >= hours[HOURS_SHOWN], event_hours.c.count), else_=-event_hours.c.count)
    changes = (
        select(event_hours.c.issue_id, func.sum(signed).label("change"))
        .where(event_hours.c.hour >= hours[0], event_hours.c.hour <= last_hour, scope.holds(event_hours.c.hour))
        .group_by(event_hours.c.issue_id)
        .subquery("changes")
    )
    rows = issues.outerjoin(changes, changes.c.issue_id == issues.c.id)
    return Sort(func.coalesce(changes.c.change, 0), rows, anchor=last_hour, numeric=True)
