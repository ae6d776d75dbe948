"""Which part of a file can hold lines of a time, by the times of stored events that are spread over it.

Files are only nearly in order of time, and entries between two events may be of any time in between. So a part is
left out only where every event looked at, from there to the end of the file it is at, is more than an hour away.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import Row

from snaglist.kernel import Call, times
from snaglist.plugins.logs.store import queries

PROBES: Final = 64
SLACK_SECONDS: Final = 3600
CHANGED_DAYS: Final = 1  # what was written after the last change of a file is no older than that, in any time zone
SMALL: Final = 8 << 20  # bytes that are looked through sooner than asked about
TIMED: Final = 20  # events that are asked for one with a time of its own


def part_of(call: Call, source: Row[Any], since: str | None, until: str | None) -> tuple[int, int]:
    """Return the first byte of a file to look at and the one behind the last; both begin events, or are the ends."""
    if since is None and until is None:
        return 0, source.size
    probes = _probes(call, source)
    if since is not None and source.modified_at and source.modified_at < times.add(since, days=-CHANGED_DAYS):
        earliest = times.add(since, seconds=-SLACK_SECONDS)
        if all(time < earliest for _, time in probes):
            return source.size, source.size
    return narrowed(source.size, probes, since, until) if source.size > SMALL else (0, source.size)


def narrowed(size: int, probes: Sequence[tuple[int, str]], since: str | None, until: str | None) -> tuple[int, int]:
    """Return the part of a file; `probes`: first byte and time of events, in order of bytes."""
    first, behind = 0, size
    earliest = times.add(since, seconds=-SLACK_SECONDS) if since is not None else times.FIRST
    latest = times.add(until, seconds=SLACK_SECONDS) if until is not None else times.LAST
    for byte, time in probes:
        if time >= earliest:
            break
        first = byte
    for byte, time in reversed(probes):
        if time <= latest:
            break
        behind = byte
    return min(first, behind), behind


def _probes(call: Call, source: Row[Any]) -> list[tuple[int, str]]:
    """Return first byte and time of events; of a small file those of the last ones."""
    with call.transaction(write=False) as db:
        rows = queries.times_from(db, source.id, source.size, TIMED, back=True)
        for number in range(PROBES if source.size > SMALL else 0):
            rows += queries.times_from(db, source.id, source.size * number // PROBES, TIMED)
    return sorted({row.byte_start: row.occurred_at for row in rows if row.time_source == "event"}.items())
