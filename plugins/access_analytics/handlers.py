"""The endpoint `access-analytics`: a window of the stored sums."""

from typing import Any

from snaglist.kernel import Call, Invalid, times
from snaglist.plugins.access_analytics import extra, queries
from snaglist.plugins.access_analytics.report import DAY, MAX_DAYS, Span, Totals, Values, document, seconds_between
from snaglist.plugins.access_analytics.storing import day_of, folded_before

DAYS = 7
_HOUR = 3600


def get_report(call: Call) -> dict[str, Any]:
    """Answer the report of the asked window."""
    extra.require()
    query = call.query
    shown = _borders(call)
    span = Span(times.hour(shown[0]), _full_hour(shown[1]))
    # Of days that are folded, or are about to be, only the whole is known.
    first = min(span.start, day_of(span.start)) if span.start < folded_before(call.now) else span.start
    bots, channel = query.get("bots", True), query.get("source")
    everything = queries.of_window(first, span.end, bots=True, channel=channel)
    window = queries.of_window(first, span.end, bots=bots, channel=channel)
    totals = Totals()
    for hour, key, sums in queries.totals(call.db, everything):
        totals.add(hour, key, sums, bots=bots)

    def top(dim: str, limit: int | None = None, *, by: str = "hits") -> Values:
        found = queries.values(call.db, window, dim, limit, by=by)
        if dim == "path" and by == "hits":
            queries.add_times(call.db, window, {path: sums for path, _, sums in found})
        return found

    return document(span, shown, totals, top)


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
    return hour if hour == time else times.add(hour, seconds=_HOUR)
