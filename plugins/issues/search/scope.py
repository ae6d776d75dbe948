"""The time range of a search, and what counts, times and charts mean inside it.

Ranges are whole hours, because events are counted per grouping and hour. Wherever the issue's own
first and last time settle a question, no hour is read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    ScalarSelect,
    and_,
    case,
    exists,
    false,
    func,
    or_,
    select,
    true,
    union_all,
)

from snaglist.kernel import Invalid, times
from snaglist.plugins.issues.tables import event_hours, issues, occurrences

HOURS_SHOWN = 24
SHORT_HOURS = 72
_made = issues.alias("made")
_FIRST = "0001-01-01 00:00:00"
MADE = ("manual", "tracker")  # origins that list by creation, since they have no events


@dataclass(frozen=True, slots=True)
class Scope:
    """A range of hours: `start` included, `end` excluded, None open. Without both: all history."""

    start: str | None = None
    end: str | None = None

    def __bool__(self) -> bool:
        return self.start is not None or self.end is not None

    def holds(self, column: ColumnElement[str]) -> ColumnElement[bool]:
        """Test whether a time is in the range."""
        tests: list[ColumnElement[bool]] = []
        if self.start is not None:
            tests.append(column >= self.start)
        if self.end is not None:
            tests.append(column < self.end)
        return and_(True, *tests)

    def has(self, moment: str) -> bool:
        """Tell whether a time is in the range."""
        return (self.start is None or moment >= self.start) and (self.end is None or moment < self.end)

    def matches(self) -> ColumnElement[bool]:
        """Find the issues that have events in the range, or were made in it by hand or by a tracker."""
        first_seen, last_seen = issues.c.first_seen, issues.c.last_seen
        made = select(_made.c.id).where(_made.c.origin.in_(MADE))
        here = or_(self.holds(_made.c.created_at), self._has_events(_made))
        if self.start is None or self.end is None:
            seen = last_seen >= self.start if self.end is None else first_seen < self.end
            return or_(and_(seen, issues.c.id.not_in(made)), issues.c.id.in_(made.where(here)))
        if earlier(self.end, SHORT_HOURS) <= self.start:
            # Its hours find them: nearly all issues were seen later than a day long ago, few have events in it.
            counted = select(event_hours.c.issue_id.label("id")).where(self.holds(event_hours.c.hour))
            # A table of its own, or MariaDB would ask both parts again for every issue.
            either = union_all(counted, made.where(self.holds(_made.c.created_at))).subquery("candidates")
            return issues.c.id.in_(select(either.c.id))
        inside = or_(first_seen >= self.start, last_seen < self.end, self._has_events(issues))
        ingested = and_(issues.c.origin.not_in(MADE), last_seen >= self.start, first_seen < self.end, inside)
        by_hand = and_(issues.c.origin.in_(MADE), or_(self.holds(issues.c.created_at), self._has_events(issues)))
        # No index decides this; SQLite would fetch half of the table through one.
        return case((or_(ingested, by_hand), true()), else_=false())

    @property
    def count(self) -> ColumnElement[int]:
        """Events of an issue in the range."""
        if not self:
            return issues.c.count
        within = []
        if self.start is not None:
            within.append(issues.c.first_seen >= self.start)
        if self.end is not None:
            within.append(issues.c.last_seen < self.end)
        counted = select(func.coalesce(func.sum(event_hours.c.count), 0)).where(*self._hours())
        return case((and_(*within), issues.c.count), else_=counted.correlate(issues).scalar_subquery())

    @property
    def first_seen(self) -> ColumnElement[str]:
        """Time of an issue's first event in the range; its hour when the event itself is not stored any more."""
        if self.start is None:
            return issues.c.first_seen
        hour = self._hour(func.min(event_hours.c.hour))
        exact = (
            select(func.min(occurrences.c.occurred_at))
            .where(
                occurrences.c.issue_id == issues.c.id,
                occurrences.c.occurred_at >= self.start,
                occurrences.c.occurred_at <= func.substr(hour, 1, 14) + "59:59",
            )
            .correlate(issues)
            .scalar_subquery()
        )
        known = issues.c.first_seen
        return case((known >= self.start, known), else_=func.coalesce(exact, hour, known))

    @property
    def last_seen(self) -> ColumnElement[str]:
        """Time of an issue's last event in the range; its hour when the event itself is not stored any more."""
        if self.end is None:
            return issues.c.last_seen
        hour = self._hour(func.max(event_hours.c.hour))
        exact = (
            select(func.max(occurrences.c.occurred_at))
            .where(
                occurrences.c.issue_id == issues.c.id,
                occurrences.c.occurred_at >= hour,
                occurrences.c.occurred_at < self.end,
            )
            .correlate(issues)
            .scalar_subquery()
        )
        known = issues.c.last_seen
        return case((known < self.end, known), else_=func.coalesce(exact, hour, known))

    def chart_hours(self, now: str) -> list[str]:
        """Return the hours of the 24-hour chart: up to the last hour of the range, else up to the current one."""
        return hours_until(times.hour(now) if self.end is None else earlier(self.end, 1), HOURS_SHOWN)

    def _hours(self) -> Iterable[ColumnElement[bool]]:
        return event_hours.c.issue_id == issues.c.id, self.holds(event_hours.c.hour)

    def _has_events(self, table: FromClause) -> ColumnElement[bool]:
        here = (event_hours.c.issue_id == table.c.id, self.holds(event_hours.c.hour))
        return exists().where(*here).correlate(table)

    def _hour(self, bound: ColumnElement[str]) -> ScalarSelect[str]:
        return select(bound).where(*self._hours()).correlate(issues).scalar_subquery()


def read_scope(query: Mapping[str, Any]) -> Scope:
    """Return the range that `date`, or `from` and `to`, ask for."""
    day, start, end = query.get("date"), query.get("from"), query.get("to")
    if day is not None:
        if start is not None or end is not None:
            raise Invalid("date: cannot be combined with from and to")
        start = f"{day} 00:00:00"
        return Scope(start, _later(start, HOURS_SHOWN))
    if start is not None and end is not None and start >= end:
        raise Invalid("from: must be before to")
    until = None if end is None else end if end == times.hour(end) else _later(times.hour(end), 1)
    if end is not None and until is None:
        start = start or _FIRST  # a range with nothing outside it is a range all the same
    return Scope(None if start is None else times.hour(start), until)


def hours_until(last: str, number: int) -> list[str]:
    """Return that many hours ending with `last`, ascending."""
    return [earlier(last, before) for before in reversed(range(number))]


def _later(hour: str, hours: int) -> str | None:
    try:
        return times.show(times.read(hour) + timedelta(hours=hours))
    except OverflowError:  # past the last year that can be written: nothing ends the range
        return None


def earlier(hour: str, hours: int) -> str:
    """Return the hour that many hours before; empty before the first year that can be written."""
    try:
        return times.show(times.read(hour) - timedelta(hours=hours))
    except OverflowError:
        return ""
