"""Deleting logs with preview and memory, on all three databases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.plugins.issues import change_status, tables
from snaglist.plugins.logs.maintain import deletion
from snaglist.plugins.logs.tables import log_deletions
from snaglist.plugins.system import Cancelled, JobCall
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.servers

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
    assert store.scan(tmp_path) == 2


def test_the_rest_of_a_day_still_comes(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    """Deleting today's logs covers what was stored then, not what comes afterwards, whatever its time."""
    log = tmp_path / "app.log"
    log.write_text(line("before"))
    store.scan(tmp_path)
    today = store.rows(tables.occurrences)[0].occurred_at[:10]
    client.post("delete-logs", {"date": today, "confirmation": CONFIRMATION})
    with log.open("a") as stream:
        stream.write(line("late but before"))
        stream.write(line("after", seconds=86_000 if line("x", seconds=86_000)[1:11] == today else 1_200))
    store.scan(tmp_path)
    assert [row.title for row in store.rows(tables.issues) if row.stored_occurrences] == ["late but before", "after"]


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


# --- what comes later of a day, and what does not come back


def delete(client: Client, **scope: Any) -> int:
    """Delete; what the preview names, what is deleted and what is gone must be one number."""
    before = stored(client)
    shown = client.get("log-deletion-preview", **scope).json["occurrences"]
    answer = client.post("delete-logs", {**scope, "confirmation": CONFIRMATION}, wait="1")
    assert answer.status == 200, answer.text
    number: int = answer.json["deleted"]["occurrences"]
    assert number == shown == before - stored(client)
    return number


def stored(client: Client) -> int:
    return sum(row["stored_occurrences"] for row in client.get("errors", limit=200).json["data"])


def test_a_file_that_was_never_seen_is_stored(client: Client, store: Any, tmp_path: Path) -> None:
    """A deletion that found nothing closes no day."""
    assert delete(client, date="2026-01-03") == 0
    write(tmp_path / "archive.log", *[("2026-01-03", f"kind {n % 3}") for n in range(50)])
    result = store.read(tmp_path / "archive.log")
    assert (result.state, result.events, result.deleted, result.filtered) == ("read", 50, 0, 0)


def test_of_a_mixed_file_the_deleted_half_stays_away(client: Client, store: Any, tmp_path: Path) -> None:
    log, days = tmp_path / "app.log", ("2026-01-02", "2026-01-03")
    write(log, *[(days[n % 2], f"kind {n % 3}") for n in range(200)])
    assert store.scan(log) == 200
    assert delete(client, date="2026-01-03") == 100
    write(tmp_path / "mixed.log", *[(days[n % 2], f"other {n % 3}") for n in range(200)])
    assert store.scan(tmp_path / "mixed.log") == 200
    found = reindex(client)
    assert (found["events"], found["deleted"]) == (0, 100)
    assert stored(client) == 300


def test_lines_appended_for_a_deleted_day_are_stored(client: Client, store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    write(log, *[("2026-01-03", "early")] * 20)
    store.scan(log)
    assert delete(client, date="2026-01-03") == 20
    with log.open("a") as stream:
        stream.writelines(["[2026-01-03 09:00:00] production.ERROR: late\n"] * 20)
    result = store.read(log, zone="UTC")
    assert (result.state, result.events, result.deleted) == ("read", 20, 0)
    assert reindex(client)["deleted"] == 20
    assert stored(client) == 20


def test_a_file_that_is_read_again_says_what_was_deleted(client: Client, store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    write(log, ("2026-01-02", "one"), ("2026-01-03", "one"), ("2026-01-03", "two"))
    store.scan(log)
    delete(client, date="2026-01-03")
    result = store.read(log)
    assert (result.state, result.events, result.deleted) == ("unchanged", 0, 2)
    (source,) = client.get("sources").json["data"]
    assert (source["occurrence_count"], source["deleted"]) == (1, 2)


@pytest.mark.parametrize("place", ["copy.log", "elsewhere/app.log", "app.log.1"])
def test_a_copy_does_not_bring_it_back(client: Client, store: Any, tmp_path: Path, place: str) -> None:
    """Whatever its name: it holds the very lines."""
    log = tmp_path / "app.log"
    write(log, ("2026-01-02", "one"), ("2026-01-03", "one"), ("2026-01-03", "two"))
    store.scan(log)
    delete(client, date="2026-01-03")
    copied = tmp_path / place
    copied.parent.mkdir(exist_ok=True)
    copied.write_bytes(log.read_bytes())
    result = store.read(copied)
    assert result.deleted == 2
    assert client.get("log-deletion-preview", date="2026-01-03").json["occurrences"] == 0
    with copied.open("a") as stream:
        stream.write("[2026-01-03 11:00:00] production.ERROR: three\n")
    if place != "app.log.1":  # what is written to a rotated copy is of its log, which is there
        assert store.read(copied).events == 1
        assert reindex(client)["events"] == 0
        assert client.get("log-deletion-preview", date="2026-01-03").json["occurrences"] == 1


def test_rotation_brings_nothing_back(client: Client, store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    write(log, ("2026-01-03", "one"), ("2026-01-03", "two"))
    store.scan(tmp_path)
    delete(client, date="2026-01-03")
    log.rename(tmp_path / "app.log.1")
    write(log, ("2026-01-03", "three"))
    assert store.scan(tmp_path) == 1
    assert reindex(client)["events"] == 0
    assert stored(client) == 1


def test_a_zone_that_changed_brings_nothing_back(client: Client, store: Any, tmp_path: Path) -> None:
    """The lines are of another day then."""
    log = tmp_path / "app.log"
    log.write_text("[2026-01-03 23:30:00] production.ERROR: one\n")
    store.scan(log, zone=None)
    client.patch("ingestion-settings", {"timezone": "UTC"})
    reindex(client)
    delete(client, date="2026-01-03")
    client.patch("ingestion-settings", {"timezone": "America/New_York"})
    found = reindex(client)
    assert (found["events"], found["deleted"]) == (0, 1)


def test_lines_that_were_filtered_when_a_day_was_deleted_may_come(client: Client, store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("".join(f"[2026-01-03 10:00:00] app.{level}: {level} of it\n" for level in ("ERROR", "INFO") * 3))
    store.scan(log)
    assert delete(client, date="2026-01-03") == 3
    client.patch("ingestion-settings", {"severities": ["ERROR", "INFO"]})
    found = reindex(client)
    assert (found["events"], found["deleted"]) == (3, 3)


def test_dropped_files(client: Client, tmp_path: Path) -> None:
    """The drop folder: the same file again is known, another one of the day is stored."""
    lines = "".join(f"[2026-01-03 10:00:0{n}] production.ERROR: one\n" for n in range(5))
    assert client.feed(lines)["events"] == 5
    delete(client, date="2026-01-03")
    again = client.feed(lines)
    assert (again["events"], again["duplicates"], again["deleted"]) == (0, 1, 5)
    assert client.feed(lines.replace("one", "two"), "more.log")["events"] == 5


def test_a_cancelled_deletion_removes_nothing_later(
    database_config: dict[str, str], tmp_path: Path, make_store: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had not come to stays, also when the source is read again."""
    monkeypatch.setattr(deletion, "AT_ONCE", 1)
    monkeypatch.setattr(deletion, "BATCH", 3)
    with running_service(tmp_path / "data", jobs=False, **database_config) as service:
        client = Client(service)
        write(tmp_path / "app.log", *[("2026-01-03", "one")] * 9)
        make_store(service).scan(tmp_path / "app.log")
        client.post("delete-logs", {"date": "2026-01-03", "confirmation": CONFIRMATION})

        def cancelled(self: JobCall) -> None:
            raise Cancelled

        with monkeypatch.context() as patch:
            patch.setattr(JobCall, "check_cancelled", cancelled)
            service.jobs.run_queued(service.applications.all()[0])
        assert stored(client) == 6
        client.post("reindex")
        service.jobs.run_queued(service.applications.all()[0])
        assert stored(client) == 6
