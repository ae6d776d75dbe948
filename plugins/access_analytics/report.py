"""The report of `access-analytics`, made of sums: the same for what is stored and for files that are only looked at."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from snaglist.kernel import times
from snaglist.plugins.access_analytics.sketches import Distinct, Quantiles
from snaglist.plugins.access_analytics.storing import day_of
from snaglist.plugins.access_analytics.tally import ALL, MALFORMED, NOT_UNDERSTOOD, PATHS, SCANNER, Key, Sums

TOP_PATHS, ERROR_PATHS, TOP_AGENTS, TOP_REFERRERS, STATUSES, TOP_HOSTS = 15, 10, 8, 10, 20, 10
NAMES_OF_SITE = 3  # `x`, `www.x` and `m.x`: as many of the referrers can be left out for each host of the site itself
HOURS_SHOWN = 48
SERIES_HOURS = 72  # a longer window has one number a day in `series`
HOUR, DAY = 3_600, 86_400
MAX_DAYS = 366
CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
_ALWAYS = CLASSES[1:]

Values = Sequence[tuple[str, bool, Sums]]  # value, bot, sums


@dataclass(slots=True)
class Span:
    """From an hour on, and before another."""

    start: str
    end: str

    @property
    def seconds(self) -> int:
        """How long it is."""
        return seconds_between(self.start, self.end)


@dataclass(slots=True)
class Totals:
    """Sums over all dimensions of a window, filled with the rows of `all`."""

    whole: Sums = field(default_factory=Sums)
    paths: Distinct = field(default_factory=Distinct)
    bots: int = 0
    scanners: int = 0
    malformed: int = 0
    not_understood: int = 0
    hours: dict[str, Sums] = field(default_factory=dict)
    days: dict[str, Sums] = field(default_factory=dict)
    classes: dict[str, dict[str, int]] = field(default_factory=dict)  # hour → class → requests

    def add(self, hour: str, key: Key, sums: Sums, *, bots: bool = True, scanners: bool = True) -> None:
        """Take in the sums of an hour; those of bots and scanners may only be counted as such."""
        dim, value, bot = key
        scanner = dim.startswith(SCANNER)
        if value == ALL:
            self.bots += sums.hits if bot else 0
            self.scanners += sums.hits if scanner else 0
        if (bot and not bots) or (scanner and not scanners):
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
            self.hours.setdefault(hour, Sums()).add(Sums(sums.hits, sums.errors, visitors=sums.visitors))

    def add_class(self, hour: str, digit: str, hits: int) -> None:
        """Take in the requests of an hour whose statuses begin with a digit."""
        name = f"{digit}xx"
        if name in CLASSES:
            of_hour = self.classes.setdefault(hour, {})
            of_hour[name] = of_hour.get(name, 0) + hits

    def settle_classes(self, first: str) -> None:
        """Keep the classes of days only, before an hour."""
        found, self.classes = self.classes, {}
        for hour, counts in found.items():
            for name, hits in counts.items():
                self.add_class(hour if hour >= first else day_of(hour), name[0], hits)

    def of_class(self, name: str) -> int:
        """Return the requests of a class."""
        return sum(found.get(name, 0) for found in self.classes.values())


class Top(Protocol):
    """What gives the values of a dimension, those with most of one sum first; those without any are left out."""

    def __call__(self, dim: str, limit: int | None = None, *, by: str = "hits") -> Values:
        """Return at most so many."""


def document(
    span: Span, shown: tuple[str, str], totals: Totals, top: Top, *, hourly: str = "", own: Collection[str] = ()
) -> dict[str, Any]:
    """Return the report; `shown` are the borders of the window as they are told.

    From `hourly` on hours are known, before it days only. `own` are the hosts of the site itself.
    """
    statuses, agents = top("status"), top("agent", TOP_AGENTS)
    hosts = top("host", TOP_HOSTS)
    listed = {site_of(host) for host in (*own, *(host for host, _, _ in hosts))}
    whole = totals.whole
    names = [name for name in CLASSES if name in _ALWAYS or totals.of_class(name)]
    return {
        "window_days": -(-seconds_between(*shown) // DAY),
        "from": shown[0],
        "to": shown[1],
        **figures(totals),
        "error_rate": round(whole.errors / whole.hits, 4) if whole.hits else 0,
        "status_classes": [{"class": name, "count": totals.of_class(name)} for name in names],
        "statuses": [{"status": int(value), "count": sums.hits} for value, _, sums in statuses[:STATUSES]],
        "by_day": [_day(day, totals.days.get(day, Sums())) for day in _days(span, totals)],
        "by_hour": [_hour(hour, totals.hours.get(hour, Sums())) for hour in _last_hours(span)],
        "series": series(span, totals, hourly),
        "hours_of_day": _hours_of_day(max(span.start, hourly), span.end, totals),
        "top_paths": [_path(path, sums) for path, _, sums in top("path", TOP_PATHS)],
        "error_paths": [_errors(path, sums) for path, _, sums in top("path", ERROR_PATHS, by="errors")],
        "failing_paths": [_failing(path, sums) for path, _, sums in top("path", ERROR_PATHS, by="failed")],
        "missing_paths": [_missing(path, sums) for path, _, sums in top("path", ERROR_PATHS, by="missing")],
        "methods": [{"method": method, "count": sums.hits} for method, _, sums in top("method")],
        "top_agents": [{"agent": agent, "count": sums.hits, "bot": bot} for agent, bot, sums in agents],
        "top_systems": [{"system": name, "count": sums.hits} for name, _, sums in top("system", TOP_AGENTS)],
        "top_hosts": [_asked("host", host, sums) for host, _, sums in hosts],
        "top_networks": [_asked("network", network, sums) for network, _, sums in top("network", TOP_HOSTS)],
        "top_referrers": _referrers(top("referrer", TOP_REFERRERS + NAMES_OF_SITE * len(listed)), listed),
    }


def figures(totals: Totals) -> dict[str, Any]:
    """Return the sums of a window that can be compared with another one."""
    whole = totals.whole
    client, server = totals.of_class("4xx"), totals.of_class("5xx")
    measured = whole.times or Quantiles()
    return {
        "total": whole.hits,
        "unique_paths": totals.paths.count,
        "unique_visitors": whole.visitors.count if whole.visitors else 0,
        "client_errors": client,
        "server_errors": server,
        "client_error_rate": round(client / whole.hits, 4) if whole.hits else 0,
        "server_error_rate": round(server / whole.hits, 4) if whole.hits else 0,
        "bytes": whole.bytes,
        "bots": totals.bots,
        "scanners": totals.scanners,
        "malformed": totals.malformed,
        "not_understood": totals.not_understood,
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


def site_of(host: str) -> str:
    """Return the site that a host belongs to: without the `www` or `m` before it."""
    name = host.lower()
    for front in ("www.", "m."):
        if name.startswith(front) and "." in name[len(front) :]:
            return name[len(front) :]
    return name


def is_hourly(span: Span, hourly: str) -> bool:
    """Tell whether a time is short enough for numbers of each hour, which are known from `hourly` on."""
    return span.seconds <= SERIES_HOURS * HOUR and span.start >= hourly


def series(span: Span, totals: Totals, hourly: str) -> dict[str, Any]:
    """Return the numbers of each hour of a short window, else of each UTC day."""
    by_hour = is_hourly(span, hourly)
    starts = list(_hours(span) if by_hour else (f"{day} 00:00:00" for day in _days(span, totals)))
    visitors = totals.hours if by_hour else {f"{day} 00:00:00": sums for day, sums in totals.days.items()}
    classes: dict[str, dict[str, int]] = {}
    for hour, found in totals.classes.items():
        into = classes.setdefault(hour if by_hour else day_of(hour), {})
        for name, hits in found.items():
            into[name] = into.get(name, 0) + hits
    return {
        "unit": "hour" if by_hour else "day",
        "data": [_point(start, visitors.get(start, Sums()), classes.get(start, {})) for start in starts],
    }


def _point(start: str, sums: Sums, classes: Mapping[str, int]) -> dict[str, Any]:
    visitors = sums.visitors.count if sums.visitors else 0
    return {
        "start": start,
        "count": sums.hits,
        "visitors": visitors,
        **{name: classes.get(name, 0) for name in CLASSES},
    }


def _hours_of_day(start: str, end: str, totals: Totals) -> dict[str, Any]:
    """Return the requests of each hour of a UTC day, over the part of the window whose hours are known."""
    counts = [0] * 24
    for hour, sums in totals.hours.items():
        if start <= hour < end:
            counts[int(hour[11:13])] += sums.hits
    return {"from": min(start, end), "counts": counts}


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
        "client_errors": sums.errors - (sums.failed or 0),
        "server_errors": sums.failed or 0,
        "bytes": sums.bytes,
        "p50_ms": taken.at(0.5),
        "p95_ms": taken.at(0.95),
        "p99_ms": taken.at(0.99),
    }


def _errors(path: str, sums: Sums) -> dict[str, Any]:
    return {"path": path, "errors": sums.errors}


def _failing(path: str, sums: Sums) -> dict[str, Any]:
    return {"path": path, "count": sums.hits, "server_errors": sums.failed or 0}


def _missing(path: str, sums: Sums) -> dict[str, Any]:
    return {"path": path, "count": sums.hits, "not_found": sums.missing or 0}


def _asked(name: str, value: str, sums: Sums) -> dict[str, Any]:
    failed = sums.failed or 0
    errors = {"client_errors": sums.errors - failed, "server_errors": failed}
    return {name: value, "count": sums.hits, **errors, "bytes": sums.bytes}


def _referrers(found: Values, own: Collection[str]) -> list[dict[str, Any]]:
    """Return the hosts that links came from, without those of the site itself."""
    listed = [{"referrer": host, "count": sums.hits} for host, _, sums in found if site_of(host) not in own]
    return listed[:TOP_REFERRERS]


def _days(span: Span, totals: Totals) -> Iterable[str]:
    """Give each day; of files whose times lie years apart only those with requests."""
    if times.add(span.start, days=MAX_DAYS + 1) < span.end:
        yield from sorted(totals.days)
        return
    day = day_of(span.start)
    while day < span.end:
        yield day[:10]
        day = times.add(day, days=1)


def _hours(span: Span) -> Iterable[str]:
    hour = span.start
    while hour < span.end:
        yield hour
        hour = times.add(hour, seconds=HOUR)


def _last_hours(span: Span) -> Iterable[str]:
    first = max(span.start, times.hour(times.add(span.end, seconds=1 - HOUR * HOURS_SHOWN)))
    return _hours(Span(first, span.end))
