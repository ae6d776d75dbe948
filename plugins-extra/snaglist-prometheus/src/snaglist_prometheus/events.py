"""Events that were stored, by severity: counted in the application's database, so that all processes count together.

Each writer adds to one of a few rows for a severity, so that writers seldom wait for each other.
"""

import secrets
from collections.abc import Iterable
from typing import Any

from sqlalchemy import PrimaryKeyConstraint, Table, func, select

from snaglist.kernel import Call, times
from snaglist.kernel.columns import metadata, number, text
from snaglist.kernel.database import upsert
from snaglist.plugins.issues import StoredBatch

SHARDS = 8
Figures = Iterable[tuple[dict[str, str], float]]

# `lag`: seconds from an event to its storing, summed, of those with a time of their own; `newest`: seconds since 1970.
TABLE = Table(
    "prometheus_events",
    metadata,
    text("severity", 20),
    number("shard"),
    number("count"),
    number("lag"),
    number("newest"),
    PrimaryKeyConstraint("severity", "shard"),
)


def count(call: Call, batch: StoredBatch) -> None:
    """Add a batch to the counters, in the open write transaction."""
    now, shard = _seconds(call.now), secrets.randbelow(SHARDS)
    rows: dict[str, dict[str, Any]] = {}
    for stored in batch.stored:
        event = stored.event
        row = rows.setdefault(
            event.severity, {"severity": event.severity, "shard": shard, "count": 0, "lag": 0, "newest": 0}
        )
        row["count"] += 1
        if event.time_source == "event":
            moment = _seconds(event.occurred_at)
            row["lag"] += max(0, now - moment)
            row["newest"] = max(row["newest"], min(moment, now))
    if rows:
        upsert(call.db, TABLE, [rows[name] for name in sorted(rows)], add=("count", "lag"), greatest=("newest",))


def read_counts(call: Call) -> Figures:
    """Events stored by severity, in all processes."""
    return [({"severity": name}, total) for name, total in _sums(call, TABLE.c["count"])]


def read_lag(call: Call) -> Figures:
    """Seconds between events and their storing, summed; events without a time of their own add nothing."""
    return [({"severity": name}, total) for name, total in _sums(call, TABLE.c.lag)]


def read_newest(call: Call) -> Figures:
    """The time of the newest event that was stored."""
    newest = call.db.scalar(select(func.max(TABLE.c.newest)))
    return [({}, float(newest))] if newest else []


def _sums(call: Call, column: Any) -> list[tuple[str, float]]:
    rows = call.db.execute(select(TABLE.c.severity, func.sum(column)).group_by(TABLE.c.severity))
    return sorted((name, float(total)) for name, total in rows)


def _seconds(moment: str) -> int:
    return int(times.read(moment).timestamp())
