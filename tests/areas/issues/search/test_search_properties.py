"""What must hold of lists whatever they hold: walks under writes, exports, and statements that scan no events."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, event, select, text
from sqlalchemy.engine import Engine

from snaglist.plugins.issues import tables
from snaglist.testing import Client

SORTS = ("newest", "oldest", "first_seen", "occurrences", "trend")
SCOPES: tuple[dict[str, str], ...] = ({}, {"from": "2026-01-01", "to": "2026-01-09"})
MOMENTS = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 23)).map(lambda at: f"2026-01-{at[0]:02} {at[1]:02}:30:00"),
    min_size=1,
    max_size=3,
)


def remove_issues(rows: Any) -> None:
    """Start with an empty list: hypothesis uses one database for all its examples."""
    with rows.service.call().transaction() as db:
        for table in (tables.issues, tables.issue_totals):
            db.execute(delete(table))


def walk(client: Client, api: str, list_name: str, between: Callable[[], None], **query: Any) -> list[int]:
    """Follow the cursor to the end and return the ids in the order they came; `between` runs after each page."""
    ids: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        answer = client.get(api, **query, **cursor).json
        ids += [row["id"] for row in answer[list_name]]
        if answer["meta"]["next_cursor"] is None:
            return ids
        cursor = {"cursor": answer["meta"]["next_cursor"]}
        between()


def listed_in(scope: dict[str, str], moments: list[str]) -> bool:
    """Tell whether an issue with these events is listed; `to` with a bare date means 00:00:00 of that day."""
    return not scope or any(scope["from"] <= moment < scope["to"] for moment in moments)


def check_walk(rows: Any, before: Any, meanwhile: Any, sort: str, scope: dict[str, str], limit: int) -> None:
    client = Client(rows.service)
    remove_issues(rows)
    known = {rows.issue(f"known {n}", moments): moments for n, moments in enumerate(before)}
    coming = iter(enumerate(meanwhile))

    def between() -> None:
        if found := next(coming, None):
            rows.issue(f"new {found[0]}", found[1])

    ids = walk(client, "errors", "data", between, sort=sort, limit=limit, **scope)
    assert len(set(ids)) == len(ids), "nothing twice"
    for issue_id, moments in known.items():
        assert (issue_id in ids) is listed_in(scope, moments), "nothing left out, and nothing from outside the range"


WALKS = given(
    before=st.lists(MOMENTS, min_size=1, max_size=9),
    meanwhile=st.lists(MOMENTS, max_size=9),
    sort=st.sampled_from(SORTS),
    scope=st.sampled_from(SCOPES),
    limit=st.integers(1, 4),
)


@settings(max_examples=30)
@example(before=[["2026-01-09 00:30:00"]], meanwhile=[], sort="newest", scope=SCOPES[1], limit=1)
@WALKS
def test_a_walk_neither_repeats_nor_skips_while_others_come(sqlite_rows: Any, **walked: Any) -> None:
    """Issues that come during the walk change nothing for those that were there."""
    check_walk(sqlite_rows, **walked)


@pytest.mark.long
@settings(max_examples=300)
@WALKS
def test_many_walks_neither_repeat_nor_skip_while_others_come(sqlite_rows: Any, **walked: Any) -> None:
    check_walk(sqlite_rows, **walked)


@settings(max_examples=10)
@given(before=st.lists(st.integers(0, 3), min_size=1, max_size=9), limit=st.integers(1, 3))
@pytest.mark.parametrize("api", ["error", "group"])
def test_a_walk_of_occurrences_neither_repeats_nor_skips(
    sqlite_rows: Any, api: str, before: list[int], limit: int
) -> None:
    """Equal times are told apart by id, and other issues' events do not matter."""
    remove_issues(sqlite_rows)
    issue_id = sqlite_rows.issue("walked", [f"2026-01-03 10:00:0{second}" for second in before])
    others = count()

    def between() -> None:
        sqlite_rows.issue(f"another {next(others)}", ["2026-01-03 10:00:01"])

    ids = walk(Client(sqlite_rows.service), api, "occurrences", between, id=issue_id, limit=limit)
    with sqlite_rows.service.call().transaction(write=False) as db:
        mine = select(tables.occurrences).where(tables.occurrences.c.issue_id == issue_id)
        stored = [(row.occurred_at, row.id) for row in db.execute(mine)]
    assert ids == [occurrence_id for _, occurrence_id in sorted(stored, reverse=True)]


FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"severity": "error,alert"},
    {"status": "open"},
    {"q": "number 1"},
    {"source": "worker"},
    {"environment": "staging"},
    {"tag": "none"},
    {"has_stack": "true"},
    {"date": "2026-01-03"},
    {"from": "2026-01-02", "to": "2026-01-04 12:00:00", "status": "fixed"},
    {"q": "no such text"},
)


def fill(rows: Any) -> None:
    for n in range(40):
        rows.issue(
            f'Issue number {n}, "quoted"\nsecond line',
            [
                {"at": f"2026-01-0{1 + n % 5} 10:00:00", "environment": ("staging", "production")[n % 2]},
                {"at": f"2026-01-0{1 + n % 7} 11:00:00", "channel": ("worker", "app.log")[n % 3 == 0]},
            ],
            severity=("ERROR", "ALERT", "INFO")[n % 3],
            status=("open", "fixed")[n % 2],
            stack="at f" if n % 4 else None,
        )


@pytest.mark.parametrize("sort", SORTS)
def test_exports_are_the_list(sqlite_client: Client, sqlite_rows: Any, sort: str) -> None:
    """Both forms hold the issues of the filter, in the order of the sort, with the values of the list."""
    fill(sqlite_rows)
    for asked in FILTERS:
        listed = sqlite_client.get("errors", sort=sort, limit=200, **asked).json
        lines = sqlite_client.get("errors", sort=sort, format="ndjson", **asked).text.splitlines()
        assert [json.loads(line) for line in lines] == listed["data"], asked
        table = list(csv.DictReader(io.StringIO(sqlite_client.get("errors", sort=sort, format="csv", **asked).text)))
        assert len(table) == listed["meta"]["total"], asked
        for row, issue in zip(table, listed["data"], strict=True):
            assert (row["id"], row["count"]) == (str(issue["id"]), str(issue["count"])), asked
            assert (row["title"], row["first_seen"]) == (issue["title"], issue["first_seen"]), asked


BIG = ("occurrences", "event_hours", "issue_facets", "status_history", "groupings")


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """Collect the selects of big tables that are sent to SQLite."""
    found: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.lstrip().upper().startswith("SELECT") and any(table in statement for table in BIG):
            found.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@pytest.mark.parametrize("sort", SORTS)
def test_no_statement_scans_what_grows_with_events(sqlite_client: Client, sqlite_rows: Any, sort: str) -> None:
    """Lists, details and the summary read counters and indexes: nothing is found by reading all events."""
    fill(sqlite_rows)
    scans = []
    asked = [("errors", {"sort": sort, **filters}) for filters in FILTERS]
    asked += [("groups", {"sort": sort}), ("summary", {}), ("error", {"id": 1}), ("error", {"id": 1, "page": 2})]
    for api, query in asked:
        with statements() as sent:
            assert sqlite_client.get(api, **query).status == 200
        with sqlite_client.service.call().transaction(write=False) as db:
            for statement, parameters in sent:
                plan = db.connection.driver_connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)  # type: ignore[union-attr]
                steps = [str(row[-1]) for row in plan]
                scans += [
                    (api, query, step)
                    for step in steps
                    for table in BIG
                    if step.startswith(f"SCAN {table}") and "INDEX" not in step
                ]
    assert scans == []


def test_the_plans_are_those_of_the_live_tables(sqlite_client: Client) -> None:
    """The test above can fail: a statement that does scan is seen as one."""
    with sqlite_client.service.call().transaction(write=False) as db:
        plan = db.execute(text("EXPLAIN QUERY PLAN SELECT * FROM occurrences WHERE environment = 'x'")).all()
    assert any(str(row[-1]).startswith("SCAN occurrences") and "INDEX" not in str(row[-1]) for row in plan)
