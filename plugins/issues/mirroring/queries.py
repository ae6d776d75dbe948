"""Statements of mirrored issues."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from snaglist.plugins.issues.tables import issue_samples, issues
from snaglist.plugins.system import rows

EXTERNAL = ("external_source", "external_id", "external_url", "assignee")


def add_issues(db: Connection, source: str, made: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Insert issues that mirror items of one tracker; returns their ids by `external_id`."""
    db.execute(insert(issues), made)
    wanted = [row["external_id"] for row in made]
    found = select(issues.c.external_id, issues.c.id).where(issues.c.external_source == source)
    return {str(row.external_id): row.id for row in rows.among(db, found, issues.c.external_id, wanted)}


def add_samples(db: Connection, samples: Sequence[Mapping[str, Any]]) -> None:
    """Insert the sample texts of new issues."""
    db.execute(insert(issue_samples), samples)


def lock_issues(db: Connection, issue_ids: Collection[int]) -> dict[int, RowMapping]:
    """Lock issues; returns their columns by id."""
    locked = select(issues).order_by(issues.c.id).with_for_update(key_share=True)
    return {row.id: row._mapping for row in rows.among(db, locked, issues.c.id, issue_ids)}


def messages(db: Connection, issue_ids: Sequence[int]) -> dict[int, str]:
    """Return the sample messages of issues by id."""
    texts = select(issue_samples.c.issue_id, issue_samples.c.message)
    return {row.issue_id: row.message for row in rows.among(db, texts, issue_samples.c.issue_id, issue_ids)}


def update_messages(db: Connection, messages: Mapping[int, str]) -> None:
    """Write sample messages by issue id."""
    changed = [{"row_id": issue_id, "message": message} for issue_id, message in sorted(messages.items())]
    if changed:
        db.execute(update(issue_samples).where(issue_samples.c.issue_id == bindparam("row_id")), changed)
