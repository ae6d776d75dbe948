"""A desk to store events at and to look at the tables afterwards, on each of the three databases."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import ColumnElement, Connection, Table, and_, func, insert, select

from snaglist.kernel import Call, digest
from snaglist.kernel.database import inserted_id
from snaglist.kernel.service import Service
from snaglist.plugins.issues import Event, EventSource, StoredBatch, store_events, tables
from snaglist.plugins.logs import tables as log_tables

SOURCE = {
    "generation": 1,
    "node": "web-1",
    "size": 0,
    "offset": 0,
    "prefix_hash": "",
    "prefix_length": 0,
    "block_hash": "",
    "content_hash": "",
    "log_type": "console",
    "channel": "app.log",
    "family": "app.log",
    "encoding": "utf-8",
    "timezone": "UTC",
    "parser_version": 1,
    "status": "ok",
    "occurrence_count": 0,
    "imported_at": "2026-01-01 00:00:00",
    "created_at": "2026-01-01 00:00:00",
}


class Desk:
    """Stores events and reads tables of the default application."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._position = 0
        self.source = self.add_source("logs/app.log")

    @contextmanager
    def call(self, *, write: bool = True) -> Iterator[Call]:
        """A call with an open transaction."""
        call = self.service.call()
        with call.transaction(write=write):
            yield call

    def add_source(self, path: str, module_id: int | None = None) -> EventSource:
        """Make a source."""
        with self.call() as call:
            row = {**SOURCE, "path": path, "path_hash": digest(path), "module_id": module_id}
            return EventSource(inserted_id(call.db.execute(insert(log_tables.sources).values(row))), module_id, path)

    def store(
        self, *events: Event, source: EventSource | None = None, reoccur: bool = True, move: bool = True
    ) -> StoredBatch:
        """Store events in a transaction; `move` gives them the next free positions in the source."""
        if move:
            for event in events:
                event.byte_start, self._position = self._position, self._position + 100
                event.byte_end = self._position
        with self.call() as call:
            return store_events(call, source or self.source, events, reoccur=reoccur)

    def rows(self, table: Table, *where: ColumnElement[bool]) -> list[dict[str, Any]]:
        """All rows of a table in key order."""
        with self.call(write=False) as call:
            found = call.db.execute(select(table).where(*where).order_by(*table.primary_key.columns))
            return [dict(row) for row in found.mappings()]

    def issue(self, issue_id: int | None = None) -> dict[str, Any]:
        """One issue, or the only one."""
        found = self.rows(tables.issues, *([] if issue_id is None else [tables.issues.c.id == issue_id]))
        assert len(found) == 1, found
        return found[0]

    def history(self, issue_id: int) -> list[dict[str, Any]]:
        """The history of an issue, oldest first."""
        return self.rows(tables.status_history, tables.status_history.c.issue_id == issue_id)

    def check_counters(self) -> None:
        """Fail unless every counter is what counting the rows gives."""
        with self.call() as call:
            _check_counters(call.db)


def _counted(db: Connection, columns: Sequence[Any], value: Any, *where: ColumnElement[bool]) -> dict[Any, Any]:
    rows = db.execute(select(*columns, value).where(*where).group_by(*columns))
    return {tuple(row[:-1]): int(row[-1]) for row in rows}


def _check_counters(db: Connection) -> None:
    issues, events, hours = tables.issues, tables.occurrences, tables.event_hours
    groupings, facets, totals = tables.groupings, tables.issue_facets, tables.issue_totals
    per_issue = _counted(db, [events.c.issue_id], func.count())
    columns = db.execute(select(issues.c.id, issues.c["count"], issues.c.stored_occurrences)).all()
    assert {(row[0],): row[2] for row in columns if row[2]} == per_issue
    assert {(row[0],): row[1] for row in columns if row[1]} == per_issue
    assert _counted(db, [hours.c.issue_id], func.sum(hours.c["count"])) == per_issue
    assert _counted(db, [groupings.c.issue_id], func.sum(groupings.c["count"])) == per_issue
    per_grouping = _counted(db, [events.c.grouping_id], func.count())
    assert _counted(db, [groupings.c.id], func.sum(groupings.c["count"])) == per_grouping
    assert _counted(db, [hours.c.grouping_id], func.sum(hours.c["count"])) == per_grouping
    sources = _counted(db, [facets.c.issue_id], func.sum(facets.c["count"]), facets.c.facet == "source")
    assert sources == per_issue
    for facet, column in (("host", events.c.server_name), ("user", events.c.user_name)):
        counted = _counted(db, [facets.c.issue_id], func.sum(facets.c["count"]), facets.c.facet == facet)
        assert counted == _counted(db, [events.c.issue_id], func.count(), column.is_not(None))
    users = _counted(
        db, [events.c.issue_id], func.count(events.c.user_name.distinct()), events.c.user_name.is_not(None)
    )
    assert {(row.id,): row.users for row in db.execute(select(issues)) if row.users} == users
    texts = tables.grouping_texts
    lost = select(events.c.id).outerjoin(
        texts, and_(texts.c.id == events.c.layout_id, texts.c.grouping_id == events.c.grouping_id)
    )
    assert db.execute(lost.where(texts.c.id.is_(None))).all() == []
    if db.dialect.name == "sqlite":
        for name in ("occurrences_index", "grouping_texts_index"):
            db.exec_driver_sql(f"INSERT INTO {name} ({name}, rank) VALUES ('integrity-check', 1)")
    days = [func.substr(events.c.occurred_at, 1, 10), events.c.severity]
    kept = tables.event_days
    assert _counted(db, [kept.c.day, kept.c.severity], func.sum(kept.c["count"])) == _counted(db, days, func.count())
    key = [issues.c.status, issues.c.severity, issues.c.log_type]
    wanted_issues = _counted(db, key, func.count())
    wanted_events = _counted(db, key, func.sum(issues.c["count"]))
    stored = {tuple(row[:3]): (row[3], row[4]) for row in db.execute(select(totals)) if row[3] or row[4]}
    assert stored == {name: (number, wanted_events[name]) for name, number in wanted_issues.items()}
    spans = db.execute(
        select(events.c.issue_id, func.min(events.c.occurred_at), func.max(events.c.occurred_at)).group_by(
            events.c.issue_id
        )
    )
    seen = {row.id: (row.first_seen, row.last_seen) for row in db.execute(select(issues))}
    assert all(seen[issue_id] == (first, last) for issue_id, first, last in spans)


@pytest.fixture
def desk(service: Service) -> Desk:
    """A desk on each of the three databases."""
    return Desk(service)


@pytest.fixture
def sqlite_desk(sqlite_service: Service) -> Desk:
    """A desk on SQLite."""
    return Desk(sqlite_service)
