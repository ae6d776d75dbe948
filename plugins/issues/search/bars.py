"""The bars of a chart over time, and how many events of issues are in each.

Hours are counted already. Over a few hours the bars are minutes of stored events, with the ends of the range as they
were asked for. Of very many counted hours the newest are added up.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, case, func, select

from snaglist.kernel import Call, times
from snaglist.plugins.issues.contract import Condition
from snaglist.plugins.issues.search import queries
from snaglist.plugins.issues.search.scope import HOURS_SHOWN, Scope
from snaglist.plugins.issues.tables import event_days, event_hours, issues, occurrences

MOST_HOURS = 30_000  # counted hours of groupings that are added up
FEW_ISSUES = 1_000  # so many are added up by their ids
MOST_EVENTS = 30_000  # that are counted by minutes
MINUTE, HOUR, DAY, WEEK = 60, 3_600, 86_400, 604_800
# The step of the bars, in seconds, for ranges up to so many: some 60 to 100 bars.
SHORT_STEPS = ((HOUR, MINUTE), (6 * HOUR, 5 * MINUTE))
STEPS = ((72 * HOUR, HOUR), (14 * DAY, 6 * HOUR), (120 * DAY, DAY), (2 * 366 * DAY, WEEK), (20 * 366 * DAY, 4 * WEEK))
LONGEST_STEP = 52 * WEEK
_YEAR = 366 * DAY
Counts = defaultdict[str, list[int]]  # the numbers of the bars, by severity
_MONDAY = datetime.fromisoformat("0001-01-01 00:00:00+00:00")  # weeks begin on Mondays


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars over time: `number` of them, `step` seconds each, whole steps in UTC from `start` on.

    Those of minutes have only what is in `within`.
    """

    start: datetime
    step: int
    number: int
    within: Scope = field(default_factory=Scope)

    @property
    def span(self) -> Scope:
        """The range from the first to the last."""
        return Scope(times.show(self.start), self.end)

    @property
    def end(self) -> str:
        """Return the end of the last bar."""
        return times.add(times.show(self.start), seconds=self.step * self.number)

    def at(self, moment: str) -> int:
        """Return the bar that a time, an hour, or the first of a day is in."""
        return (times.read(moment) - self.start) // timedelta(seconds=self.step)

    def have(self, moment: str) -> bool:
        """Tell whether a time is in one of them."""
        return self.within.has(moment) and times.show(self.start) <= moment < self.end


@dataclass(slots=True)
class Chart:
    """Bars with their events by severity; all are counted from `since` on, None: from the first bar on."""

    bars: Bars
    counts: Counts
    since: str | None = None

    def add(self, severity: str, moment: str) -> None:
        """Count an event, where it is in one of the bars."""
        if self.bars.have(moment):
            self.counts[severity][self.bars.at(moment)] += 1


def bars_over(call: Call, scope: Scope) -> Bars:
    """Return bars over the range; an open side of it, or one far from all events, ends with the events."""
    start, end = scope.start, scope.end
    if start is None and end is None:
        end = times.add(times.hour(call.now), seconds=HOUR)
        start = times.add(end, seconds=-HOUR * HOURS_SHOWN)
    else:
        first, last = _hours(call.db, call.now)
        end = min(end or last, last)
        if start is None or _between(start, end) > _YEAR:
            start = max(start or first, first)
        start = min(start, times.add(end, seconds=-HOUR))
    length = _between(start, end)
    step = next((step for most, step in STEPS if length <= most), LONGEST_STEP)
    return _whole(start, end, step)


def _whole(start: str, end: str, step: int, within: Scope | None = None) -> Bars:
    begun = _floor(times.read(start), step)
    number = -(-(times.read(end) - begun) // timedelta(seconds=step))
    return Bars(begun, step, max(1, number), within or Scope())


def _of_minutes(call: Call) -> Bars | None:
    """Return bars of minutes over a short range; None when it is not short."""
    start, end = call.query.get("from"), call.query.get("to")
    if start is None:
        return None
    if end is None:
        # Where clocks were wrong, the range ends with the events.
        end = times.add(call.now, seconds=1) if _hours(call.db, call.now)[1] <= _next_hour(call.now) else None
    length = _between(start, end) if end else SHORT_STEPS[-1][0] + 1
    step = next((step for most, step in SHORT_STEPS if length <= most + MINUTE), None)
    return None if step is None or end is None else _whole(start, end, step, Scope(start, end))


def _hours(db: Connection, now: str) -> tuple[str, str]:
    """Return the hour of the first event, and the end of the current hour or, where clocks were wrong, the last."""
    hour = event_hours.c.hour
    first = db.execute(select(func.min(hour))).scalar() or now
    last = db.execute(select(func.max(hour))).scalar() or now
    return times.hour(first), times.add(times.hour(max(last, now)), seconds=HOUR)


def _between(start: str, end: str) -> int:
    return (times.read(end) - times.read(start)) // timedelta(seconds=1)


def _next_hour(moment: str) -> str:
    return times.add(times.hour(moment), seconds=HOUR)


def _floor(moment: datetime, step: int) -> datetime:
    return moment - (moment - _MONDAY) % timedelta(seconds=step)


def by_minutes(call: Call, scope: Scope, where: Sequence[Condition]) -> Chart | None:
    """Return bars of minutes with the stored events, and since when all are counted; None where hours tell more.

    That is where the range is long, there are many issues, or events are not stored any more. The counted hours tell
    how many events there are, so that of very many the newest hours are read.
    """
    bars = _of_minutes(call)
    if bars is None:
        return None
    ids = queries.find(call.db, where, FEW_ISSUES)
    if len(ids) == FEW_ISSUES:
        return None
    hour, at = event_hours.c.hour, occurrences.c.occurred_at
    counted = select(hour, func.sum(event_hours.c.count)).where(event_hours.c.issue_id.in_(ids), scope.holds(hour))
    left, since = MOST_EVENTS, None
    expected = 0
    for begun, events in call.db.execute(counted.group_by(hour).order_by(hour.desc())):
        left -= int(events)
        if left < 0:
            since = _next_hour(begun)
            break
        expected += int(events)
    minute = func.substr(at, 1, 16)
    inside = func.sum(case((bars.within.holds(at), 1), else_=0))
    stored = (
        select(issues.c.severity, minute, func.count(), inside)
        .join_from(occurrences, issues, issues.c.id == occurrences.c.issue_id)
        .where(occurrences.c.issue_id.in_(ids), scope.holds(at), Scope(since).holds(at))
        .group_by(issues.c.severity, minute)
    )
    found = list(call.db.execute(stored))
    if sum(events for *_, events, _ in found) < expected:
        return None
    counts: Counts = defaultdict(lambda: [0] * bars.number)
    for severity, begun, _, events in found:
        if events:
            counts[severity][bars.at(f"{begun}:00")] += int(events)
    return Chart(bars, counts, since)


def by_hours(db: Connection, anywhen: Sequence[Condition], within: Sequence[Condition], bars: Bars) -> Chart:
    """Return bars with the counted hours of the issues that pass.

    Hours of the bars are in the range by themselves, so that of very many issues the other conditions are enough.
    """
    if not anywhen and bars.step >= DAY:
        return Chart(bars, _summed(_of_days(bars), db, bars))
    inside = [event_hours.c.hour >= times.show(bars.start), event_hours.c.hour < bars.end]
    ids = queries.find(db, within, FEW_ISSUES)
    since = None
    if len(ids) < FEW_ISSUES:
        inside.append(event_hours.c.issue_id.in_(ids))
        anywhen = []
    elif (beyond := _hour_beyond(db, inside)) is not None:
        since = times.add(beyond, seconds=HOUR)
        inside[0] = event_hours.c.hour >= since
    return Chart(bars, _summed(_sums(db, anywhen, inside, bars), db, bars), since)


def _summed(sums: Select[Any], db: Connection, bars: Bars) -> Counts:
    counts: Counts = defaultdict(lambda: [0] * bars.number)
    for severity, unit, events in db.execute(sums):
        counts[severity][bars.at(unit)] += int(events)
    return counts


def _of_days(bars: Bars) -> Select[Any]:
    """Return the sums of all events, which are counted by day already."""
    first, last = times.show(bars.start)[:10], times.add(bars.end, seconds=-1)[:10]
    within = (event_days.c.day >= first, event_days.c.day <= last, event_days.c.count > 0)
    return select(event_days.c.severity, event_days.c.day, event_days.c.count).where(*within)


def _hour_beyond(db: Connection, inside: Iterable[ColumnElement[bool]]) -> str | None:
    """Return the newest hour that is not added up as a whole, because the hours after it are enough."""
    newest = select(event_hours.c.hour).where(*inside).order_by(event_hours.c.hour.desc())
    found: str | None = db.execute(newest.offset(MOST_HOURS).limit(1)).scalar()
    return found


def _sums(db: Connection, where: Sequence[Condition], inside: Sequence[ColumnElement[bool]], bars: Bars) -> Select[Any]:
    unit = event_hours.c.hour if bars.step < DAY else func.substr(event_hours.c.hour, 1, 10)
    return (
        select(issues.c.severity, unit.label("unit"), func.sum(event_hours.c.count))
        .join_from(event_hours, issues, issues.c.id == event_hours.c.issue_id)
        .where(*inside, *queries.tests(db, where))
        .group_by(issues.c.severity, unit)
    )
