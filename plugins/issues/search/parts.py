"""What belongs to one issue: occurrences, days, history, tags, groupings, facets."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, Table, and_, func, or_, select

from snaglist.kernel import NotFound
from snaglist.plugins.issues.history import shown
from snaglist.plugins.issues.tables import (
    event_hours,
    grouping_texts,
    groupings,
    issue_facets,
    issues,
    occurrences,
    status_history,
)
from snaglist.plugins.system import rows

FACETS = ("environment", "release", "channel", "host", "user", "source")
VALUES_SHOWN = 20
GROUPINGS_SHOWN = 100  # a learned value may have any number of words

_OCCURRENCE = [column for column in occurrences.c if column.name != "words"]
_SOURCE = ("path", "log_type", "channel")
_STATE = ("id", "status", "count", "stored_occurrences", "users", "last_seen", "updated_at")
_GROUPING = [column for column in groupings.c if column.name not in ("issue_id", "module_id", "created_at")]


def occurrence_page(
    db: Connection, sources: Table, issue_id: int, limit: int, *, offset: int = 0, after: tuple[str, int] | None = None
) -> Sequence[Row[Any]]:
    """Return occurrences with their source, newest first."""
    statement = (
        _with_source(sources)
        .where(occurrences.c.issue_id == issue_id)
        .order_by(occurrences.c.occurred_at.desc(), occurrences.c.id.desc())
        .limit(limit)
        .offset(offset)
    )
    if after:
        moment, occurrence_id = after
        earlier = or_(occurrences.c.occurred_at < moment, occurrences.c.id < occurrence_id)
        statement = statement.where(and_(occurrences.c.occurred_at <= moment, earlier))
    return list(db.execute(statement))


def occurrences_with(db: Connection, sources: Table, ids: Sequence[int]) -> Sequence[Row[Any]]:
    """Return occurrences with their source, in no order."""
    return rows.among(db, _with_source(sources), occurrences.c.id, ids)


def _with_source(sources: Table) -> Select[Any]:
    return (
        select(*_OCCURRENCE, grouping_texts.c.body.label("layout"), *(sources.c[name] for name in _SOURCE))
        .join_from(occurrences, sources, sources.c.id == occurrences.c.source_id)
        .outerjoin(grouping_texts, grouping_texts.c.id == occurrences.c.layout_id)
    )


def one_occurrence(db: Connection, occurrence_id: int) -> Row[Any] | None:
    """Return an occurrence."""
    return db.execute(select(occurrences).where(occurrences.c.id == occurrence_id)).first()


def sample_occurrence_id(db: Connection, issue_id: int) -> int | None:
    """Return the occurrence that the issue's samples are from."""
    return db.execute(select(issues.c.sample_occurrence_id).where(issues.c.id == issue_id)).scalar()


def days(db: Connection, issue_id: int) -> list[dict[str, Any]]:
    """Return the events per UTC day, ascending."""
    day = func.substr(event_hours.c.hour, 1, 10).label("day")
    statement = select(day, func.sum(event_hours.c.count).label("events")).where(event_hours.c.issue_id == issue_id)
    found = db.execute(statement.group_by(day).order_by(day))
    return [{"day": row.day, "count": int(row.events)} for row in found]


def history(db: Connection, issue_id: int) -> list[dict[str, Any]]:
    """Return the status history, newest first."""
    mine = status_history.c.issue_id == issue_id
    order = (status_history.c.created_at.desc(), status_history.c.id.desc())
    return [shown(row) for row in db.execute(select(status_history).where(mine).order_by(*order)).mappings()]


def state(db: Connection, issue_id: int) -> dict[str, Any]:
    """Return the counters of an issue, its status, and the newest row of its history."""
    newest = select(func.max(status_history.c.id)).where(status_history.c.issue_id == issue_id)
    columns = [issues.c[name] for name in _STATE]
    row = db.execute(select(*columns, newest.scalar_subquery().label("last_history_id")).where(issues.c.id == issue_id))
    if (found := row.mappings().first()) is None:  # deleted between two statements
        raise NotFound("Unknown issue.")
    return dict(found)


def keys(db: Connection, issue_id: int) -> list[dict[str, Any]]:
    """Return the first groupings: why events came to this issue."""
    mine = groupings.c.issue_id == issue_id
    statement = select(*_GROUPING).where(mine).order_by(groupings.c.id).limit(GROUPINGS_SHOWN)
    return [dict(row) for row in db.execute(statement).mappings()]


def facets(db: Connection, issue_id: int) -> Mapping[str, list[dict[str, Any]]]:
    """Return the most frequent values of each facet."""
    statement = (
        select(issue_facets.c.facet, issue_facets.c.value, issue_facets.c.count.label("events"))
        .where(issue_facets.c.issue_id == issue_id)
        .order_by(issue_facets.c.count.desc(), issue_facets.c.value)
    )
    found: dict[str, list[dict[str, Any]]] = {facet: [] for facet in FACETS}
    for facet, value, events in db.execute(statement):
        values = found.setdefault(facet, [])
        if len(values) < VALUES_SHOWN:
            values.append({"value": value, "count": events})
    return found
