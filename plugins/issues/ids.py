"""Issue ids: a merged id stays good for ever and means the issue that it was merged into."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from snaglist.kernel import NotFound
from snaglist.plugins.issues.tables import issue_aliases, issues
from snaglist.plugins.system import rows

MAX_ID = 2**63 - 1


def resolve_issue_id(db: Connection, issue_id: int) -> int:
    """Return the id of the issue that an id means now; raises NotFound."""
    found = resolve_issue_ids(db, [issue_id])
    if issue_id not in found:
        raise NotFound("Unknown issue.")
    return found[issue_id]


def resolve_issue_ids(db: Connection, issue_ids: Collection[int]) -> dict[int, int]:
    """Return what ids mean now; unknown ones are left out."""
    found = {row.id: row.id for row in rows.among(db, select(issues.c.id), issues.c.id, issue_ids)}
    missing = [issue_id for issue_id in issue_ids if issue_id not in found]
    merged = rows.among(db, select(issue_aliases), issue_aliases.c.old_id, missing)
    return found | {row.old_id: row.issue_id for row in merged}


def hold_issue_ids(db: Connection, issue_ids: Collection[int]) -> list[int]:
    """Return those of the issues that are there, and keep them so until the end of the transaction."""
    held = select(issues.c.id).order_by(issues.c.id).with_for_update(key_share=True)
    return [row.id for row in rows.among(db, held, issues.c.id, issue_ids)]


def as_id(text: str) -> int | None:
    """Return the id that a text may be."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
    return number if 0 < number <= MAX_ID else None
