"""The endpoint `access-analytics`: a window of the stored sums."""

from typing import Any

from snaglist.kernel import Call, Invalid, times
from snaglist.plugins.access_analytics import extra, queries
from snaglist.plugins.access_analytics.report import (
    ERROR_PATHS,
    MAX_DAYS,
    TOP_AGENTS,
    TOP_PATHS,
    TOP_REFERRERS,
    Lists,
    Span,
    Totals,
    document,
)
from snaglist.plugins.access_analytics.storing import day_of, folded_before

DAYS = 7
_HOUR = 3600
_DAY = 86_400


def get_report(call: Call) -> dict[str, Any]:
    """Answer the report of the asked window."""
    extra.require()
    query = call.query
    shown = _borders(call)
    days = -(-_seconds(*shown) // _DAY)
    span = Span(times.hour(shown[0]), _full_hour(shown[1]))
    # Of days that are folded, or are about to be, only the whole is known.
    first = min(span.start, day_of(span.start)) if span.start < folded_before(call.now) else span.start
    bots, channel = query.get("bots", True), query.get("source")
    everything = queries.of_window(first, span.end, bots=True, channel=channel)
    window = queries.of_window(first, span.end, bots=bots, channel=channel)
    totals = Totals()
    for hour, key, sums in queries.totals(call.db, everything):
        totals.add(hour, key, sums, bots=bots)
    paths = queries.values(call.db, window, "path", TOP_PATHS)
    queries.add_times(call.db, window, {path: sums for path, _, sums in paths})
    lists = Lists(
        paths,
        queries.values(call.db, window, "path", ERROR_PATHS, by="errors"),
        queries.values(call.db, window, "method"),
        queries.values(call.db, window, "status"),
        queries.values(call.db, window, "agent", TOP_AGENTS),
        queries.values(call.db, window, "referrer", TOP_REFERRERS),
    )
    return document(span, shown, days, totals, lists)


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
    if _seconds(start, end) > MAX_DAYS * _DAY:
        raise Invalid(f"from: at most {MAX_DAYS} days before to")
    return shown


def _full_hour(time: str) -> str:
    """Raise a time to the next full hour, unless it is one."""
    hour = times.hour(time)
    return hour if hour == time else times.add(hour, seconds=_HOUR)


def _seconds(start: str, end: str) -> int:
    return int((times.read(end) - times.read(start)).total_seconds())
