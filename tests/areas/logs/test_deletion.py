"""api.md §21.2: deleting logs with preview and memory, on all three databases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel.testing import Client, running_service
from snaglist.plugins.issues import change_status, tables
from snaglist.plugins.logs.maintenance import deletion
from snaglist.plugins.logs.tables import log_deletions

Line = Callable[..., str]
CONFIRMATION = "DELETE LOGS"


def write(path: Path, *entries: tuple[str, str]) -> None:
    path.write_text("".join(f"[{day} 10:00:00] production.ERROR: {message}\n" for day, message in entries))


def reindex(client: Client) -> dict[str, Any]:
    answer = client.post("reindex", wait="1")
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json
    return found


def test_101_exactly_one_scope_and_the_phrase(sqlite_client: Client, sqlite_store: Any, tmp_path: Path) -> None:
    write(tmp_path / "app.log", ("2026-01-03", "one"))
    sqlite_store.scan(tmp_path)
    for query in ({}, {"date": "2026-01-03", "source_id": 1}, {"date": "2026-02-30"}, {"source_id": 0}):
        assert sqlite_client.get("log-deletion-preview", **query).status == 422
        assert sqlite_client.post("delete-logs", {**query, "confirmation": CONFIRMATION}).status == 422
    assert sqlite_client.get("log-deletion-preview", source_id=99).status == 422
    for wrong in ("delete logs", "DELETE LOGS ", None, 1):
        assert sqlite_client.post("delete-logs", {"source_id": 1, "confirmation": wrong}).status == 422
    assert sqlite_client.post("delete-logs", {"source_id": 1}).status == 422
    assert sqlite_store.count(tables.occurrences) == 1


def test_101_a_source(client: Client, store: Any, tmp_path: Path) -> None:
    log, other = tmp_path / "app.log", tmp_path / "other.log"
    write(log, ("2026-01-03", "shared"), ("2026-01-03", "own"), ("2026-01-04", "own"))
    write(other, ("2026-01-03", "shared"))
    store.scan(tmp_path)
    call = client.service.call()
    with call.transaction():
        change_status(call, 1, "wont_fix", note="noise")
    shown = client.get("log-deletion-preview", source_id=1).json
    assert (shown["occurrences"], shown["issue_groups"], shown["sources"]) == (3, 2, 1)
    assert shown["scope"]["source"]["path"] == str(log)
    issues = [(row.id, row.status, row.count) for row in store.rows(tables.issues)]
    for wait in ("0", "1"):
        answer = client.post("delete-logs", {"source_id": 1, "confirmation": CONFIRMATION}, wait=wait)
        assert answer.status == 200
        if wait == "0":
            assert answer.json["deleted"] == {"occurrences": 3, "empty_issue_groups": 1}
            assert answer.json["preview"] == shown
        else:
            assert answer.json["deleted"] == {"occurrences": 0, "empty_issue_groups": 0}
    assert [(row.id, row.status, row.count) for row in store.rows(tables.issues)] == issues
    assert [row.stored_occurrences for row in store.rows(tables.issues)] == [1, 0]
    assert [row.sample_occurrence_id for row in store.rows(tables.issues)][1] is None
    assert store.source(log).occurrence_count == 0
    assert log.exists()
    assert store.scan(tmp_path) == 0
    assert reindex(client)["events"] == 0
    with log.open("a") as stream:
        stream.write("[2026-01-05 10:00:00] production.ERROR: own\n")
    assert store.scan(tmp_path) == 1
    assert [row.actor for row in store.rows(log_deletions)] == ["Local", "Local"]


def test_101_a_day(client: Client, store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    write(log, ("2026-01-02", "one"), ("2026-01-03", "one"), ("2026-01-03", "two"), ("2026-01-04", "two"))
    store.scan(tmp_path)
    shown = client.get("log-deletion-preview", date="2026-01-03").json
    assert (shown["occurrences"], shown["issue_groups"], shown["sources"]) == (2, 2, 1)
    assert shown["scope"] == {"type": "date", "date": "2026-01-03", "source_id": None, "source": None}
    answer = client.post("delete-logs", {"date": "2026-01-03", "confirmation": CONFIRMATION}, wait="1")
    assert answer.json["deleted"] == {"occurrences": 2, "empty_issue_groups": 0}
    assert [row.occurred_at[:10] for row in store.rows(tables.occurrences)] == ["2026-01-02", "2026-01-04"]
    assert client.get("log-deletion-preview", date="2026-01-03").json["occurrences"] == 0
    assert [row.count for row in store.rows(tables.issues)] == [2, 2]
    assert reindex(client)["events"] == 0
    client.patch("ingestion-settings", {"severities": ["ERROR", "INFO"]})
    assert reindex(client)["events"] == 0
    write(tmp_path / "rewritten.log", ("2026-01-03", "one"), ("2026-01-04", "one"))
    assert store.scan(tmp_path) == 1


def test_the_rest_of_a_day_still_comes(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    """Deleting today's logs covers what was logged until then, not what happens afterwards."""
    log = tmp_path / "app.log"
    log.write_text(line("before"))
    store.scan(tmp_path)
    today = store.rows(tables.occurrences)[0].occurred_at[:10]
    client.post("delete-logs", {"date": today, "confirmation": CONFIRMATION})
    with log.open("a") as stream:
        stream.write(line("late but before"))
        stream.write(line("after", seconds=86_000 if line("x", seconds=86_000)[1:11] == today else 1_200))
    store.scan(tmp_path)
    assert [row.title for row in store.rows(tables.issues) if row.stored_occurrences] == ["after"]


def test_an_open_entry_that_was_deleted_does_not_come_back(client: Client, store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    write(log, ("2026-01-03", "one"))
    whole = log.read_text()
    log.write_text(whole[:-5])
    store.scan(tmp_path)
    client.post("delete-logs", {"source_id": 1, "confirmation": CONFIRMATION})
    with log.open("a") as stream:
        stream.write(whole[-5:])
    assert store.scan(tmp_path) == 0
    assert store.count(tables.occurrences) == 0


def test_much_is_a_job(client: Client, store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "AT_ONCE", 5)
    monkeypatch.setattr(deletion, "BATCH", 3)
    log = tmp_path / "app.log"
    write(log, *(("2026-01-03", f"kind {'x' * (n % 2)}") for n in range(10)))
    store.scan(tmp_path)
    answer = client.post("delete-logs", {"date": "2026-01-03", "confirmation": CONFIRMATION})
    assert answer.status == 202 and answer.json["status"] in ("queued", "running")  # a worker may have it already
    assert answer.json["preview"]["occurrences"] == 10
    finished = client.get("jobs", id=answer.json["job_id"]).json["data"]
    while finished["status"] in ("queued", "running"):
        finished = client.get("jobs", id=answer.json["job_id"]).json["data"]
    assert (finished["kind"], finished["status"]) == ("delete_logs", "succeeded")
    assert finished["result"]["deleted"] == {"occurrences": 10, "empty_issue_groups": 2}
    assert (finished["progress"]["total"], finished["progress"]["unit"]) == (10, "occurrences")
    assert store.count(tables.occurrences) == 0


def test_what_comes_while_the_job_waits_stays(
    database_config: dict[str, str],
    tmp_path: Path,
    make_store: Callable[[Any], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The job deletes what was there when it was asked for."""
    monkeypatch.setattr(deletion, "AT_ONCE", 1)
    log = tmp_path / "app.log"
    write(log, ("2026-01-03", "one"), ("2026-01-03", "two"))
    with running_service(tmp_path / "data", jobs=False, **database_config) as service:
        client, store = Client(service), make_store(service)
        store.scan(log)
        assert client.post("delete-logs", {"source_id": 1, "confirmation": CONFIRMATION}).status == 202
        with log.open("a") as stream:
            stream.write("[2026-01-03 11:00:00] production.ERROR: three\n")
        assert store.scan(log) == 1
        service.jobs.run_queued(service.applications.all()[0])
        with service.call().transaction(write=False) as db:
            left = db.execute(select(tables.occurrences.c.occurred_at)).scalars().all()
        assert left == ["2026-01-03 11:00:00"]
