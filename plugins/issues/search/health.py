"""What the page Health tells of events: when the last one was, and how many come."""

from collections.abc import Iterator

from snaglist.kernel import Call, times
from snaglist.plugins.issues.search.scope import HOURS_SHOWN
from snaglist.plugins.issues.search.summary import hourly, last_seen
from snaglist.plugins.system import Figure

SECTION = "Events"


def details(call: Call) -> Iterator[Figure]:
    """Give the figures, in the open transaction."""
    if last := last_seen(call.db):
        yield Figure(SECTION, "Last event", last, "time", {})
    counts = hourly(call.db, call.now)
    # Counted by whole hours: those of the hour before count by the part of it that the last sixty minutes reach into.
    passed = (times.read(call.now) - times.read(times.hour(call.now))).total_seconds() / 3600
    recent = counts[-1] + counts[-2] * (1 - passed)
    yield Figure(SECTION, "Per minute (last hour)", round(recent / 60, 1))
    yield Figure(SECTION, f"In {HOURS_SHOWN} hours", sum(counts))
    yield Figure(SECTION, "Hourly", counts, "hours")
