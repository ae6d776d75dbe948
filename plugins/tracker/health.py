"""What the page Health tells of the tracker: why the last sync failed."""

from collections.abc import Iterator

from snaglist.kernel import Call
from snaglist.plugins.system import Problem
from snaglist.plugins.tracker import position, settings


def details(call: Call) -> Iterator[Problem]:
    """Give the problem, in the open transaction."""
    stored = settings.load(call.db)
    error = position.load(call.db, stored.generation).last_error
    if stored.enabled and error:
        step = "Test the settings, and correct what the tracker refuses."
        yield Problem(f"The tracker is out of sync: {error.rstrip('.')}.", step, {"view": "tracker"})
