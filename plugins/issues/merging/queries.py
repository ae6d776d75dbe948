"""Statements of a merge."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, delete, func, insert, select, update

from snaglist.kernel.database import chunks
from snaglist.plugins.issues.facets import Facet, Span
from snaglist.plugins.issues.tables import (
    event_hours,
    groupings,
    issue_aliases,
    issue_facets,
    issue_samples,
    issues,
    occurrences,
    status_history,
)

CHUNK = 500
SAMPLE_COLUMNS = (
    "severity",
    "severity_rank",
    "environment",
    "log_type",
    "channel",
    "title",
    "exception_class",
    "source_frame",
    "sample_occurrence_id",
    "search_text",
)
_MOVED = (groupings, occurrences, event_hours, status_history, issue_aliases)


def lock_groupings(db: Connection, issue_ids: Sequence[int]) -> None:
    """Lock the groupings of issues, in the order in which storing locks them."""
    for some in chunks(issue_ids, CHUNK):
        statement = select(groupings.c.id).where(groupings.c.issue_id.in_(some)).order_by(groupings.c.fingerprint)
        db.execute(statement.with_for_update()).all()


def lock_issues(db: Connection, issue_ids: Sequence[int]) -> dict[int, RowMapping]:
    """Lock issues and return their rows."""
    found: dict[int, RowMapping] = {}
    for some in chunks(issue_ids, CHUNK):
        statement = select(issues).where(issues.c.id.in_(some)).order_by(issues.c.id).with_for_update()
        found.update((row["id"], row) for row in db.execute(statement).mappings())
    return found


def joined_facets(db: Connection, issue_ids: Sequence[int]) -> dict[Facet, Span]:
    """Return the facets of issues, added up."""
    joined: dict[Facet, Span] = {}
    for some in chunks(issue_ids, CHUNK):
        statement = select(issue_facets).where(issue_facets.c.issue_id.in_(some)).order_by(issue_facets.c.first_seen)
        for row in db.execute(statement).mappings():
            span = Span(row["count"], row["first_seen"], row["last_seen"])
            if known := joined.get((row["facet"], row["value"])):
                known.include(span)
            else:
                joined[row["facet"], row["value"]] = span
    return joined


def move_rows(db: Connection, issue_ids: Sequence[int], target_id: int) -> None:
    """Give the rows of issues to the target, and make their ids mean it."""
    for some in chunks(issue_ids, CHUNK):
        for table in _MOVED:
            db.execute(update(table).where(table.c.issue_id.in_(some)).values(issue_id=target_id))
        db.execute(insert(issue_aliases), [{"old_id": old_id, "issue_id": target_id} for old_id in some])


def move_sample(db: Connection, issue_id: int, target_id: int) -> None:
    """Replace the target's sample texts by those of another issue."""
    db.execute(delete(issue_samples).where(issue_samples.c.issue_id == target_id))
    db.execute(update(issue_samples).where(issue_samples.c.issue_id == issue_id).values(issue_id=target_id))


def show_newest(db: Connection, issue_ids: Iterable[int]) -> None:
    """Let issues show the fingerprint of their newest grouping."""
    for some in chunks(sorted(issue_ids), CHUNK):
        newest = select(func.max(groupings.c.id)).where(groupings.c.issue_id.in_(some)).group_by(groupings.c.issue_id)
        found = db.execute(select(groupings.c.issue_id, groupings.c.fingerprint).where(groupings.c.id.in_(newest)))
        rows = [{"row_id": row.issue_id, "fingerprint": row.fingerprint} for row in found]
        if rows:
            db.execute(update(issues).where(issues.c.id == bindparam("row_id")), rows)


def update_issue(db: Connection, issue_id: int, columns: Mapping[str, Any]) -> None:
    """Write columns of an issue."""
    db.execute(update(issues).where(issues.c.id == issue_id).values(columns))


def remove_issues(db: Connection, issue_ids: Sequence[int]) -> None:
    """Remove issues."""
    for some in chunks(issue_ids, CHUNK):
        db.execute(delete(issues).where(issues.c.id.in_(some)))
