"""Issue ids: a merged id stays good for ever and means the issue that it was merged into."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from snaglist.kernel import NotFound
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.tables import issue_aliases, issues

CHUNK = 500
MAX_ID = 2**63 - 1


def resolve_issue_id(db: Connection, issue_id: int) -> int:
    """Return the id of the issue that an id means now; raises NotFound."""
    found = resolve_issue_ids(db, [issue_id])
    if issue_id not in found:
        raise NotFound("Unknown issue.")
    return found[issue_id]


def resolve_issue_ids(db: Connection, issue_ids: Collection[int]) -> dict[int, int]:
    """Return what ids mean now; unknown ones are left out."""
    found: dict[int, int] = {}
    for some in chunks(sorted(issue_ids), CHUNK):
        found.update((row.id, row.id) for row in db.execute(select(issues.c.id).where(issues.c.id.in_(some))))
        if missing := [issue_id for issue_id in some if issue_id not in found]:
            merged = select(issue_aliases).where(issue_aliases.c.old_id.in_(missing))
            found.update((row.old_id, row.issue_id) for row in db.execute(merged))
    return found


def hold_issue_ids(db: Connection, issue_ids: Collection[int]) -> list[int]:
    """Return those of the issues that are there, and keep them so until the end of the transaction."""
    held: list[int] = []
    for some in chunks(sorted(issue_ids), CHUNK):
        rows = select(issues.c.id).where(issues.c.id.in_(some)).order_by(issues.c.id)
        held += db.execute(rows.with_for_update(key_share=True)).scalars()
    return held


def as_id(text: str) -> int | None:
    """Return the id that a text may be."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
    return number if 0 < number <= MAX_ID else None
