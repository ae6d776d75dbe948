"""Statements of mirrored issues."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from snaglist.kernel.database import chunks
from snaglist.plugins.issues.tables import issue_samples, issues

CHUNK = 500
EXTERNAL = ("external_source", "external_id", "external_url", "assignee")


def add_issues(db: Connection, source: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Insert issues that mirror items of one tracker; returns their ids by `external_id`."""
    db.execute(insert(issues), rows)
    wanted = [row["external_id"] for row in rows]
    found: dict[str, int] = {}
    for some in chunks(wanted, CHUNK):
        statement = select(issues.c.external_id, issues.c.id)
        statement = statement.where(issues.c.external_source == source, issues.c.external_id.in_(some))
        found.update((str(row.external_id), row.id) for row in db.execute(statement))
    return found


def add_samples(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the sample texts of new issues."""
    db.execute(insert(issue_samples), rows)


def lock_issues(db: Connection, issue_ids: Collection[int]) -> dict[int, RowMapping]:
    """Lock issues; returns their columns by id."""
    found: dict[int, RowMapping] = {}
    for some in chunks(sorted(issue_ids), CHUNK):
        locked = select(issues).where(issues.c.id.in_(some)).order_by(issues.c.id).with_for_update(key_share=True)
        found.update((row["id"], row) for row in db.execute(locked).mappings())
    return found


def messages(db: Connection, issue_ids: Sequence[int]) -> dict[int, str]:
    """Return the sample messages of issues by id."""
    found: dict[int, str] = {}
    for some in chunks(issue_ids, CHUNK):
        texts = select(issue_samples.c.issue_id, issue_samples.c.message).where(issue_samples.c.issue_id.in_(some))
        found.update((row.issue_id, row.message) for row in db.execute(texts))
    return found


def update_issues(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write columns of issues; rows hold `row_id` and the same columns each."""
    if rows:
        db.execute(update(issues).where(issues.c.id == bindparam("row_id")), list(rows))


def update_messages(db: Connection, messages: Mapping[int, str]) -> None:
    """Write sample messages by issue id."""
    rows = [{"row_id": issue_id, "message": message} for issue_id, message in sorted(messages.items())]
    if rows:
        db.execute(update(issue_samples).where(issue_samples.c.issue_id == bindparam("row_id")), rows)
