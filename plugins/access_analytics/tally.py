"""Counting requests in memory, per hour and apart for bots and scanners, until the sums go where they are kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import urlsplit

from snaglist.plugins.access_analytics.agents import Agent, describe_agent
from snaglist.plugins.access_analytics.clients import network_of
from snaglist.plugins.access_analytics.probes import is_probe
from snaglist.plugins.access_analytics.sketches import Distinct, Quantiles
from snaglist.plugins.issues import clean, path_template

T = TypeVar("T")

ALL, PATHS, MALFORMED, NOT_UNDERSTOOD = "", "paths", "malformed", "not_understood"
OTHER = "(other)"
NO_PATH = "-"
SCANNER = "scanner "  # before the dimensions of requests by scanners
_MAX_VALUE = 300
_ENCODED_SLASH = "\ue000"  # stands for it while a path is decoded
_MEMO = 20_000  # remembered texts of each kind; then all are forgotten
_SEEN = 50_000

Key = tuple[str, str, bool]  # dimension, value, bot


@dataclass(slots=True)
class Sums:
    """Sums of some requests; sketches where they are kept. `failed` and `missing` are None where none were counted."""

    hits: int = 0
    errors: int = 0
    bytes: int = 0
    failed: int | None = 0
    missing: int | None = 0
    visitors: Distinct | None = None
    times: Quantiles | None = None

    def add(self, other: "Sums") -> None:
        """Take in other sums."""
        self.hits += other.hits
        self.errors += other.errors
        self.bytes += other.bytes
        self.failed = None if self.failed is None or other.failed is None else self.failed + other.failed
        self.missing = None if self.missing is None or other.missing is None else self.missing + other.missing
        if other.visitors is not None:
            self.visitors = self.visitors or Distinct()
            self.visitors.merge(other.visitors)
        if other.times is not None:
            self.times = self.times or Quantiles()
            self.times.merge(other.times)


@dataclass(slots=True)
class Part:
    """The requests of one hour by one of `Parts`."""

    kinds: dict[tuple[str, int, Agent, str, str], list[int]] = field(default_factory=dict)  # → hits, bytes
    paths: dict[tuple[str, int], list[int]] = field(default_factory=dict)  # page and status → hits, bytes
    times: dict[str, list[float]] = field(default_factory=dict)
    seen: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)  # client and agent → as in Sums
    networks: dict[str, Sums] = field(default_factory=dict)
    visitors: Distinct = field(default_factory=Distinct)
    not_understood: int = 0

    def sums(self) -> Iterator[tuple[str, str, Sums]]:
        """Give the sums of each value of each dimension."""
        if self.not_understood:
            yield "all", NOT_UNDERSTOOD, Sums(self.not_understood)
        if not self.kinds:
            return
        total = Sums(visitors=self.visitors, times=Quantiles() if self.times else None)
        dims: dict[tuple[str, str], Sums] = {}
        for (method, status, agent, referrer, host), (hits, size) in self.kinds.items():
            total.add(one := _sums(status, hits, size))
            for dim, value in (
                ("method", method), ("status", f"{status:03d}"), ("agent", agent.family), ("system", agent.system),
                ("referrer", referrer), ("host", clean(host)[:_MAX_VALUE]),
            ):  # fmt: skip
                if value:
                    dims.setdefault((dim, value), Sums()).add(one)
        distinct = Distinct()
        for (path, status), (hits, size) in self.paths.items():
            if ("path", path) not in dims and path != NO_PATH:
                distinct.update(path)
            dims.setdefault(("path", path), Sums()).add(_sums(status, hits, size))
        for path, taken in self.times.items():
            dims["path", path].times = times = Quantiles()
            times.add(taken)
            assert total.times is not None
            total.times.add(taken)
        yield "all", ALL, total
        yield "all", PATHS, Sums(visitors=distinct)
        if ("path", NO_PATH) in dims:
            yield "all", MALFORMED, Sums(dims["path", NO_PATH].hits)
        for (dim, value), sums in dims.items():
            yield dim, value, sums
        for network, sums in self.networks.items():
            yield "network", network, sums


def _sums(status: int, hits: int, size: int) -> Sums:
    """Return the sums of requests that ended alike."""
    return Sums(hits, hits if status >= 400 else 0, size, hits if status >= 500 else 0, hits if status == 404 else 0)


# What texts of lines mean, for all tallies of the process: the same ones come again and again.
_agents: dict[str, Agent] = {}
_pages: dict[str, tuple[str, bool]] = {}  # → page, whether scanners try it
_hosts: dict[str, str] = {}

Parts = tuple[Part, Part, Part, Part]  # by people, by bots, by scanners that pretend to be people, by other scanners
_SCANNERS = 2


class Tally:
    """Counts requests. `hour` is any text that names a span of time; `networks`: which ones ask is counted."""

    def __init__(self, find_client: Callable[[str, str], str], *, networks: bool = True) -> None:
        self._find_client = find_client
        self._networks = networks
        self.parts: dict[str, Parts] = {}

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
        host: str = "",
    ) -> None:
        """Count a request. This is the hot path: a few look-ups per line.

        What `OPTIONS *` and CONNECT ask for is no page. A scanner's is what names itself so, and a request for a path
        that scanners try when it was refused.
        """
        described = _agents.get(agent) or _remember(_agents, agent, describe_agent(agent))
        link = _hosts.get(referrer)
        if link is None:
            link = _remember(_hosts, referrer, referrer_host(referrer))
        page, probe = _pages.get(path) or _remember(_pages, path, (page_of(path), is_probe(path)))
        who = described.bot + (_SCANNERS if described.scanner or (probe and 400 <= status < 500) else 0)
        part = (self.parts.get(hour) or self._open(hour))[who]
        kind = (method, status, described, link, host)
        sums = part.kinds.get(kind)
        if sums is None:
            part.kinds[kind] = [1, size]
        else:
            sums[0] += 1
            sums[1] += size
        if page[0] == "/" or page == NO_PATH:
            sums = part.paths.get((page, status))
            if sums is None:
                part.paths[page, status] = [1, size]
            else:
                sums[0] += 1
                sums[1] += size
            if milliseconds is not None:
                part.times.setdefault(page, []).append(milliseconds)
        visitor = (address, forwarded, agent)
        sums = part.seen.get(visitor)
        if sums is None:
            if len(part.seen) >= _SEEN:
                self._settle(part)
            sums = part.seen[visitor] = [0, 0, 0, 0, 0]
            part.visitors.update(f"{self._find_client(address, forwarded)} {agent}".encode("utf-8", "replace").decode())
        sums[0] += 1
        sums[2] += size
        if status >= 400:
            sums[1] += 1
            sums[3] += status >= 500
            sums[4] += status == 404

    def add_not_understood(self, hour: str) -> None:
        """Count a line that no layout fits."""
        (self.parts.get(hour) or self._open(hour))[0].not_understood += 1

    def take(self) -> dict[str, Parts]:
        """Return what was counted since the last time."""
        parts, self.parts = self.parts, {}
        for of_hour in parts.values():
            for part in of_hour:
                self._settle(part)
        return parts

    def _settle(self, part: Part) -> None:
        """Add what each visitor asked for to the network that it came from, and forget the visitors."""
        if self._networks:
            for (address, forwarded, _), sums in part.seen.items():
                network = network_of(self._find_client(address, forwarded))
                if network:
                    hits, errors, size, failed, missing = sums
                    part.networks.setdefault(network, Sums()).add(Sums(hits, errors, size, failed, missing))
        part.seen.clear()

    def _open(self, hour: str) -> Parts:
        self.parts[hour] = parts = (Part(), Part(), Part(), Part())
        return parts


def sums_of(parts: Parts) -> dict[Key, Sums]:
    """Return the sums of an hour by key."""
    found: dict[Key, Sums] = {}
    for at, part in enumerate(parts):
        front, bot = SCANNER if at >= _SCANNERS else "", at % _SCANNERS == 1
        found |= {(front + dim, value, bot): sums for dim, value, sums in part.sums()}
    return found


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
