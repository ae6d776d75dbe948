"""What came lately out of each log: its newest events by hour, and the errors among them."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from snaglist.kernel import times
from snaglist.plugins.issues import RANK, stored

HOURS = 24
# Of each log so many events are looked at, the last of the file: a page of logs costs the same however much is stored.
LOOKED_AT = 500

_occurrences = stored.occurrences


def of_sources(db: Connection, ids: Iterable[int], now: str) -> dict[int, dict[str, Any]]:
    """Return by source `from`, the first of 24 hours, `hours`, the events of each, and `errors`, as bad or worse.

    Not `complete` where more events of these hours may be stored than were looked at.
    """
    start = times.add(times.hour(now), seconds=-3600 * (HOURS - 1))
    return {source_id: _of_source(db, source_id, start) for source_id in ids}


def _of_source(db: Connection, source_id: int, start: str) -> dict[str, Any]:
    newest = (
        select(_occurrences.occurred_at, _occurrences.severity)
        .where(_occurrences.source_id == source_id)
        .order_by(_occurrences.byte_start.desc())
        .limit(LOOKED_AT)
    )
    rows = list(db.execute(newest))
    hours = [0] * HOURS
    errors = 0
    first = times.read(start)
    for at, severity in rows:
        if at < start:
            continue
        hour = int((times.read(at) - first).total_seconds() // 3600)
        if hour < HOURS:  # what claims to come from the future counts in none
            hours[hour] += 1
            errors += RANK[severity] <= RANK["ERROR"]
    complete = len(rows) < LOOKED_AT or rows[-1].occurred_at < start
    return {"from": start, "hours": hours, "errors": errors, "complete": complete}
