"""The append-only history of issues."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert

from snaglist.plugins.issues.tables import status_history


def entry(
    issue_id: int,
    event: str,
    now: str,
    *,
    actor: str | None,
    note: str | None = None,
    from_status: str | None = None,
    to_status: str | None = None,
) -> dict[str, Any]:
    """Return a row of the history; `event` is a word of the contract's list."""
    return {
        "issue_id": issue_id,
        "event": event,
        "from_status": from_status,
        "to_status": to_status,
        "note": note,
        "actor": None if actor is None else actor[:200],
        "created_at": now,
    }


def append(db: Connection, entries: Sequence[dict[str, Any]]) -> None:
    """Add rows to the history."""
    if entries:
        db.execute(insert(status_history), list(entries))
