"""Statements of manual issues."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, update

from snaglist.kernel.database import inserted_id
from snaglist.plugins.issues.tables import issue_samples, issues

EDITABLE = ("title", "description", "kind", "severity", "source_frame", "environment", "module_id")


def add_issue(db: Connection, columns: Mapping[str, Any], description: str) -> int:
    """Insert an issue with its sample message; returns its id."""
    issue_id = inserted_id(db.execute(insert(issues).values(columns)))
    db.execute(insert(issue_samples).values(issue_id=issue_id, message=description))
    return issue_id


def lock_issue(db: Connection, issue_id: int) -> dict[str, Any] | None:
    """Lock an issue and return its columns and, as `description`, its sample message."""
    row = db.execute(select(issues).where(issues.c.id == issue_id).with_for_update(key_share=True)).mappings().first()
    if row is None:
        return None
    message = db.execute(select(issue_samples.c.message).where(issue_samples.c.issue_id == issue_id)).scalar()
    return {**row, "description": message or ""}


def update_issue(db: Connection, issue_id: int, columns: Mapping[str, Any], description: str) -> None:
    """Write columns of an issue and its sample message."""
    db.execute(update(issues).where(issues.c.id == issue_id).values(columns))
    db.execute(update(issue_samples).where(issue_samples.c.issue_id == issue_id).values(message=description))
