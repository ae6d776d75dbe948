"""When a new event brings a fixed issue back (the reoccurrence rule of the contract)."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from snaglist.kernel import Call
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.storing.queries import LockedIssue
from snaglist.plugins.issues.tables import status_history

_NOTE = "Event of "


def find_reoccurrence(call: Call, issue: LockedIssue, events: Sequence[Event]) -> Event | None:
    """Return the earliest of an issue's new events that counts as a reoccurrence."""
    if issue.status != "fixed" or issue.fixed_at is None:
        return None
    later = [event for event in events if event.occurred_at > issue.fixed_at]
    later.sort(key=lambda event: event.occurred_at)
    return next((event for event in later if not _holds_no_fix(call, issue.fixed_release, event)), None)


def note(event: Event) -> str:
    """Return what the history says about it."""
    release = f", release {event.release[:120]}" if event.release else ""
    return f"{_NOTE}{event.occurred_at}{release}"


def reoccurrence_times(db: Connection, issue_id: int) -> list[str]:
    """Return the times of the events that brought an issue back."""
    rows = select(status_history.c.note).where(
        status_history.c.issue_id == issue_id, status_history.c.event == "reoccurrence"
    )
    return [text[len(_NOTE) : len(_NOTE) + 19] for text in db.execute(rows).scalars() if text]


def _holds_no_fix(call: Call, fixed_release: str | None, event: Event) -> bool:
    """Tell whether the event comes from a release older than the one with the fix."""
    if fixed_release is None or event.release is None:
        return False
    for plugin, compare in call.service.plugins.calls(hookspecs.compare_releases):
        if call.enabled(plugin.id):
            order = compare(call, event.release, fixed_release, event.environment)
            if order is not None:
                return bool(order < 0)
    return False
