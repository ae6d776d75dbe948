"""How long archived files and occurrences stay."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel.service import Service
from snaglist.plugins.issues import change_status, tables
from snaglist.plugins.logs.maintain import queries, retention
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.servers

Line = Callable[..., str]


@pytest.fixture
def client_with(tmp_path: Path) -> Any:
    """A client of a service with some configuration."""
    opened: list[Any] = []

    def make(**config: Any) -> Client:
        opened.append(running_service(tmp_path / "data", jobs=False, **config))
        return Client(opened[-1].__enter__())

    yield make
    for context in opened:
        context.__exit__(None, None, None)


def archived(service: Service, name: str, days: float, size: int = 100) -> Path:
    path = service.applications.all()[0].processed / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    moment = time.time() - days * 86_400
    os.utime(path, (moment, moment))
    return path


def test_102_only_older_files_go(client_with: Any) -> None:
    client = client_with(retention__processed_max_age_days=30)
    old = [archived(client.service, name, 31, 1_000) for name in ("a.log", "billing/b.log.gz")]
    kept = [archived(client.service, "c.log", 29), archived(client.service, "billing/notes.txt", 400)]
    before = client.get("processed-retention").json
    policy = {"processed_max_age_days": 30, "processed_max_files": 0}
    assert before == {"policy": policy, "archived_files": 3, "archived_bytes": 2_100}
    body = client.post("processed-retention").json
    assert body["status"] == before
    assert body["pruned"] == {"enabled": True, "deleted": 2, "freed_bytes": 2_000, "remaining": 1, "scanned": 3}
    assert [path.exists() for path in (*old, *kept)] == [False, False, True, True]


def test_only_the_newest_files_stay(client_with: Any) -> None:
    client = client_with(retention__processed_max_files=2)
    files = [archived(client.service, f"{days}.log", days) for days in range(4)]
    assert client.post("processed-retention").json["pruned"]["deleted"] == 2
    assert [path.exists() for path in files] == [True, True, False, False]


def test_without_rules_nothing_goes(client_with: Any) -> None:
    client = client_with()
    archived(client.service, "a.log", 4_000)
    body = client.post("processed-retention").json["pruned"]
    assert body == {"enabled": False, "deleted": 0, "freed_bytes": 0, "remaining": 1, "scanned": 1}


def test_a_file_that_cannot_be_deleted_remains(client_with: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_with(retention__processed_max_age_days=1)
    archived(client.service, "a.log", 3)

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    assert client.post("processed-retention").json["pruned"]["remaining"] == 1


def run_schedule(service: Service) -> dict[str, Any] | None:
    """Do what a worker does, when the rules ask for it; returns the result of the job."""
    call = service.call()
    with call.transaction(write=False):
        args = retention.due(call)
    if args is None:
        return None
    with call.transaction():
        job_id = call.enqueue(retention.JOB, args)
    service.jobs.run_queued(service.applications.all()[0])
    with call.transaction(write=False):
        result: dict[str, Any] = service.jobs.find(call, job_id)["result"]
        return result


def test_occurrences_go_by_age(
    database_config: dict[str, str], tmp_path: Path, line: Line, make_store: Callable[[Any], Any]
) -> None:
    log = tmp_path / "app.log"
    log.write_text(
        "[2020-01-03 10:00:00] production.ERROR: old\n" * 3
        + "[2020-01-03 10:00:00] production.ERROR: both\n"
        + line("both")
    )
    options = {"retention__occurrences_max_age_days": 30, **database_config}
    with running_service(tmp_path / "data", jobs=False, **options) as service:
        store = make_store(service)
        store.scan(log)
        assert run_schedule(service) == {"occurrences": 4}
        assert run_schedule(service) is None
        assert [(row.title, row.count, row.stored_occurrences) for row in store.rows(tables.issues)] == [
            ("old", 3, 0),
            ("both", 2, 1),
        ]
        assert store.source(log).occurrence_count == 1
        call = service.call()
        with call.transaction():
            job_id = call.enqueue("reindex", {"source_id": None, "module_id": None})
        service.jobs.run_queued(service.applications.all()[0])
        with call.transaction(write=False):
            assert service.jobs.find(call, job_id)["result"]["events"] == 0
        assert store.count(tables.occurrences) == 1


def test_an_issue_keeps_its_newest_its_first_and_its_returns(
    database_config: dict[str, str], tmp_path: Path, make_store: Callable[[Any], Any]
) -> None:
    log = tmp_path / "app.log"

    def entries(*minutes: int) -> str:
        return "".join(f"[2026-01-03 10:{minute:02}:00] production.ERROR: again\n" for minute in minutes)

    options = {"retention__max_occurrences_per_issue": 3, **database_config}
    with running_service(tmp_path / "data", jobs=False, **options) as service:
        store = make_store(service)
        log.write_text(entries(*range(5)))
        store.scan(log)
        call = service.call()
        with call.transaction() as db:
            change_status(call, 1, "fixed", note=None)
            db.execute(tables.issues.update().values(fixed_at="2026-01-03 10:04:30"))
        with log.open("a") as stream:
            stream.write(entries(*range(5, 12)))
        store.scan(log)
        assert run_schedule(service) == {"occurrences": 7}
        assert run_schedule(service) is None
        with call.transaction(write=False) as db:
            kept = db.execute(select(tables.occurrences.c.occurred_at).order_by(tables.occurrences.c.id)).scalars()
            assert [text[14:16] for text in kept] == ["00", "05", "09", "10", "11"]
        (issue,) = store.rows(tables.issues)
        assert (issue.count, issue.stored_occurrences, issue.status) == (12, 5, "reoccurred")


def test_a_return_with_more_events_than_a_page_hides_nothing_behind_it(
    database_config: dict[str, str], tmp_path: Path, make_store: Callable[[Any], Any]
) -> None:
    log = tmp_path / "app.log"
    line = "[2026-01-03 10:{:02}:00] production.ERROR: again\n"
    options = {"retention__max_occurrences_per_issue": 3, **database_config}
    with running_service(tmp_path / "data", jobs=False, **options) as service:
        store = make_store(service)
        log.write_text("".join(map(line.format, range(5))))
        store.scan(log)
        call = service.call()
        with call.transaction() as db:
            change_status(call, 1, "fixed", note=None)
            db.execute(tables.issues.update().values(fixed_at="2026-01-03 10:04:30"))
        burst = 2 * queries.CHUNK + 1
        with log.open("a") as stream:
            stream.write(line.format(5) * burst + "".join(map(line.format, range(6, 9))))
        store.scan(log)
        assert run_schedule(service) == {"occurrences": 4}
        assert run_schedule(service) is None
        (issue,) = store.rows(tables.issues)
        assert issue.stored_occurrences == 1 + burst + 3


def test_without_rules_no_job_is_queued(sqlite_service: Service, tmp_path: Path, line: Line, sqlite_store: Any) -> None:
    (tmp_path / "app.log").write_text("[2020-01-03 10:00:00] production.ERROR: old\n")
    sqlite_store.scan(tmp_path)
    assert run_schedule(sqlite_service) is None
