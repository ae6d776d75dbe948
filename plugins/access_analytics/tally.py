"""Counting requests in memory, per hour and apart for bots, until the sums go where they are kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from snaglist.plugins.access_analytics.agents import describe_agent
from snaglist.plugins.access_analytics.sketches import Distinct, Quantiles
from snaglist.plugins.issues import clean, path_template

T = TypeVar("T")

ALL, PATHS, MALFORMED, NOT_UNDERSTOOD = "", "paths", "malformed", "not_understood"
OTHER = "(other)"
NO_PATH = "-"
_MAX_VALUE = 300
_ENCODED_SLASH = "\ue000"  # stands for it while a path is decoded
_MEMO = 20_000  # remembered texts of each kind; then all are forgotten
_SEEN = 50_000

Key = tuple[str, str, bool]  # dimension, value, bot


@dataclass(slots=True)
class Sums:
    """Sums of some requests; sketches where they are kept."""

    hits: int = 0
    errors: int = 0
    bytes: int = 0
    visitors: Distinct | None = None
    times: Quantiles | None = None

    def add(self, other: "Sums") -> None:
        """Take in other sums."""
        self.hits += other.hits
        self.errors += other.errors
        self.bytes += other.bytes
        if other.visitors is not None:
            self.visitors = self.visitors or Distinct()
            self.visitors.merge(other.visitors)
        if other.times is not None:
            self.times = self.times or Quantiles()
            self.times.merge(other.times)


@dataclass(slots=True)
class Part:
    """The requests of one hour by bots, or by others."""

    kinds: dict[tuple[str, int, str, str], list[int]] = field(default_factory=dict)  # → hits, bytes
    paths: dict[str, list[int]] = field(default_factory=dict)  # → hits, errors, bytes
    times: dict[str, list[float]] = field(default_factory=dict)
    seen: set[tuple[str, str, str]] = field(default_factory=set)
    visitors: Distinct = field(default_factory=Distinct)
    not_understood: int = 0

    def sums(self, bot: bool) -> Iterator[tuple[Key, Sums]]:
        """Give the sums of each value of each dimension."""
        if self.not_understood:
            yield ("all", NOT_UNDERSTOOD, bot), Sums(self.not_understood)
        if not self.kinds:
            return
        total = Sums(visitors=self.visitors, times=Quantiles() if self.times else None)
        dims: dict[tuple[str, str], Sums] = {}
        for (method, status, agent, referrer), (hits, size) in self.kinds.items():
            errors = hits if status >= 400 else 0
            total.add(one := Sums(hits, errors, size))
            for dim, value in (
                ("method", method), ("status", f"{status:03d}"), ("agent", agent), ("referrer", referrer),
            ):  # fmt: skip
                if value:
                    dims.setdefault((dim, value), Sums()).add(one)
        distinct = Distinct()
        for path, (hits, errors, size) in self.paths.items():
            sums = dims[("path", path)] = Sums(hits, errors, size)
            if path in self.times:
                sums.times = Quantiles()
                sums.times.add(self.times[path])
                assert total.times is not None
                total.times.add(self.times[path])
            if path != NO_PATH:
                distinct.update(path)
        yield ("all", ALL, bot), total
        yield ("all", PATHS, bot), Sums(visitors=distinct)
        if NO_PATH in self.paths:
            yield ("all", MALFORMED, bot), Sums(self.paths[NO_PATH][0])
        for (dim, value), sums in dims.items():
            yield (dim, value, bot), sums


# What texts of lines mean, for all tallies of the process: the same ones come again and again.
_agents: dict[str, tuple[str, bool]] = {}
_pages: dict[str, str] = {}
_hosts: dict[str, str] = {}


class Tally:
    """Counts requests. `hour` is any text that names a span of time."""

    def __init__(self, find_client: Callable[[str, str], str]) -> None:
        self._find_client = find_client
        self.parts: dict[str, tuple[Part, Part]] = {}  # hour → by people, by bots

    def add(
        self,
        hour: str,
        method: str,
        path: str,
        status: int,
        size: int,
        referrer: str,
        agent: str,
        address: str,
        forwarded: str,
        milliseconds: float | None,
    ) -> None:
        """Count a request. This is the hot path: a few look-ups per line.

        What `OPTIONS *` and CONNECT ask for is no page.
        """
        family, bot = _agents.get(agent) or _remember(_agents, agent, describe_agent(agent))
        host = _hosts.get(referrer)
        if host is None:
            host = _remember(_hosts, referrer, referrer_host(referrer))
        page = _pages.get(path) or _remember(_pages, path, page_of(path))
        part = (self.parts.get(hour) or self._open(hour))[bot]
        kind = (method, status, family, host)
        sums = part.kinds.get(kind)
        if sums is None:
            part.kinds[kind] = [1, size]
        else:
            sums[0] += 1
            sums[1] += size
        if page[0] == "/" or page == NO_PATH:
            sums = part.paths.get(page)
            if sums is None:
                part.paths[page] = [1, 1 if status >= 400 else 0, size]
            else:
                sums[0] += 1
                sums[2] += size
                if status >= 400:
                    sums[1] += 1
            if milliseconds is not None:
                part.times.setdefault(page, []).append(milliseconds)
        visitor = (address, forwarded, agent)
        if visitor not in part.seen:
            if len(part.seen) >= _SEEN:
                part.seen.clear()
            part.seen.add(visitor)
            part.visitors.update(f"{self._find_client(address, forwarded)} {agent}".encode("utf-8", "replace").decode())

    def add_not_understood(self, hour: str) -> None:
        """Count a line that no layout fits."""
        (self.parts.get(hour) or self._open(hour))[False].not_understood += 1

    def take(self) -> dict[str, tuple[Part, Part]]:
        """Return what was counted since the last time."""
        parts, self.parts = self.parts, {}
        return parts

    def _open(self, hour: str) -> tuple[Part, Part]:
        self.parts[hour] = pair = (Part(), Part())
        return pair


def sums_of(pair: tuple[Part, Part]) -> dict[Key, Sums]:
    """Return the sums of an hour by key."""
    people, bots = pair
    return dict([*people.sums(False), *bots.sums(True)])


def _remember(memo: dict[str, T], text: str, value: T) -> T:
    if len(memo) >= _MEMO:
        memo.clear()
    memo[text] = value
    return value


def page_of(path: str) -> str:
    """Return the page that a request path names: ids are one; an encoded slash stays encoded, it separates nothing."""
    if path == NO_PATH:
        return path
    if "%2" in path:
        path = path.replace("%2f", _ENCODED_SLASH).replace("%2F", _ENCODED_SLASH)
    page = path_template(path, "{id}").replace(_ENCODED_SLASH, "%2f")
    return clean(page)[:_MAX_VALUE] or "/"


def referrer_host(referrer: str) -> str:
    """Return the host that a request came from, empty when that is not known."""
    try:
        host = urlsplit(referrer[:2_048]).hostname if "//" in referrer else None
    except ValueError:
        return ""
    return clean(host or "")[:_MAX_VALUE]
