"""Statements of a status change."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, select, update

from snaglist.kernel.database import chunks
from snaglist.plugins.issues.tables import issues

CHUNK = 500


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


def lock(db: Connection, issue_ids: Iterable[int]) -> list[Before]:
    """Lock issues in key order and return those that exist."""
    found: list[Before] = []
    for some in chunks(sorted(issue_ids), CHUNK):
        statement = select(*_COLUMNS).where(issues.c.id.in_(some)).order_by(issues.c.id)
        found += [Before._make(row) for row in db.execute(statement.with_for_update(key_share=True))]
    return found


def update_statuses(db: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write columns of (locked) issues; rows hold `row_id` and the same columns each."""
    if rows:
        db.execute(update(issues).where(issues.c.id == bindparam("row_id")), list(rows))
