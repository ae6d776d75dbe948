"""The folder `logs`, its job and its archive, on all three databases."""

import gzip
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.plugins.issues import tables
from snaglist.plugins.logs import Ingestion, Reading, import_file
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.collect import drop_folder
from snaglist.plugins.logs.collect.connectors import read_file
from snaglist.plugins.logs.collect.drop_folder import due, module_name
from snaglist.plugins.system import JobCall
from snaglist.testing import Client, running_service

Line = Callable[..., str]
STAMP = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time.time() - 300))


def run(client: Client) -> dict[str, Any]:
    answer = client.post("import-incoming", wait="1")
    assert answer.status == 200, answer.text
    body: dict[str, Any] = answer.json
    return body


def archived(client: Client) -> list[str]:
    folder = client.service.applications.all()[0].processed
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_57_four_files_of_four_kinds(client: Client, drop: Any, line: Line) -> None:
    drop(client.service, "shop.log", line("Order 1 failed") + line("fine", "INFO"))
    record = f'{{"timestamp":"{STAMP}","level":"error","message":"mail lost"}}\n'
    drop(client.service, "queue.jsonl", record * 2)
    access = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(time.time() - 300))
    drop(
        client.service,
        "access.log",
        "".join(f'192.0.2.1 - - [{access}] "GET /o HTTP/1.1" {status} 5 "-" "x"\n' for status in (200, 302, 500)),
    )
    drop(client.service, "console.log", f"{STAMP} ERROR worker stopped\n")
    body = run(client)
    assert (body["processed"], body["files"], body["events"]) == (4, 4, 5)
    assert body["by_type"] == {"monolog": 1, "json": 2, "access": 1, "console": 1}
    assert (body["filtered"], body["access_lines"], body["errors"]) == (1, 3, [])
    assert (body["groups"], body["new_groups"]) == (4, 4)
    assert body["retention"] == {"enabled": False, "deleted": 0, "freed_bytes": 0, "remaining": 4, "scanned": 4}
    assert archived(client) == ["access.log", "console.log", "queue.jsonl", "shop.log"]
    assert not any(row.provisional for row in rows(client, tables.occurrences))
    paths = [row["path"] for row in client.get("sources").json["data"]]
    assert sorted(paths) == [f"applications/default/processed/{name}" for name in archived(client)]


def rows(client: Client, table: Any) -> list[Any]:
    with client.service.call().transaction(write=False) as db:
        return list(db.execute(select(table)).all())


def test_58_a_second_call_is_refused_until_the_first_is_done(tmp_path: Path, database_config: dict[str, str]) -> None:
    with running_service(tmp_path / "data", jobs=False, **database_config) as service:
        client = Client(service)
        first = client.post("import-incoming")
        assert (first.status, first.json["status"]) == (202, "queued")
        second = client.post("import-incoming")
        assert second.status == 409
        assert second.error
        service.jobs.run_queued(service.applications.all()[0])
        assert client.post("import-incoming").status == 202


def test_59_a_folder_is_a_module(client: Client, drop: Any, line: Line) -> None:
    drop(client.service, "Billing API/app.log", line("one"))
    drop(client.service, "Billing API/deeper/other.log", line("two"))
    drop(client.service, "job-queue_two/app.log", line("three"))
    run(client)
    modules = {module["slug"]: module["name"] for module in client.get("modules").json["data"]}
    assert modules == {"billing-api": "Billing API", "job-queue-two": "Job Queue Two"}
    assert archived(client) == ["billing-api/app.log", "billing-api/other.log", "job-queue-two/app.log"]
    assert {source["module_slug"] for source in client.get("sources").json["data"]} == set(modules)
    drop(client.service, "billing-api/next.log", line("four"))
    run(client)
    assert len(client.get("modules").json["data"]) == 2


@pytest.mark.parametrize(
    ("folder", "name"),
    [("Billing API", "Billing API"), ("job-queue_two", "Job Queue Two"), ("eBay", "EBay"), ("_", "_")],
)
def test_module_names(folder: str, name: str) -> None:
    assert module_name(folder) == name


def test_60_equal_content_adds_nothing(client: Client, drop: Any, line: Line) -> None:
    text = line("one") + line("two", seconds=1)
    drop(client.service, "app.log", text)
    assert run(client)["events"] == 2
    for name in ("app.log", "copy.log"):
        drop(client.service, name, text)
        body = run(client)
        assert (body["events"], body["duplicates"], body["files"], body["processed"]) == (0, 1, 0, 1)
    drop(client.service, "app.log.gz", gzip.compress(text.encode()))
    assert run(client)["duplicates"] == 1
    assert len(rows(client, tables.occurrences)) == 2
    assert len(archived(client)) == 4
    drop(client.service, "Other/app.log", text)
    assert run(client)["events"] == 2  # another module is another place


def test_a_longer_drop_adds_its_tail(client: Client, drop: Any, line: Line) -> None:
    """Longer than an earlier drop and starting with exactly its content."""
    first = line("one") + line("two", seconds=1)
    drop(client.service, "app.log", first)
    run(client)
    drop(client.service, "renamed.log", first + line("three", seconds=2))
    body = run(client)
    assert (body["events"], body["duplicates"], body["files"]) == (1, 0, 1)
    drop(client.service, "again.log", first + line("three", seconds=2) + line("four", seconds=3))
    assert run(client)["events"] == 1
    assert len(rows(client, tables.occurrences)) == 4
    last = max(rows(client, tables.occurrences), key=lambda row: row.byte_start)
    content = client.get("source", occurrence=last.id).json["content"]
    assert content == line("four", seconds=3)


def test_a_drop_that_ends_a_line_of_which_a_connector_has_read_half(
    client: Client, drop: Any, line: Line, tmp_path: Path
) -> None:
    """The tail that is read begins with that line, whole."""
    mirror, call = tmp_path / "app.log", client.service.call()
    with call.transaction(write=False):
        settings = Ingestion.load(call)
    mirror.write_text(line("one") + line("two", seconds=1)[:40])
    import_file(call, mirror.resolve(), Reading(settings.rules, "UTC", connector_id=1))
    drop(client.service, "app.log", line("one") + line("two", seconds=1) + line("three", seconds=2))
    assert run(client)["events"] == 2
    dropped = [row for row in rows(client, log_tables.sources) if row.connector_id is None]
    assert [row.first_byte for row in dropped] == [len(line("one"))]


@pytest.mark.parametrize(
    ("name", "module", "taken"), [("app.log.1", None, True), ("other.log", None, False), ("app.log", 1, False)]
)
def test_a_connector_takes_over_what_was_dropped_of_its_file(
    sqlite_client: Client, drop: Any, line: Line, tmp_path: Path, name: str, module: int | None, taken: bool
) -> None:
    """The file of the same module and name family: it is read on, and belongs to the connector then."""
    client, found = sqlite_client, tmp_path / name
    client.post("modules", {"name": "Shop"})
    drop(client.service, "app.log", line("one"))
    run(client)
    found.write_text(line("one") + line("two", seconds=1))
    result = read_file(client.service.call(), found, connector_id=7, module_id=module)
    assert result.events == (1 if taken else 2)
    sources = {row.path: row.connector_id for row in rows(client, log_tables.sources)}
    assert sources.pop(str(found)) == 7
    assert list(sources.values()) == ([] if taken else [None])


def test_equal_long_heads_are_told_apart(client: Client, drop: Any, line: Line) -> None:
    banner = "".join(f"# banner line {n}\n" for n in range(300))
    drop(client.service, "a.log", banner + line("one"))
    drop(client.service, "b.log", banner + line("two") + line("three", seconds=1))
    assert run(client)["events"] == 3


def test_names_in_the_archive_never_collide(client: Client, drop: Any, line: Line) -> None:
    for number in range(3):
        drop(client.service, "app.log", line(f"different {'x' * number}"))
        assert run(client)["processed"] == 1
    first, *others = sorted(archived(client), key=len)
    assert first == "app.log"
    assert all(name.startswith("app-2") and name.endswith(".log") and len(name) == 29 for name in others)


def test_files_that_match_no_pattern_stay(client: Client, drop: Any, line: Line) -> None:
    stays = drop(client.service, "notes.txt", "x\n")
    drop(client.service, "app.log", line("one"))
    body = run(client)
    assert (body["ignored"], body["processed"]) == (1, 1)
    assert stays.exists()


def test_a_failing_file_stays_and_the_others_go_on(client: Client, drop: Any, line: Line) -> None:
    broken = drop(client.service, "Web/broken.log.gz", gzip.compress(b"x\n" * 9999)[:40])
    drop(client.service, "fine.log", line("one"))
    body = run(client)
    assert (body["processed"], body["events"]) == (1, 1)
    assert [error["file"] for error in body["errors"]] == ["Web/broken.log.gz"]
    assert str(client.service.settings.data) not in str(body)
    assert broken.exists()


def test_a_link_out_of_the_folder_is_never_moved(client: Client, drop: Any, line: Line, tmp_path: Path) -> None:
    outside = tmp_path / "outside.log"
    outside.write_text(line("not ours"))
    (client.service.applications.all()[0].logs / "link.log").symlink_to(outside)
    body = run(client)
    assert (body["events"], body["processed"]) == (0, 0)
    assert body["errors"] == [{"file": "link.log", "error": "links out of the folder are not followed"}]
    assert outside.exists()


def test_a_death_between_reading_and_moving_is_healed(
    client: Client, drop: Any, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = client.service.settings.data
    drop(client.service, "app.log", line("older"))
    run(client)
    drop(client.service, "app.log", line("one"))
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "move", lambda *_: (_ for _ in ()).throw(SystemExit))
        patch.setattr(JobCall, "check_cancelled", lambda self: None)
        job = JobCall(client.service, client.service.applications.all()[0])
        with pytest.raises(SystemExit):
            drop_folder.Incoming(job).read_dropped()
    (waiting,) = [row for row in rows(client, log_tables.sources) if not (data / row.path).exists()]
    body = run(client)
    assert (body["events"], body["processed"]) == (0, 1)
    assert (data / waiting.path).read_text() == line("one")


@pytest.mark.servers
def test_a_file_that_grew_after_such_a_death_is_the_same_file(
    client: Client, drop: Any, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended within a line then, and that line is one event."""
    second = line("two", seconds=1)
    path = drop(client.service, "app.log", line("one") + second[:-2])
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "move", lambda *_: (_ for _ in ()).throw(SystemExit))
        patch.setattr(JobCall, "check_cancelled", lambda self: None)
        job = JobCall(client.service, client.service.applications.all()[0])
        with pytest.raises(SystemExit):
            drop_folder.Incoming(job).read_dropped()
    with path.open("a") as stream:
        stream.write(second[-2:] + line("three", seconds=2))
    os.utime(path, (0, 0))
    body = run(client)
    assert (body["events"], body["processed"]) == (1, 1)
    assert len(rows(client, tables.occurrences)) == 3
    assert len(rows(client, log_tables.sources)) == 1


def test_archive_retention_runs_after_the_import(tmp_path: Path, drop: Any, line: Line) -> None:
    """Only files that are too old go."""
    with running_service(tmp_path / "data", retention__processed_max_age_days=30) as service:
        client = Client(service)
        for name, days in (("old.log", 31), ("young.log", 29)):
            path = drop(service, name, line(name))
            at = time.time() - days * 86_400
            os.utime(path, (at, at))
        body = run(client)
        size = len(line("old.log"))
        assert body["retention"] == {"enabled": True, "deleted": 1, "freed_bytes": size, "remaining": 1, "scanned": 2}
        assert archived(client) == ["young.log"]


def test_the_newest_files_stay(tmp_path: Path, drop: Any, line: Line) -> None:
    with running_service(tmp_path / "data", retention__processed_max_files=2) as service:
        client = Client(service)
        for number in range(4):
            path = drop(service, f"{number}.log", line(f"kind {'x' * number}"))
            at = time.time() - number * 60 - 60
            os.utime(path, (at, at))
        run(client)
        assert archived(client) == ["0.log", "1.log"]


def test_the_schedule_is_due_for_new_files_only(sqlite_client: Client, drop: Any, line: Line) -> None:
    service = sqlite_client.service

    def asked() -> Any:
        call = service.call(actor=None)
        with call.transaction(write=False):
            return due(call)

    assert asked() is None
    drop(service, "app.log", line("one"))
    assert asked() == {"follow": True}
    run(sqlite_client)
    assert asked() is None
    broken = drop(service, "broken.log.gz", gzip.compress(b"x\n" * 9999)[:40])
    os.utime(broken)
    assert asked() == {"follow": True}
    run(sqlite_client)
    assert asked() == {"follow": True}  # it may still be written
    earlier = time.time() - 60
    os.utime(broken, (earlier, earlier))
    run(sqlite_client)
    assert asked() is None  # it failed and did not change
    later = time.time() + 5
    os.utime(broken, (later, later))
    assert asked() == {"follow": True}


def test_files_read_in_place_are_followed_below_an_allowed_root(
    tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files imported by the command line are read on."""
    followed, outside = tmp_path / "var" / "app.log", tmp_path / "elsewhere.log"
    followed.parent.mkdir()
    with running_service(tmp_path / "data", jobs=False, ingestion__allowed_roots=[str(followed.parent)]) as service:
        call = service.call()
        with call.transaction(write=False):
            settings = Ingestion.load(call)
        for path in (followed, outside):
            path.write_text(line("one"))
            import_file(call, path.resolve(), Reading(settings.rules, "UTC"))

        def asked() -> Any:
            with call.transaction(write=False):
                return due(call)

        assert asked() is None
        for path in (followed, outside):
            with path.open("a") as stream:
                stream.write(line("two", seconds=1))
        assert asked() == {"follow": True}
        with call.transaction():
            call.enqueue("import", {"follow": True}, dedupe="import")
        service.jobs.run_queued(service.applications.all()[0])
        client = Client(service)
        counts = {Path(row.path).name: row.occurrence_count for row in rows(client, log_tables.sources)}
        assert counts == {"app.log": 2, "elsewhere.log": 1}
        quiet = time.time() - 60
        os.utime(followed, (quiet, quiet))
        assert asked() == {"follow": True}  # its last event may become final
        with call.transaction():
            call.enqueue("import", {"follow": True}, dedupe="import")
        service.jobs.run_queued(service.applications.all()[0])
        assert asked() is None


@pytest.mark.servers
def test_search_by_path_follows_the_move(client: Client, drop: Any, line: Line) -> None:
    """By `source` and `q` the path that is shown finds the issue, the one it had in `logs` does not."""
    drop(client.service, "Web/app.log", line("one") + line("two"))
    run(client)
    drop(client.service, "Web/app.log", line("three") + line("one"))
    run(client)
    assert len(client.get("errors", source="processed/web/app.log").json["data"]) == 2
    assert len(client.get("errors", source="processed/web/app").json["data"]) == 3
    assert client.get("errors", source="default/logs/Web").json["data"] == []
    assert len(client.get("errors", q="PROCESSED/web").json["data"]) == 3
