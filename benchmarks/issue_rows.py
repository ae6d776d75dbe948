"""Rows of issues and their events to measure reading with, written straight to the tables."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, String, Table, text

from snaglist.kernel import digest, key, times
from snaglist.kernel.database import upsert
from snaglist.kernel.service import Service
from snaglist.plugins.issues import RANK, tables
from snaglist.plugins.issues.values.index import indexed_at_once
from snaglist.plugins.issues.values.layouts import SEPARATOR
from snaglist.plugins.issues.values.words import index_words, words_of
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.system import insert_rows
from snaglist.plugins.tags import tables as tag_tables

SPAN_DAYS = 60
_NOW = datetime.now(UTC).replace(microsecond=0)
DAYS = [(_NOW - timedelta(days=SPAN_DAYS - 1 - n)).strftime("%Y-%m-%d") for n in range(SPAN_DAYS)]
LONG_AGO = (_NOW - timedelta(days=400)).strftime("%Y-%m-%d")  # every 1,000th issue had its first event then
BATCH = 5_000
FILES = 20
ORDERS_FROM = 5_000_000
_WORDS = [f"{a}{b}" for a in ("order", "mail", "cache", "user", "disk", "page") for b in "abcdefghijklmnopqrst"]
_SEVERITIES = ["ERROR"] * 60 + ["WARNING"] * 30 + ["CRITICAL"] * 9 + ["ALERT"]
_STATUSES = ["open"] * 70 + ["fixed"] * 15 + ["wont_fix"] * 10 + ["in_progress"] * 4 + ["reoccurred"]


def fill(service: Service, issues: int, events: int) -> None:
    """Write issues with events over the last 60 days; the first issue has a tenth of all events."""
    chance = random.Random(11)
    call = service.call()
    with call.transaction() as db:
        _fixed_rows(db)
    position = 0
    for start in range(1, issues + 1, BATCH):
        ids = range(start, min(start + BATCH, issues + 1))
        with call.transaction() as db:
            position = _issues(db, ids, _events(chance, ids, issues, events), chance, position)
    _wait_for_statistics(service)


def _wait_for_statistics(service: Service) -> None:
    """Wait until PostgreSQL looked at the rows by itself, as it did at a user's; the others have done so already."""
    looked = text("SELECT count(*) FROM pg_stat_user_tables WHERE relname = 'issues' AND schemaname = :name"
                  " AND last_autoanalyze IS NOT NULL")  # fmt: skip
    while service.database.engine_name == "postgresql":
        with service.call().transaction() as db:
            if db.exec_driver_sql("SHOW autovacuum").scalar_one() == "off":  # a server for tests alone
                db.exec_driver_sql("ANALYZE")
                return
            if db.execute(looked, {"name": service.applications.all()[0].tenant}).scalar_one():
                return
        time.sleep(2)


def _fixed_rows(db: Connection) -> None:
    made = {"created_at": times.now(), "updated_at": times.now()}
    modules = [{"id": n, "name": name, "name_key": key(name), "slug": key(name), "color": "#6366f1", **made}
               for n, name in enumerate(("Billing", "Shop"), 1)]  # fmt: skip
    insert_rows(db, tables.modules, modules)
    tags = [{"id": n, "name": name, "name_key": name, "color": "#64748b", "icon": "tag", **made}
            for n, name in enumerate(("common", "rare"), 1)]  # fmt: skip
    insert_rows(db, tag_tables.tags, [{**tag, "created_by": None, "updated_by": None} for tag in tags])
    # Columns that reading does not look at: NULL, nothing or zero.
    unused = {column.name: None if column.nullable else "" if isinstance(column.type, String) else 0
              for column in log_tables.sources.c}  # fmt: skip
    insert_rows(
        db,
        log_tables.sources,
        [
            {**unused, "id": n, "path": _path(n), "path_hash": digest(_path(n)), "generation": 1, "node": "n",
             "log_type": "monolog", "channel": f"app-{n}.log", "encoding": "utf-8", "timezone": "UTC",
             "parser_version": 1, "status": "ok", "imported_at": times.now(), "created_at": times.now()}
            for n in range(1, FILES + 1)
        ],
    )  # fmt: skip


def _path(number: int) -> str:
    return f"/var/log/shop/app-{number}.log"


def _events(chance: random.Random, ids: Sequence[int], issues: int, events: int) -> Iterator[tuple[int, list[str]]]:
    """Give each issue its times, most of them shortly after each other."""
    each = max(1, int(events * 0.9) // issues)
    for issue_id in ids:
        number = events // 10 if issue_id == 1 else each + chance.randrange(-each // 2, each // 2 + 1)
        last = chance.random() ** 2 * SPAN_DAYS * 86_400
        reach = SPAN_DAYS * 86_400 if issue_id == 1 else 86_400 * 5
        moments = sorted(min(last + chance.random() * reach, SPAN_DAYS * 86_400 - 1) for _ in range(max(1, number)))
        shown = [(_NOW - timedelta(seconds=int(ago))).strftime("%Y-%m-%d %H:%M:%S") for ago in moments]
        yield issue_id, [*shown, f"{LONG_AGO} 10:20:30"] if issue_id % 1_000 == 3 else shown


def _issues(
    db: Connection, ids: Sequence[int], seen: Iterator[tuple[int, list[str]]], chance: random.Random, position: int
) -> int:
    rows: defaultdict[Table, list[Mapping[str, Any]]] = defaultdict(list)
    totals: Counter[tuple[str, str, str]] = Counter()
    counted: Counter[tuple[str, str, str]] = Counter()
    days: Counter[tuple[str, str]] = Counter()
    for issue_id, moments in seen:
        issue = _issue(issue_id, moments, chance)
        rows[tables.issues].append(issue)
        place = (issue["status"], issue["severity"], issue["log_type"])
        totals[place] += 1
        counted[place] += len(moments)
        stack = f'File "app.py", line {issue_id}\n' * 20 if issue_id % 3 else None
        message = f"{issue['title']}\n" + "detail " * 40
        texts = {"message": message, "stack": stack, "context": '{"order": 4711}', "exceptions": None}
        rows[tables.issue_samples].append({"issue_id": issue_id, **texts})
        span = {"first_seen": moments[-1], "last_seen": moments[0]}
        grouping = {"id": issue_id, "issue_id": issue_id, "module_id": issue["module_id"], "key": f"-|text|{issue_id}"}
        grouping |= {"fingerprint": issue["fingerprint"], "fingerprint_version": 1, "parts": {}, "count": len(moments)}
        rows[tables.groupings].append({**grouping, **span, "created_at": moments[-1]})
        for hour, number in Counter(map(times.hour, moments)).items():
            rows[tables.event_hours].append(
                {"grouping_id": issue_id, "hour": hour, "issue_id": issue_id, "count": number}
            )
        source = issue_id % FILES + 1
        facets = {"environment": issue["environment"], "channel": issue["channel"], "source": _path(source)}
        if issue_id % 10 == 0:
            facets["release"] = f"v2.{issue_id % 50}"
        for facet, value in facets.items():
            row = {"issue_id": issue_id, "facet": facet, "value": value, "value_hash": digest(value)}
            rows[tables.issue_facets].append({**row, "count": len(moments), **span})
        for moment in moments:
            days[moment[:10], issue["severity"]] += 1
            rows[tables.occurrences].append(_occurrence(issue, source, moment, position, chance))
            position += 100
        rows[tables.grouping_texts] += _texts(issue)
        tag_ids = [1] * (issue_id % 3 == 0) + [2] * (issue_id % 5_000 == 0)
        for tag_id in tag_ids:
            link = {"issue_id": issue_id, "tag_id": tag_id, "source": "rule"}
            rows[tag_tables.issue_tags].append({**link, "created_at": moments[0], "created_by": None})
    for table in (tables.issues, tables.issue_samples, tables.groupings, tables.event_hours, tables.issue_facets,
                  tables.occurrences, tables.grouping_texts, tag_tables.issue_tags):  # fmt: skip
        with indexed_at_once(db, table) if table is tables.occurrences else nullcontext():
            insert_rows(db, table, rows[table])
    _count(db, totals, counted, days)
    return position


def _issue(issue_id: int, moments: Sequence[str], chance: random.Random) -> dict[str, Any]:
    needle = " needle" if issue_id % 9_973 == 7 else ""
    title = f"{chance.choice(_WORDS)} {chance.choice(_WORDS)} {issue_id} failed{needle}: {chance.choice(_WORDS)}"
    severity, status = chance.choice(_SEVERITIES), chance.choice(_STATUSES)
    manual = issue_id % 1_000 == 0
    raised, frame = f"Error{issue_id % 100}", f"app/{issue_id % 500}.py:{issue_id % 90}"
    assigned = ("7", "Ana") if issue_id % 40 == 0 else (None, None)
    return {
        **dict.fromkeys(column.name for column in tables.issues.c if column.nullable),
        "id": issue_id,
        "origin": "manual" if manual else "ingested",
        "kind": "task" if manual else "error",
        "module_id": (1, 2, None, None)[issue_id % 4],
        "severity": severity,
        "severity_rank": RANK[severity],
        "environment": "staging" if issue_id % 7 == 0 else "production",
        "log_type": ("monolog", "console", "json")[issue_id % 3],
        "channel": "worker" if issue_id % 6 == 0 else "app.log",
        "title": title,
        "exception_class": raised,
        "source_frame": frame,
        "fingerprint": digest(str(issue_id)),
        "count": len(moments),
        "stored_occurrences": len(moments),
        "first_seen": moments[-1],
        "last_seen": moments[0],
        "search_text": key(f"{title}\n{raised}\n{frame}\napp.log\n{title}\n" + "detail " * 40),
        "status": status,
        "snoozed_until": "2999-01-01 00:00:00" if issue_id % 200 == 0 else None,
        "assignee": f"person {issue_id % 70}" if issue_id % 30 == 0 else None,
        "assigned_to_id": assigned[0],
        "assigned_to_label": assigned[1],
        "created_at": moments[-1],
        "updated_at": moments[0],
    }


def _occurrence(
    issue: Mapping[str, Any], source: int, moment: str, position: int, chance: random.Random
) -> dict[str, Any]:
    # Each order is of one event; that of the position 100 times a million stands for the one that is looked for.
    values = (f"{ORDERS_FROM + position // 100}", f"{chance.randrange(1, 9_999)} ms", f"web-{chance.randrange(20)}")
    return {
        "issue_id": issue["id"], "grouping_id": issue["id"], "source_id": source, "occurred_at": moment,
        "received_at": moment, "time_source": "event", "level_source": "line", "severity": issue["severity"],
        "environment": issue["environment"], "release": None, "server_name": "web-1", "user_name": None,
        "event_id": None, "layout_id": 2 * issue["id"], "slots": SEPARATOR.join(values),
        "words": index_words(words_of(" ".join(values))),
        "byte_start": position, "byte_end": position + 100, "provisional": False, "truncated": False,
        "context_preview": None,
    }  # fmt: skip


def _texts(issue: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the layout of the issue's messages, and a stack."""
    layout = (f"{issue['title']}: order ", " failed after ", " on ", "")
    stack = f"{issue['exception_class']}\nhandle_{issue['id']} {issue['source_frame'].replace(':', ' ')}"
    return [
        {
            "id": 2 * issue["id"] + number, "grouping_id": issue["id"], "kind": kind, "digest": f"{issue['id']}",
            "body": body, "words": index_words(words_of(body)),
        }
        for number, (kind, body) in enumerate((("layout", SEPARATOR.join(layout)), ("stack", stack)))
    ]  # fmt: skip


def _count(db: Connection, totals: Counter[Any], counted: Counter[Any], days: Counter[Any]) -> None:
    rows = [
        {"status": place[0], "severity": place[1], "log_type": place[2], "issues": n, "occurrences": counted[place]}
        for place, n in sorted(totals.items())
    ]
    upsert(db, tables.issue_totals, rows, add=("issues", "occurrences"))
    by_day = [{"day": day, "severity": severity, "count": n} for (day, severity), n in sorted(days.items())]
    upsert(db, tables.event_days, by_day, add=("count",))
