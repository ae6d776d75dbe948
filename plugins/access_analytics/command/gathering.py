"""Sums over whole files, in memory that does not grow with their lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from snaglist.kernel import times
from snaglist.kernel.service import Service
from snaglist.plugins.access_analytics.clients import client_finder
from snaglist.plugins.access_analytics.report import HOURS_SHOWN, Span, Totals, Values, document
from snaglist.plugins.access_analytics.tally import NO_PATH, OTHER, SCANNER, Sums, Tally, sums_of
from snaglist.plugins.logs import read_requests

MAX_VALUES = 20_000  # of a dimension; what comes later is summed up as OTHER
_MAX_HOURS = 2_000
_FLUSH_BYTES = 16 * 1024 * 1024
_FLUSH_HOURS = 500

Move = Callable[[int, int | None, str], None]


class Gathering:
    """Takes in files and makes one report of them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        find = client_finder(service.settings["access.trusted_proxies"])
        self._tally = Tally(find, networks=service.settings["access.networks"])
        self._totals = Totals()
        self._values: dict[str, dict[tuple[str, bool], Sums]] = {}
        self._first = self._last = ""

    def read(self, file: Path, move: Move) -> str | None:
        """Read a file; returns why only to a part, if so. ServiceError when that is not possible at all."""

        flushed = 0

        def watch(done: int) -> None:
            nonlocal flushed
            move(done, None, file.name)
            if done - flushed >= _FLUSH_BYTES or len(self._tally.parts) > _FLUSH_HOURS:
                self._flush()
                flushed = done

        try:
            return read_requests(self._service, file, self._tally.add, self._tally.add_not_understood, watch)
        finally:
            self._flush()

    def report(self) -> dict[str, Any]:
        """Return the answer of `access-analytics`; its window is that of the lines."""
        first = self._first or times.hour(times.now())
        end = times.add(self._last or first, seconds=3600)
        own = self._service.settings["access.own_hosts"]
        return document(Span(first, end), (first, end), self._totals, self._top, own=own)

    def _top(self, dim: str, limit: int | None = None, *, by: str = "hits") -> Values:
        found: dict[tuple[str, bool], Sums] = {}
        for name in (dim, SCANNER + dim):
            for (value, bot), sums in self._values.get(name, {}).items():
                found.setdefault((value, bot and dim == "agent"), Sums()).add(sums)
        listed = [(value, bot, sums) for (value, bot), sums in found.items() if getattr(sums, by)]
        return sorted(listed, key=lambda row: (-getattr(row[2], by), row[:2]))[:limit]

    def _flush(self) -> None:
        """Move what was tallied to the sums of the report."""
        for hour, parts in self._tally.take().items():
            self._first = min(self._first or hour, hour)
            self._last = max(self._last, hour)
            for key, sums in sums_of(parts).items():
                dim, value, bot = key
                if dim.removeprefix(SCANNER) == "status":
                    self._totals.add_class(hour, value[0], sums.hits)
                if dim.removeprefix(SCANNER) == "all":
                    self._totals.add(hour, key, sums)
                    continue
                values = self._values.setdefault(dim, {})
                if (value, bot) not in values and len(values) >= MAX_VALUES and value != NO_PATH:
                    value = OTHER
                values.setdefault((value, bot), Sums()).add(sums)
        if len(self._totals.hours) > _MAX_HOURS:
            shown = sorted(self._totals.hours)[-HOURS_SHOWN:]
            self._totals.hours = {hour: self._totals.hours[hour] for hour in shown}
            self._totals.settle_classes(shown[0])
