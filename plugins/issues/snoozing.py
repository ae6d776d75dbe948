"""Snoozing: no alerts for an issue until a time, or for a number of further events. It changes no status."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import update

from snaglist.kernel import Call, Invalid
from snaglist.plugins.issues import history
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import IssueChange
from snaglist.plugins.issues.tables import issues
from snaglist.plugins.system import rows


def snooze_issues(call: Call, issue_ids: Collection[int], until: str | None, events: int | None) -> dict[str, Any]:
    """Snooze issues until a time or for a number of events, or wake them (both None), in the open write transaction.

    A snooze replaces the one before. Returns what plugins add under their ids.
    """
    if until is not None and until <= call.now:
        raise Invalid("until: must be in the future")
    ids = sorted(issue_ids)
    changed = {"snoozed_until": until, "snooze_count": events}
    rows.among(call.db, update(issues).values(**changed, updated_at=call.now), issues.c.id, ids)
    note = _note(until, events)
    history.append(
        call.db, [history.entry(issue_id, "snooze", call.now, actor=call.label, note=note) for issue_id in ids]
    )
    return tell_change(call, IssueChange("snooze", tuple(ids), changed))


def _note(until: str | None, events: int | None) -> str:
    if until is not None:
        return f"Until {until}"
    if events is not None:
        return f"For {events} more event{'' if events == 1 else 's'}"
    return "Ended"
