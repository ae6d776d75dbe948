"""Rows for the tests of the reading side, written with plain inserts: what storing them does is tested elsewhere."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import insert

from snaglist.kernel import digest, key, times
from snaglist.kernel.columns import metadata
from snaglist.kernel.database import inserted_id, upsert
from snaglist.kernel.service import Service
from snaglist.plugins.issues import tables
from snaglist.plugins.issues.events import RANK
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.tags import tables as tag_tables

CREATED = "2026-01-01 00:00:00"
NULLABLE = [column.name for column in tables.issues.c if column.nullable]
Event = Mapping[str, Any]


class Rows:
    """Writes modules, tags and issues with their events; every method commits."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.sources: dict[str, int] = {}
        self.position = 0

    def insert(self, table: str, **values: Any) -> int:
        call = self.service.call()
        with call.transaction() as db:
            return self._insert(db, table, values)

    def total(self, **values: Any) -> None:
        """Add a row of `issue_totals`."""
        with self.service.call().transaction() as db:
            db.execute(insert(tables.issue_totals), values)

    def module(self, name: str, slug: str) -> int:
        row = {"name": name, "name_key": key(name), "slug": slug, "color": "#6366f1"}
        return self.insert("modules", **row, created_at=CREATED, updated_at=CREATED)

    def tag(self, name: str, **fields: Any) -> int:
        row = {"name": name, "name_key": key(name), "color": "#64748b", "icon": "tag", "created_by": "Local"}
        return self.insert(
            "tags", **{**row, "updated_by": None, "created_at": CREATED, "updated_at": CREATED, **fields}
        )

    def issue(
        self,
        title: str = "Order 4711 failed",
        events: Sequence[str | Event] = ("2026-01-03 10:00:00",),
        *,
        message: str | None = None,
        stack: str | None = None,
        context: str | None = None,
        exceptions: list[dict[str, Any]] | None = None,
        tags: Mapping[int, str] | None = None,
        **fields: Any,
    ) -> int:
        """Add an issue with events: times, or mappings with `at` and columns of the occurrence, channel and path."""
        seen = [{"at": event} if isinstance(event, str) else dict(event) for event in events]
        at = sorted(event["at"] for event in seen)
        row: dict[str, Any] = dict.fromkeys(NULLABLE)
        row |= {
            "origin": "ingested",
            "kind": "error",
            "severity": "ERROR",
            "environment": "production",
            "log_type": "monolog",
            "channel": "app.log",
            "title": title,
            "fingerprint": digest(title),
            "count": len(seen),
            "stored_occurrences": len(seen),
            "first_seen": at[0] if at else CREATED,
            "last_seen": at[-1] if at else CREATED,
            "status": "open",
            "created_at": at[0] if at else CREATED,
            "updated_at": at[-1] if at else CREATED,
        }
        row |= fields
        row["severity_rank"] = RANK[row["severity"]]
        searched = [title, row["exception_class"] or "", row["source_frame"] or "", row["channel"], message or title]
        row["search_text"] = key("\n".join(searched))
        call = self.service.call()
        with call.transaction() as db:
            issue_id = self._insert(db, "issues", row)
            texts = {"message": message or title, "stack": stack, "context": context, "exceptions": exceptions}
            db.execute(insert(tables.issue_samples), {"issue_id": issue_id, **texts})
            if seen:
                self._events(db, issue_id, row, seen)
            for tag_id, source in (tags or {}).items():
                link = {"issue_id": issue_id, "tag_id": tag_id, "source": source}
                db.execute(insert(tag_tables.issue_tags), {**link, "created_at": CREATED, "created_by": None})
            total = {"status": row["status"], "severity": row["severity"], "log_type": row["log_type"]}
            upsert(
                db,
                tables.issue_totals,
                [{**total, "issues": 1, "occurrences": row["count"]}],
                add=("issues", "occurrences"),
            )
        return issue_id

    def manual(self, title: str, created_at: str, **fields: Any) -> int:
        """Add an issue without events, made by hand."""
        made = dict.fromkeys(("first_seen", "last_seen", "created_at", "updated_at"), created_at)
        kinds = {"origin": "manual", "kind": "issue", "log_type": "manual", "channel": "manual", "environment": "local"}
        return self.issue(title, [], **{**kinds, **made, **fields})

    def source(self, path: str, db: Any = None, **fields: Any) -> int:
        """Return the id of a source, added when it is new."""
        if path not in self.sources:
            row = {column.name: None for column in log_tables.sources.c if column.nullable}
            row |= dict.fromkeys(("identity", "prefix_hash", "block_hash", "content_hash", "family"), "")
            row |= dict.fromkeys(("size", "offset", "prefix_length", "occurrence_count"), 0)
            row |= {"path": path, "path_hash": digest(path), "generation": 1, "node": "node", "log_type": "monolog"}
            row |= {"channel": "app.log", "encoding": "utf-8", "timezone": "UTC", "parser_version": 1, "status": "ok"}
            row |= {"imported_at": CREATED, "created_at": CREATED, **fields}
            self.sources[path] = self._insert(db, "sources", row) if db is not None else self.insert("sources", **row)
        return self.sources[path]

    def _events(self, db: Any, issue_id: int, issue: Mapping[str, Any], events: Sequence[Event]) -> None:
        seen = {"first_seen": issue["first_seen"], "last_seen": issue["last_seen"]}
        text = f"-|text|{issue['title']}"
        parts = {"module": None, "family": "text", "template": issue["title"]}
        grouping = {"issue_id": issue_id, "module_id": None, "fingerprint": issue["fingerprint"], "key": text}
        grouping |= {"fingerprint_version": 1, "parts": parts, "count": len(events), "created_at": CREATED, **seen}
        grouping_id = self._insert(db, "groupings", grouping)
        hours = Counter(times.hour(event["at"]) for event in events)
        db.execute(
            insert(tables.event_hours),
            [
                {"grouping_id": grouping_id, "issue_id": issue_id, "hour": hour, "count": count}
                for hour, count in sorted(hours.items())
            ],
        )
        facets: Counter[tuple[str, str]] = Counter()
        days: Counter[tuple[str, str]] = Counter()
        for event in events:
            shown = {"environment": issue["environment"], "release": None, "channel": issue["channel"]}
            shown |= {"path": "/srv/log/app.log", "severity": issue["severity"], **event}
            source_id = self.source(shown["path"], db)
            occurrence = {name: shown[name] for name in ("environment", "release", "severity")}
            occurrence |= {"issue_id": issue_id, "grouping_id": grouping_id, "source_id": source_id}
            occurrence |= {"occurred_at": shown["at"], "received_at": CREATED, "time_source": "event"}
            occurrence |= {"server_name": shown.get("server_name"), "event_id": shown.get("event_id")}
            occurrence |= {"byte_start": self.position, "byte_end": self.position + 40, "provisional": False}
            occurrence |= {"truncated": False, "context_preview": shown.get("context_preview")}
            self.position += 40
            sample = self._insert(db, "occurrences", occurrence)
            for facet in ("environment", "release", "channel"):
                if shown[facet]:
                    facets[facet, shown[facet]] += 1
            facets["source", shown["path"]] += 1
            days[shown["at"][:10], shown["severity"]] += 1
        issues = tables.issues
        db.execute(issues.update().where(issues.c.id == issue_id).values(sample_occurrence_id=sample))
        db.execute(
            insert(tables.issue_facets),
            [
                {"issue_id": issue_id, "facet": facet, "value": value, "value_hash": digest(value), "count": count}
                | seen
                for (facet, value), count in sorted(facets.items())
            ],
        )
        counted = [{"day": day, "severity": severity, "count": n} for (day, severity), n in sorted(days.items())]
        upsert(db, tables.event_days, counted, add=("count",))

    def _insert(self, db: Any, table: str, values: Mapping[str, Any]) -> int:
        return inserted_id(db.execute(insert(metadata.tables[table]), values))


@pytest.fixture
def rows(service: Service) -> Iterator[Rows]:
    """Rows of `service`."""
    return Rows(service)


@pytest.fixture
def sqlite_rows(sqlite_service: Service) -> Iterator[Rows]:
    """Rows of `sqlite_service`."""
    return Rows(sqlite_service)
