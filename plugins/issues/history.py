"""The append-only history of issues."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, insert, select

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


def shown(row: Mapping[str, Any] | RowMapping) -> dict[str, Any]:
    """Return a row of the history as answers show it."""
    names = ("event", "from_status", "to_status", "note", "created_at", "actor")
    return {"id": row["id"], "group_id": row["issue_id"], **{name: row[name] for name in names}}


def last_change(db: Connection, issue_id: int, status: str) -> RowMapping | None:
    """Return the row that gave an issue the status that it has, None when no row tells."""
    mine = (status_history.c.issue_id == issue_id, status_history.c.to_status == status)
    order = (status_history.c.created_at.desc(), status_history.c.id.desc())
    return db.execute(select(status_history).where(*mine).order_by(*order).limit(1)).mappings().first()


def append(db: Connection, entries: Sequence[dict[str, Any]]) -> None:
    """Add rows to the history."""
    if entries:
        db.execute(insert(status_history), list(entries))
