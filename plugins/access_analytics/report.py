"""The report of `access-analytics`, made of sums: the same for what is stored and for files that are only looked at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from snaglist.kernel import times
from snaglist.plugins.access_analytics.sketches import Distinct, Quantiles
from snaglist.plugins.access_analytics.storing import day_of
from snaglist.plugins.access_analytics.tally import ALL, MALFORMED, NOT_UNDERSTOOD, PATHS, Key, Sums

TOP_PATHS, ERROR_PATHS, TOP_AGENTS, TOP_REFERRERS, STATUSES = 15, 10, 8, 10, 20
HOURS_SHOWN = 48
DAY = 86_400
MAX_DAYS = 366
_ALWAYS = ("2xx", "3xx", "4xx", "5xx")

Values = Sequence[tuple[str, bool, Sums]]  # value, bot, sums


@dataclass(slots=True)
class Span:
    """From an hour on, and before another."""

    start: str
    end: str


@dataclass(slots=True)
class Totals:
    """Sums over all dimensions of a window, filled with the rows of `all`."""

    whole: Sums = field(default_factory=Sums)
    paths: Distinct = field(default_factory=Distinct)
    bots: int = 0
    malformed: int = 0
    not_understood: int = 0
    hours: dict[str, Sums] = field(default_factory=dict)
    days: dict[str, Sums] = field(default_factory=dict)

    def add(self, hour: str, key: Key, sums: Sums, *, bots: bool = True) -> None:
        """Take in the sums of an hour; those of bots may only be counted as such."""
        _, value, bot = key
        if bot and value == ALL:
            self.bots += sums.hits
        if bot and not bots:
            return
        if value == PATHS and sums.visitors is not None:
            self.paths.merge(sums.visitors)
        elif value == MALFORMED:
            self.malformed += sums.hits
        elif value == NOT_UNDERSTOOD:
            self.not_understood += sums.hits
        elif value == ALL:
            self.whole.add(sums)
            self.days.setdefault(hour[:10], Sums()).add(Sums(sums.hits, sums.errors, visitors=sums.visitors))
            self.hours.setdefault(hour, Sums()).add(Sums(sums.hits, sums.errors))


class Top(Protocol):
    """What gives the values of a dimension, those with most hits or errors first; those without any are left out."""

    def __call__(self, dim: str, limit: int | None = None, *, by: str = "hits") -> Values:
        """Return at most so many."""


def document(span: Span, shown: tuple[str, str], totals: Totals, top: Top) -> dict[str, Any]:
    """Return the report; `shown` are the borders of the window as they are told."""
    statuses, agents, broken = top("status"), top("agent", TOP_AGENTS), top("path", ERROR_PATHS, by="errors")
    whole = totals.whole
    classes = dict.fromkeys(_ALWAYS, 0)
    for status, _, sums in statuses:
        name = f"{status[0]}xx"
        if name in _ALWAYS or name == "1xx":
            classes[name] = classes.get(name, 0) + sums.hits
    measured = whole.times or Quantiles()
    return {
        "window_days": -(-seconds_between(*shown) // DAY),
        "from": shown[0],
        "to": shown[1],
        "total": whole.hits,
        "unique_paths": totals.paths.count,
        "unique_visitors": whole.visitors.count if whole.visitors else 0,
        "error_rate": round(whole.errors / whole.hits, 4) if whole.hits else 0,
        "bytes": whole.bytes,
        "bots": totals.bots,
        "malformed": totals.malformed,
        "not_understood": totals.not_understood,
        "status_classes": [{"class": name, "count": classes[name]} for name in sorted(classes)],
        "statuses": [{"status": int(value), "count": sums.hits} for value, _, sums in statuses[:STATUSES]],
        "by_day": [_day(day, totals.days.get(day, Sums())) for day in _days(span, totals)],
        "by_hour": [_hour(hour, totals.hours.get(hour, Sums())) for hour in _last_hours(span)],
        "top_paths": [_path(path, sums) for path, _, sums in top("path", TOP_PATHS)],
        "error_paths": [{"path": path, "errors": sums.errors} for path, _, sums in broken],
        "methods": [{"method": method, "count": sums.hits} for method, _, sums in top("method")],
        "top_agents": [{"agent": agent, "count": sums.hits, "bot": bot} for agent, bot, sums in agents],
        "top_referrers": [{"referrer": host, "count": sums.hits} for host, _, sums in top("referrer", TOP_REFERRERS)],
        "response_time": {
            "measured": measured.measured,
            "p50_ms": measured.at(0.5),
            "p95_ms": measured.at(0.95),
            "p99_ms": measured.at(0.99),
        },
    }


def seconds_between(start: str, end: str) -> int:
    """Return the length of a span."""
    return int((times.read(end) - times.read(start)).total_seconds())


def _day(day: str, sums: Sums) -> dict[str, Any]:
    visitors = sums.visitors.count if sums.visitors else 0
    return {"day": day, "count": sums.hits, "errors": sums.errors, "visitors": visitors}


def _hour(hour: str, sums: Sums) -> dict[str, Any]:
    return {"hour": hour, "count": sums.hits, "errors": sums.errors}


def _path(path: str, sums: Sums) -> dict[str, Any]:
    taken = sums.times or Quantiles()
    return {
        "path": path,
        "count": sums.hits,
        "errors": sums.errors,
        "bytes": sums.bytes,
        "p50_ms": taken.at(0.5),
        "p95_ms": taken.at(0.95),
    }


def _days(span: Span, totals: Totals) -> Iterable[str]:
    """Give each day; of files whose times lie years apart only those with requests."""
    if times.add(span.start, days=MAX_DAYS + 1) < span.end:
        yield from sorted(totals.days)
        return
    day = day_of(span.start)
    while day < span.end:
        yield day[:10]
        day = times.add(day, days=1)


def _last_hours(span: Span) -> Iterable[str]:
    hour = max(span.start, times.hour(times.add(span.end, seconds=1 - 3600 * HOURS_SHOWN)))
    while hour < span.end:
        yield hour
        hour = times.add(hour, seconds=3600)
