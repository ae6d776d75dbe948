"""What the page Health tells of events: when the last one was, and how many come."""

from collections.abc import Iterator

from sqlalchemy import func, select

from snaglist.kernel import Call, times
from snaglist.plugins.issues.search.scope import hours_until
from snaglist.plugins.issues.tables import event_hours, issues
from snaglist.plugins.system import Figure

SECTION = "Events"
HOURS = 24


def details(call: Call) -> Iterator[Figure]:
    """Give the figures, in the open transaction."""
    last = call.db.scalar(select(issues.c.last_seen).order_by(issues.c.last_seen.desc()).limit(1))
    if last:
        yield Figure(SECTION, "Last event", last, "time", {})
    hours = hours_until(times.hour(call.now), HOURS)
    within = select(event_hours.c.hour, func.sum(event_hours.c.count)).where(event_hours.c.hour >= hours[0])
    counts = {hour: int(number) for hour, number in call.db.execute(within.group_by(event_hours.c.hour))}
    shown = [counts.get(hour, 0) for hour in hours]
    # Counted by whole hours: those of the hour before count by the part of it that the last sixty minutes reach into.
    passed = (times.read(call.now) - times.read(hours[-1])).total_seconds() / 3600
    recent = shown[-1] + shown[-2] * (1 - passed)
    yield Figure(SECTION, "Per minute (last hour)", round(recent / 60, 1))
    yield Figure(SECTION, f"In {HOURS} hours", sum(shown))
    yield Figure(SECTION, "Hourly", shown, "hours")
