"""Follows a source to another path: what issues say about the files their events come from."""

from collections import Counter
from typing import Any

from sqlalchemy import Connection, delete, exists, func, select

from snaglist.kernel import digest
from snaglist.kernel.database import upsert
from snaglist.plugins.issues.facets import CHUNK
from snaglist.plugins.issues.storing.taking import count_fewer
from snaglist.plugins.issues.tables import issue_facets, occurrences, sources

FACET = "source"


def rename_source(db: Connection, source_id: int, path: str, new_path: str) -> None:
    """Count the events of a source, so far of one path, under its new one, in the open write transaction.

    When other sources have the old path as well, what is stored of this one is counted out of what they share.
    """
    if path == new_path:
        return
    if _is_shared(db, source_id, path):
        _move_stored(db, source_id, path, new_path)
    else:
        _move_all(db, path, new_path)


def _is_shared(db: Connection, source_id: int, path: str) -> bool:
    other = (sources.c.path_hash == digest(path), sources.c.id != source_id, sources.c.occurrence_count > 0)
    return bool(db.execute(select(exists().where(*other))).scalar())


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
