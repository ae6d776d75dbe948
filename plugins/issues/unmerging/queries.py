"""Statements of taking a grouping out of an issue."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, RowMapping, Table, delete, func, insert, select, update

from snaglist.kernel import digest
from snaglist.kernel.database import inserted_id
from snaglist.plugins.issues.facets import OTHER, Facet, Span, add_facets, count_users
from snaglist.plugins.issues.tables import (
    event_hours,
    groupings,
    issue_aliases,
    issue_facets,
    issue_samples,
    issues,
    occurrences,
)


def lock_groupings(db: Connection, issue_id: int) -> list[RowMapping]:
    """Lock the groupings of an issue, in the order in which storing locks them, and return them."""
    statement = select(groupings).where(groupings.c.issue_id == issue_id).order_by(groupings.c.fingerprint)
    return list(db.execute(statement.with_for_update()).mappings())


def lock_issue(db: Connection, issue_id: int) -> RowMapping | None:
    """Lock an issue and return its row."""
    return db.execute(select(issues).where(issues.c.id == issue_id).with_for_update()).mappings().first()


def add_issue(db: Connection, row: Mapping[str, Any]) -> int:
    """Insert an issue."""
    return inserted_id(db.execute(insert(issues).values(row)))


def move_grouping(db: Connection, grouping_id: int, issue_id: int, new_id: int) -> int:
    """Give a grouping with events and ids that follow it to another issue; returns the number of stored events."""
    following = (issue_aliases.c.issue_id == issue_id, issue_aliases.c.grouping_id == grouping_id)
    db.execute(update(issue_aliases).where(*following).values(issue_id=new_id))
    db.execute(update(groupings).where(groupings.c.id == grouping_id).values(issue_id=new_id))
    db.execute(update(event_hours).where(event_hours.c.grouping_id == grouping_id).values(issue_id=new_id))
    # By issue, because occurrences are found by it.
    mine = (occurrences.c.issue_id == issue_id, occurrences.c.grouping_id == grouping_id)
    return db.execute(update(occurrences).where(*mine).values(issue_id=new_id)).rowcount


def latest_occurrence(db: Connection, sources: Table, issue_id: int) -> Row[Any] | None:
    """Return the latest stored event of an issue, with its source's log type and channel."""
    statement = (
        select(occurrences, sources.c.log_type, sources.c.channel)
        .join_from(occurrences, sources, sources.c.id == occurrences.c.source_id)
        .where(occurrences.c.issue_id == issue_id)
        .order_by(occurrences.c.occurred_at.desc(), occurrences.c.id.desc())
        .limit(1)
    )
    return db.execute(statement).first()


def move_facets(db: Connection, sources: Table, issue_id: int, new_id: int) -> None:
    """Move what the new issue's stored events counted; events that are stored no more stay counted where they were."""
    held = db.execute(select(issue_facets).where(issue_facets.c.issue_id == issue_id)).mappings()
    counts = {(row["facet"], row["value"]): row["count"] for row in held}
    moved: dict[Facet, Span] = {}
    moment = occurrences.c.occurred_at
    told = {"environment": occurrences.c.environment, "release": occurrences.c.release}
    told |= {"host": occurrences.c.server_name, "user": occurrences.c.user_name}
    told |= {"channel": sources.c.channel, "source": sources.c.path}
    for facet, column in told.items():
        statement = (
            select(column, func.count(), func.min(moment), func.max(moment))
            .join_from(occurrences, sources, sources.c.id == occurrences.c.source_id)
            .where(occurrences.c.issue_id == new_id, column.is_not(None))
            .group_by(column)
        )
        for value, number, first, last in db.execute(statement):
            if (known := _counted_as(counts, facet, value)) is not None:
                span = moved.setdefault((facet, known), Span(0, first, last))
                span.include(Span(int(number), first, last))
    for (facet, value), span in moved.items():
        span.count = min(span.count, counts[facet, value])
        mine = (
            issue_facets.c.issue_id == issue_id,
            issue_facets.c.facet == facet,
            issue_facets.c.value_hash == digest(value),
        )
        db.execute(update(issue_facets).where(*mine).values(count=issue_facets.c["count"] - span.count))
    db.execute(delete(issue_facets).where(issue_facets.c.issue_id == issue_id, issue_facets.c["count"] <= 0))
    add_facets(db, {new_id: moved})
    count_users(db, [issue_id])


def _counted_as(counts: Mapping[Facet, int], facet: str, value: str) -> str | None:
    """Return the value under which events were counted.

    Occurrences do not keep the channel that a line itself names: then the issue's most frequent one is taken.
    """
    if (facet, value) in counts:
        return value
    others = {known: count for (name, known), count in counts.items() if name == facet}
    if facet != "channel":
        return OTHER if OTHER in others else None
    return max(others, key=lambda known: (others[known], known), default=None)


def update_issue(db: Connection, issue_id: int, columns: Mapping[str, Any]) -> None:
    """Write columns of an issue."""
    db.execute(update(issues).where(issues.c.id == issue_id).values(columns))


def add_sample(db: Connection, row: Mapping[str, Any]) -> None:
    """Write the sample texts of a new issue."""
    db.execute(insert(issue_samples).values(row))


def replace_sample(db: Connection, issue_id: int, columns: Mapping[str, Any]) -> None:
    """Replace the sample texts of an issue."""
    db.execute(update(issue_samples).where(issue_samples.c.issue_id == issue_id).values(columns))
