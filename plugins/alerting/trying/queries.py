"""SQL of dry runs; all of it reads what is stored, and is bounded by the days looked at and by a limit."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, or_, select

from snaglist.plugins.alerting.rules import about
from snaglist.plugins.issues import OTHER, stored
from snaglist.plugins.logs import stored as of_logs
from snaglist.plugins.tags import tagged

_issues, _occurrences, _sources = stored.issues, stored.occurrences, of_logs.sources
_history, _facets = stored.history, stored.facets


def issues_since(db: Connection, rule: Row[Any], since: str, min_count: int, limit: int) -> Sequence[Row[Any]]:
    """Return ingested issues that were seen since a time and that a rule could be about, the latest first."""
    wanted = [_issues.last_seen >= since, _issues.origin == "ingested", _issues.count >= min_count]
    names = ("id", "severity", "title", "count")
    columns = [_issues[name] for name in names]
    rows = select(*columns).where(*wanted, *_about(rule)).order_by(_issues.last_seen.desc(), _issues.id.desc())
    return db.execute(rows.limit(limit)).all()


def events_of(db: Connection, rule: Row[Any], issue_id: int, since: str, limit: int) -> list[str]:
    """Return the times of an issue's latest stored events that a rule is about, in order."""
    wanted = [_occurrences.issue_id == issue_id, _occurrences.occurred_at >= since, *about(rule, _occurrences)]
    rows = select(_occurrences.occurred_at).where(*wanted)
    latest = rows.order_by(_occurrences.occurred_at.desc(), _occurrences.id.desc()).limit(limit)
    return list(db.execute(latest).scalars())[::-1]


def stored_since(db: Connection, issue_id: int, since: str, limit: int) -> list[tuple[str, str, str]]:
    """Return time, severity and environment of an issue's latest stored events, in the order of their times."""
    here = (_occurrences.issue_id == issue_id, _occurrences.occurred_at >= since)
    rows = select(_occurrences.occurred_at, _occurrences.severity, _occurrences.environment).where(*here)
    latest = rows.order_by(_occurrences.occurred_at.desc(), _occurrences.id.desc()).limit(limit)
    return [(row[0], row[1], row[2]) for row in db.execute(latest)][::-1]


def when_users_reached(db: Connection, issue_id: int, number: int) -> str | None:
    """Return the time of the event with which an issue reached a number of users; None while it has fewer."""
    of_users = (_facets.issue_id == issue_id, _facets.facet == "user", _facets.value != OTHER)
    in_order = select(_facets.first_seen).where(*of_users).order_by(_facets.first_seen, _facets.value_hash)
    return db.execute(in_order.offset(number - 1).limit(1)).scalar()


def returns_since(db: Connection, issue_id: int, since: str) -> list[str]:
    """Return when an issue came back after a fix."""
    here = (_history.issue_id == issue_id, _history.created_at >= since, _history.event == "reoccurrence")
    return list(db.execute(select(_history.created_at).where(*here).order_by(_history.created_at)).scalars())


def received_since(db: Connection, rule: Row[Any], since: str, limit: int) -> Iterator[str]:
    """Return when stored events that a heartbeat is about were received, the latest first."""
    here = (_sources.id == _occurrences.source_id, _occurrences.received_at >= since)
    rows = select(_occurrences.received_at).where(*here, *about(rule, _occurrences))
    if rule.source is not None:
        in_path = _sources.path.contains(rule.source, autoescape=True)
        rows = rows.where(or_(_sources.channel == rule.source, in_path))
    if rule.module_id is not None:
        rows = rows.where(_sources.module_id == rule.module_id)
    yield from db.execute(rows.order_by(_occurrences.id.desc()).limit(limit)).scalars()


def _about(rule: Row[Any]) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if rule.module_id is not None:
        found.append(_issues.module_id == rule.module_id)
    if rule.tag_id is not None:
        found.append(_issues.id.in_(tagged(rule.tag_id)))
    return found
