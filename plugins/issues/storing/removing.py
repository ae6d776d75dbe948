"""Removes stored occurrences: what was counted stays counted, only what can be shown becomes less."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, Row, bindparam, delete, select, update

from snaglist.kernel.database import chunks
from snaglist.plugins.issues.storing.queries import CHUNK, lock_issues
from snaglist.plugins.issues.tables import issues, occurrences
from snaglist.plugins.system import rows


@dataclass(slots=True)
class Removed:
    """What went: occurrences by issue and by source, and the issues that have none left."""

    by_issue: Counter[int] = field(default_factory=Counter)
    by_source: Counter[int] = field(default_factory=Counter)
    emptied: set[int] = field(default_factory=set)


def remove_occurrences(db: Connection, occurrence_ids: Sequence[int]) -> Removed:
    """Remove occurrences with their texts in the open write transaction; issues keep counts, status and history.

    The rows of `sources` are the caller's: their `occurrence_count` falls by `removed.by_source`.
    """
    removed = Removed()
    ids = sorted(occurrence_ids)
    locked = lock_issues(db, {row.issue_id for row in _places(db, ids)})
    for row in _places(db, ids):  # again: until now a merge could move them
        removed.by_issue[row.issue_id] += 1
        removed.by_source[row.source_id] += 1
    if unlocked := removed.by_issue.keys() - locked.keys():
        lock_issues(db, unlocked)
    for some in chunks(ids, CHUNK):
        for issue_ids in chunks(sorted(removed.by_issue), CHUNK):
            shown = (issues.c.id.in_(issue_ids), issues.c.sample_occurrence_id.in_(some))
            db.execute(update(issues).where(*shown).values(sample_occurrence_id=None))
        db.execute(delete(occurrences).where(occurrences.c.id.in_(some)))
    lose_occurrences(db, removed.by_issue)
    empty = select(issues.c.id).where(issues.c.stored_occurrences <= 0)
    removed.emptied.update(row.id for row in rows.among(db, empty, issues.c.id, removed.by_issue))
    return removed


def lose_occurrences(db: Connection, by_issue: Counter[int]) -> None:
    """Take a number of stored occurrences off (locked) issues; a negative number adds."""
    changed = [{"row_id": issue_id, "fewer": number} for issue_id, number in sorted(by_issue.items()) if number]
    if changed:
        fewer = issues.c.stored_occurrences - bindparam("fewer")
        db.execute(update(issues).where(issues.c.id == bindparam("row_id")).values(stored_occurrences=fewer), changed)


def _places(db: Connection, ids: Sequence[int]) -> list[Row[tuple[int, int]]]:
    return rows.among(db, select(occurrences.c.issue_id, occurrences.c.source_id), occurrences.c.id, ids)
