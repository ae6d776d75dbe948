"""Statements of a merge."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, func, select, update

from snaglist.plugins.issues.facets import Facet, Span
from snaglist.plugins.issues.row_updates import update_rows
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
from snaglist.plugins.system import insert_rows, rows

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
    locked = select(groupings.c.id).order_by(groupings.c.fingerprint).with_for_update()
    rows.among(db, locked, groupings.c.issue_id, issue_ids)


def lock_issues(db: Connection, issue_ids: Sequence[int]) -> dict[int, RowMapping]:
    """Lock issues and return their rows."""
    locked = select(issues).order_by(issues.c.id).with_for_update()
    return {row.id: row._mapping for row in rows.among(db, locked, issues.c.id, issue_ids)}


def joined_facets(db: Connection, issue_ids: Sequence[int]) -> dict[Facet, Span]:
    """Return the facets of issues, added up."""
    joined: dict[Facet, Span] = {}
    oldest_first = select(issue_facets).order_by(issue_facets.c.first_seen)
    for row in rows.among(db, oldest_first, issue_facets.c.issue_id, issue_ids):
        span = Span(row._mapping["count"], row.first_seen, row.last_seen)
        if known := joined.get((row.facet, row.value)):
            known.include(span)
        else:
            joined[row.facet, row.value] = span
    return joined


def move_rows(db: Connection, issue_ids: Sequence[int], target_id: int) -> None:
    """Give the rows of issues to the target, and make their ids mean it."""
    followed = _largest_groupings(db, issue_ids)
    for table in _MOVED:
        rows.among(db, update(table).values(issue_id=target_id), table.c.issue_id, issue_ids)
    aliases = [{"old_id": each, "issue_id": target_id, "grouping_id": followed.get(each)} for each in issue_ids]
    insert_rows(db, issue_aliases, aliases)


def _largest_groupings(db: Connection, issue_ids: Sequence[int]) -> dict[int, int]:
    """Return by issue the grouping that has most of its events; of equal ones the oldest."""
    largest_last = select(groupings.c.issue_id, groupings.c.id).order_by(groupings.c["count"], groupings.c.id.desc())
    return {row.issue_id: row.id for row in rows.among(db, largest_last, groupings.c.issue_id, issue_ids)}


def move_sample(db: Connection, issue_id: int, target_id: int) -> None:
    """Replace the target's sample texts by those of another issue."""
    db.execute(delete(issue_samples).where(issue_samples.c.issue_id == target_id))
    db.execute(update(issue_samples).where(issue_samples.c.issue_id == issue_id).values(issue_id=target_id))


def show_newest(db: Connection, issue_ids: Iterable[int]) -> None:
    """Let issues show the fingerprint of their newest grouping."""
    newest = select(func.max(groupings.c.id)).group_by(groupings.c.issue_id)
    ids = [row[0] for row in rows.among(db, newest, groupings.c.issue_id, issue_ids)]
    shown = select(groupings.c.issue_id.label("row_id"), groupings.c.fingerprint)
    update_rows(db, issues, [row._mapping for row in rows.among(db, shown, groupings.c.id, ids)])


def update_issue(db: Connection, issue_id: int, columns: Mapping[str, Any]) -> None:
    """Write columns of an issue."""
    db.execute(update(issues).where(issues.c.id == issue_id).values(columns))


def remove_issues(db: Connection, issue_ids: Sequence[int]) -> None:
    """Remove issues."""
    rows.among(db, delete(issues), issues.c.id, issue_ids)
