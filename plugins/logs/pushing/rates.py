"""Sliding windows: how many events senders may store, exact for any number of processes.

Usage is the count of this window and the part of the previous one that still lies within the window's length.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, PrimaryKeyConstraint, Table, bindparam, delete, select, update

from snaglist.kernel import Call, Option, times
from snaglist.kernel.columns import metadata, moment, number, text
from snaglist.kernel.database import insert_ignore, upsert
from snaglist.kernel.ddl import create_table

APPLICATION = "app"
STATS_DAYS = 2
OUTCOMES = ("accepted", "duplicate", "invalid", "rate_limited")
_SCOPE = 64
_Row = tuple[str, int]


class Limits:
    """The limits in one write transaction. Making it makes other senders of the application wait for its end."""

    def __init__(
        self,
        rates: "Rates",
        db: Connection,
        moment: float,
        *,
        seconds: int,
        maximum: int,
        of_address: int,
        addresses: Iterable[str],
    ) -> None:
        self._rates, self._db = rates, db
        self._window, inside = divmod(moment, seconds)
        self._left = 1 - inside / seconds
        self.retry_after = max(1, math.ceil(seconds - inside))
        self._maximum = maximum
        self._of_address = of_address
        self._counts = self._lock([APPLICATION])
        if of_address:
            self._counts |= self._lock(sorted({address[:_SCOPE] for address in addresses}))
        self._let_in: Counter[str] = Counter()

    def take(self, address: str, wanted: int) -> int:
        """Return how many of so many events are let in, and count them."""
        allowed = min(wanted, self._room(APPLICATION, self._maximum))
        scopes = [APPLICATION]
        if self._of_address:
            scopes.append(address[:_SCOPE])
            allowed = min(allowed, self._room(scopes[1], self._of_address))
        for scope in scopes:
            self._let_in[scope] += allowed
        return allowed

    def write(self) -> None:
        """Write what was let in."""
        rows = [
            {"of_scope": scope, "of_window": int(self._window), "more": more}
            for scope, more in sorted(self._let_in.items())
            if more
        ]
        if rows:
            self._db.execute(self._rates.adding, rows)

    def _room(self, scope: str, maximum: int) -> int:
        window = int(self._window)
        used = self._counts.get((scope, window), 0) + self._let_in[scope]
        used_before = self._counts.get((scope, window - 1), 0) * self._left
        return max(0, math.floor(maximum - used - used_before))

    def _lock(self, scopes: list[str]) -> dict[_Row, int]:
        window = int(self._window)
        found = self._read(scopes)
        missing = [scope for scope in scopes if (scope, window) not in found]
        if missing:
            rows = [{"scope": scope, "window": window, "count": 0} for scope in missing]
            insert_ignore(self._db, self._rates.windows, rows)
            found = self._read(scopes)
            if APPLICATION in missing:
                self._rates.forget(self._db, window)
        return found

    def _read(self, scopes: list[str]) -> dict[_Row, int]:
        rows = self._db.execute(self._rates.locking, {"scopes": scopes, "since": int(self._window) - 1})
        return {(scope, of_window): count for scope, of_window, count in rows}


class Rates:
    """The limits of one kind of sender: its tables, and its keys of configuration.

    The tables are `<name>_windows` and `<name>_stats` of each application's database, for the schema steps of the
    plugin; `options` are the keys `<name>.rate_max_events`, `.rate_window_seconds` and `.rate_max_events_per_ip`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        # `scope` is `app` or the address of a client; `window` counts windows since 1970.
        self.windows = windows = Table(
            f"{name}_windows",
            metadata,
            text("scope", _SCOPE),
            number("window"),
            number("count"),
            PrimaryKeyConstraint("scope", "window"),
        )
        # What became of events per hour.
        self.stats = Table(
            f"{name}_stats",
            metadata,
            moment("hour"),
            text("outcome", 20),
            number("count"),
            PrimaryKeyConstraint("hour", "outcome"),
        )
        # PERF: run with every group of requests.
        since = windows.c.window >= bindparam("since")
        wanted = select(windows).where(windows.c.scope.in_(bindparam("scopes", expanding=True)), since)
        self.locking = wanted.order_by(windows.c.scope, windows.c.window).with_for_update()
        here = (windows.c.scope == bindparam("of_scope"), windows.c.window == bindparam("of_window"))
        self.adding = update(windows).where(*here).values(count=windows.c["count"] + bindparam("more"))

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, to register."""
        return self.windows, self.stats

    def create_tables(self, db: Connection) -> None:
        """Make the tables, as a step; what changes in them later needs another one."""
        create_table(
            db,
            f"{self._name}_windows",
            text("scope", 64),
            number("window"),
            number("count"),
            PrimaryKeyConstraint("scope", "window"),
        )
        create_table(
            db,
            f"{self._name}_stats",
            moment("hour"),
            text("outcome", 20),
            number("count"),
            PrimaryKeyConstraint("hour", "outcome"),
        )

    @property
    def options(self) -> tuple[Option, ...]:
        """The keys of configuration."""
        name = self._name
        return (
            Option(
                f"{name}.rate_max_events",
                60_000,
                "events of an application in a window; the rest is refused",
                1,
                10**12,
            ),
            Option(f"{name}.rate_window_seconds", 60, "length of that window, which slides", 1, 86_400),
            Option(f"{name}.rate_max_events_per_ip", 0, "the same for each client address; 0: off", 0, 10**12),
        )

    def show(self, call: Call) -> dict[str, int]:
        """Return the limits as settings show them."""
        names = ("max_events", "window_seconds", "max_events_per_ip")
        return {name: call.setting(f"{self._name}.rate_{name}") for name in names}

    def limits(self, call: Call, moment: float, addresses: Iterable[str]) -> Limits:
        """Return the limits at a moment, in seconds since 1970, in the open write transaction."""
        shown = self.show(call)
        seconds, maximum, of_address = shown["window_seconds"], shown["max_events"], shown["max_events_per_ip"]
        return Limits(
            self, call.db, moment, seconds=seconds, maximum=maximum, of_address=of_address, addresses=addresses
        )

    def forget(self, db: Connection, window: int) -> None:
        """Remove windows that count no more, and the statistics of earlier days, once a window."""
        db.execute(delete(self.windows).where(self.windows.c.window.not_in((window, window - 1))))
        db.execute(delete(self.stats).where(self.stats.c.hour < times.add(times.now(), days=-STATS_DAYS)))

    def count_outcomes(self, db: Connection, now: str, outcomes: Mapping[str, int]) -> None:
        """Add to what became of events in this hour."""
        rows = [
            {"hour": times.hour(now), "outcome": outcome, "count": count}
            for outcome, count in sorted(outcomes.items())
            if count
        ]
        upsert(db, self.stats, rows, add=("count",))

    def last_day(self, db: Connection, now: str) -> dict[str, int]:
        """Return what became of the events of the last 24 hours, in whole hours, and what else was counted."""
        stats = self.stats
        since = times.hour(times.add(now, days=-1))
        found: Counter[str] = Counter()
        for row in db.execute(select(stats.c.outcome, stats.c["count"]).where(stats.c.hour > since)):
            found[row[0]] += row[1]
        return dict.fromkeys(OUTCOMES, 0) | dict(found)
