"""Statements of a status change."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, select

from snaglist.plugins.issues.tables import issues
from snaglist.plugins.system import rows


class Before(NamedTuple):
    """What a status change needs of an issue as it is."""

    id: int
    status: str
    severity: str
    log_type: str
    seen: int
    fixed_at: str | None
    fixed_release: str | None


_COLUMNS = (  # in the order of the fields above
    issues.c.id,
    issues.c.status,
    issues.c.severity,
    issues.c.log_type,
    issues.c["count"],
    issues.c.fixed_at,
    issues.c.fixed_release,
)


def lock(db: Connection, issue_ids: Collection[int]) -> list[Before]:
    """Lock issues in key order and return those that exist."""
    locked = select(*_COLUMNS).order_by(issues.c.id).with_for_update(key_share=True)
    return [Before._make(row) for row in rows.among(db, locked, issues.c.id, issue_ids)]
