"""Follows files to other paths: what issues say about where their events come from."""

from collections import Counter
from typing import Any

from sqlalchemy import Connection, delete, func, select

from snaglist.kernel import digest
from snaglist.kernel.database import upsert
from snaglist.plugins.issues.facets import CHUNK
from snaglist.plugins.issues.storing.taking import count_fewer
from snaglist.plugins.issues.tables import issue_facets, occurrences

FACET = "source"


def move_counts(db: Connection, path: str, new_path: str, source_id: int | None = None) -> None:
    """Count the events of a path under another one, in the open write transaction.

    With a source, which shares the path with others, only what is stored of it is counted out of what they share.
    """
    if path == new_path:
        return
    if source_id is None:
        _move_all(db, path, new_path)
    else:
        _move_stored(db, source_id, path, new_path)


def _move_all(db: Connection, path: str, new_path: str) -> None:
    of_path = (issue_facets.c.facet == FACET, issue_facets.c.value_hash == digest(path))
    portion = select(issue_facets).where(*of_path).order_by(issue_facets.c.issue_id).limit(CHUNK)
    while rows := db.execute(portion).mappings().all():
        _add(db, new_path, [dict(row) for row in rows])
        done = issue_facets.c.issue_id.in_([row["issue_id"] for row in rows])
        db.execute(delete(issue_facets).where(*of_path, done))


def _move_stored(db: Connection, source_id: int, path: str, new_path: str) -> None:
    here = digest(path)
    spans = (func.count(), func.min(occurrences.c.occurred_at), func.max(occurrences.c.occurred_at))
    stored = select(occurrences.c.issue_id, *spans).where(occurrences.c.source_id == source_id)
    stored = stored.group_by(occurrences.c.issue_id).order_by(occurrences.c.issue_id)
    for some in db.execute(stored).partitions(CHUNK):
        counted = select(issue_facets.c.issue_id, issue_facets.c["count"]).where(
            issue_facets.c.facet == FACET,
            issue_facets.c.value_hash == here,
            issue_facets.c.issue_id.in_([issue_id for issue_id, *_ in some]),
        )
        # What is not there is among the others, and stays.
        known: dict[int, int] = {issue_id: number for issue_id, number in db.execute(counted)}
        moved = [
            {"issue_id": issue_id, "count": min(number, known[issue_id]), "first_seen": first, "last_seen": last}
            for issue_id, number, first, last in some
            if issue_id in known
        ]
        _add(db, new_path, moved)
        here_less = Counter({(row["issue_id"], FACET, here): row["count"] for row in moved})
        count_fewer(db, issue_facets, ("issue_id", "facet", "value_hash"), here_less)


def _add(db: Connection, path: str, rows: list[dict[str, Any]]) -> None:
    value = {"facet": FACET, "value": path, "value_hash": digest(path)}
    rows = [{**row, **value} for row in rows]
    upsert(db, issue_facets, rows, add=("count",), least=("first_seen",), greatest=("last_seen",))
