"""Events of issues by minute: what the triggers `threshold` and `spike` count in.

Kept while a rule needs them, and no longer than the longest window. Hours that lie more than a day back are folded
into their first minute.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from itertools import accumulate
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from snaglist.kernel import times
from snaglist.kernel.database import chunks, upsert
from snaglist.plugins.alerting.evaluating.seen import SeenIssue
from snaglist.plugins.alerting.rules import about
from snaglist.plugins.alerting.tables import minutes
from snaglist.plugins.system import insert_rows, rows

CHUNK = 500
SPIKE_MINUTES = 24 * 60
FOLDED_AFTER_HOURS = 25


class Minutes:
    """The counters of one issue, as far as a rule is concerned; asked for sums of stretches."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        self._starts = sorted(rows)
        self._sums = [0, *accumulate(rows[start] for start in self._starts)]

    def between(self, first: str, last: str) -> int:
        """Return the events of the minutes from `first` to `last`, both included."""
        return self._sums[bisect_right(self._starts, last)] - self._sums[bisect_left(self._starts, first)]


def minute(moment: str) -> str:
    """Return the first second of the minute of a time."""
    return moment[:16] + ":00"


def count(db: Connection, now: str, seen: Mapping[int, SeenIssue]) -> None:
    """Add what is not silent to the counters."""
    folded = folded_before(now)
    counted: Counter[tuple[int, str, str, str]] = Counter()
    for issue_id, issue in seen.items():
        for event in issue.events:
            if not event.silent:
                start = minute(event.occurred_at) if event.occurred_at >= folded else times.hour(event.occurred_at)
                counted[issue_id, start, event.severity, event.environment] += 1
    added = [
        {"issue_id": key[0], "minute": key[1], "severity": key[2], "environment": key[3], "count": number}
        for key, number in sorted(counted.items())
    ]
    upsert(db, minutes, added, add=("count",))


def of_issues(db: Connection, rule: Row[Any], issue_ids: Collection[int], first: str, last: str) -> dict[int, Minutes]:
    """Return the counters of events that a rule is about, from one time to another."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    wanted = [minutes.c.minute >= first, minutes.c.minute <= last, *about(rule, minutes.c)]
    shown = (minutes.c.issue_id, minutes.c.minute)
    summed = select(*shown, func.sum(minutes.c["count"])).where(*wanted).group_by(*shown)
    for issue_id, start, number in rows.among(db, summed, minutes.c.issue_id, issue_ids):
        found[issue_id][start] = int(number)
    return {issue_id: Minutes(found[issue_id]) for issue_id in issue_ids}


def move(db: Connection, issue_ids: Collection[int], target_id: int) -> None:
    """Give the counters of merged issues to the one they went into."""
    found = rows.among(db, select(minutes), minutes.c.issue_id, issue_ids)
    forget(db, issue_ids)
    summed: Counter[tuple[str, str, str]] = Counter()
    for row in found:
        summed[row.minute, row.severity, row.environment] += row._mapping["count"]
    moved = [
        {"issue_id": target_id, "minute": key[0], "severity": key[1], "environment": key[2], "count": number}
        for key, number in sorted(summed.items())
    ]
    for some in chunks(moved, CHUNK):
        upsert(db, minutes, some, add=("count",))


def forget(db: Connection, issue_ids: Collection[int]) -> None:
    """Delete the counters of issues."""
    rows.among(db, delete(minutes), minutes.c.issue_id, issue_ids)


def folded_before(now: str) -> str:
    """Return the time before which whole hours are folded."""
    return times.hour(times.add(now, seconds=-3600 * FOLDED_AFTER_HOURS))


def oldest_unfolded(db: Connection, since: str, now: str) -> str | None:
    """Return the first hour since a time whose minutes are to be folded; None when there is none."""
    here = (minutes.c.minute >= since, minutes.c.minute < folded_before(now))
    found = db.execute(select(func.min(minutes.c.minute)).where(*here)).scalar()
    return times.hour(found) if found else None


def fold(db: Connection, hour: str) -> None:
    """Put the minutes of an hour together."""
    here = (minutes.c.minute >= hour, minutes.c.minute < times.add(hour, seconds=3600))
    parts = (minutes.c.issue_id, minutes.c.severity, minutes.c.environment)
    found = db.execute(select(*parts, func.sum(minutes.c["count"]).label("number")).where(*here).group_by(*parts)).all()
    db.execute(delete(minutes).where(*here))
    folded = [
        {"issue_id": row.issue_id, "minute": hour, "severity": row.severity, "environment": row.environment,
         "count": int(row.number)}
        for row in found
    ]  # fmt: skip
    insert_rows(db, minutes, folded)


def has_older(db: Connection, before: str) -> bool:
    """Tell whether there are counters from before a time."""
    return db.execute(select(minutes.c.issue_id).where(minutes.c.minute < before).limit(1)).first() is not None


def prune(db: Connection, before: str) -> None:
    """Delete the counters from before a time."""
    db.execute(delete(minutes).where(minutes.c.minute < before))
