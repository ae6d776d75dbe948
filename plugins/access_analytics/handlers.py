"""The endpoint `access-analytics`: a window of the stored sums."""

from typing import Any

from snaglist.kernel import Call, Invalid, times
from snaglist.plugins.access_analytics import extra, queries
from snaglist.plugins.access_analytics.queries import Window
from snaglist.plugins.access_analytics.report import (
    DAY,
    HOUR,
    MAX_DAYS,
    Span,
    Totals,
    Values,
    document,
    figures,
    is_hourly,
    seconds_between,
    series,
)
from snaglist.plugins.access_analytics.storing import day_of, folded_before

DAYS = 7


def get_report(call: Call) -> dict[str, Any]:
    """Answer the report of the asked window."""
    extra.require()
    shown = _borders(call)
    span = Span(times.hour(shown[0]), _full_hour(shown[1]))
    window, totals = _counted(call, span)

    def top(dim: str, limit: int | None = None, *, by: str = "hits") -> Values:
        found = queries.values(call.db, window, dim, limit, by=by)
        if dim == "path" and by == "hits":
            queries.add_times(call.db, window, {path: sums for path, _, sums in found})
        return found

    own = call.setting("access.own_hosts")
    report = document(span, shown, totals, top, hourly=folded_before(call.now), own=own)
    report["detailed_from"] = _detailed_from(call, window)
    if call.query.get("compare"):
        report["before"] = _before(call, span)
    return report


def _counted(call: Call, span: Span) -> tuple[Window, Totals]:
    """Return the rows of a span and what they add up to."""
    query = call.query
    # Of days that are folded, or are about to be, only the whole is known.
    first = day_of(span.start) if span.start < folded_before(call.now) else span.start
    bots, scanners = query.get("bots", True), query.get("scanners", True)
    window = Window(first, span.end, query.get("source"), bots, scanners)
    totals = Totals()
    for hour, key, sums in queries.totals(call.db, Window(first, span.end, window.channel)):
        totals.add(hour, key, sums, bots=bots, scanners=scanners)
    for hour, digit, hits in queries.classes(call.db, window):
        totals.add_class(hour, digit, hits)
    return window, totals


def _before(call: Call, span: Span) -> dict[str, Any]:
    """Return the figures of as long a time before; it begins at the same time of day where days are compared."""
    hourly = folded_before(call.now)
    step = HOUR if is_hourly(span, hourly) else DAY
    shift = -(-span.seconds // step) * step
    earlier = Span(times.add(span.start, seconds=-shift), times.add(span.end, seconds=-shift))
    window, totals = _counted(call, earlier)
    return {"from": window.start, "to": window.end, **figures(totals), "series": series(earlier, totals, hourly)}


def _detailed_from(call: Call, window: Window) -> str | None:
    """Return the time from which errors and scanners are told apart, when that is within the window."""
    last = queries.undetailed_until(call.db, window)
    if last is None:
        return None
    folded = last < folded_before(call.now)
    return times.add(last, days=1) if folded else times.add(last, seconds=HOUR)


def _borders(call: Call) -> tuple[str, str]:
    """Return the times that the query asks for; Invalid when they are no window."""
    days, start, end = call.query.get("days"), call.query.get("from"), call.query.get("to")
    if start is None and end is None:
        return times.add(call.now, days=-(days or DAYS)), call.now
    if days is not None:
        raise Invalid("days: cannot be combined with from and to")
    end = end or max(call.now, start or "")
    start = start or times.add(end, days=-DAYS)
    shown = times.hour(start), _full_hour(end) if call.query.get("to") else end
    if start >= end:
        raise Invalid("from: must be before to")
    if seconds_between(start, end) > MAX_DAYS * DAY:
        raise Invalid(f"from: at most {MAX_DAYS} days before to")
    return shown


def _full_hour(time: str) -> str:
    """Raise a time to the next full hour, unless it is one."""
    hour = times.hour(time)
    return hour if hour == time else times.add(hour, seconds=HOUR)
