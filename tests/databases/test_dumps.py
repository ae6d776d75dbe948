"""`db dump` and `db load`: backup, restore and move between databases."""

import base64
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from sqlalchemy import insert, select

from snaglist.kernel import Conflict, Invalid
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.system import jobs_table
from snaglist.plugins.system.dumping.dump import dump
from snaglist.plugins.system.dumping.file import DumpFile, read_dump
from snaglist.plugins.system.dumping.load import MAX_ROWS, Loader
from snaglist.plugins.system.upgrading import pending_steps
from snaglist.testing import Client, running_service

Config = dict[str, str]
BODY = bytes(range(256))


def quiet(done: int, total: int | None, text: str) -> None:
    """Show no progress."""


def save(service: Service, path: Path, *ids: str) -> dict[str, int]:
    """Dump as the command does; returns the rows by application."""
    wanted = [a for a in service.applications.refresh() if not ids or a.id in ids]
    written = dump(service, wanted, path, quiet)
    assert not any(dumped.left_out for dumped in written.values())
    return {id: dumped.rows for id, dumped in written.items()}


def load(data: Path, config: Config, path: Path, app: str | None = None, *, replace: bool = False) -> dict[str, int]:
    """Load as the command does: into a service that was not started."""
    data.mkdir(parents=True, exist_ok=True)
    given = {name.replace("__", "."): value for name, value in config.items()}
    service = Service(Settings({"server.data": str(data), **given}, environ={}))
    try:
        return Loader(service, path, quiet).load(app, replace=replace)
    finally:
        service.close()


def lines(path: Path) -> list[Any]:
    with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
        return [json.loads(line) for line in stream.read().splitlines()]


def rewrite(path: Path, changed: list[Any]) -> None:
    text = "".join(json.dumps(line) + "\n" for line in changed)
    path.write_bytes(zstandard.compress(text.encode()))


@pytest.fixture
def filled(sqlite_service: Service) -> Service:
    """A service with a few issues, and with bytes in a column of bytes."""
    client = Client(sqlite_service)
    for number in range(3):
        client.post("issues", {"title": f"title {number} 😀", "description": "line\n\t\\N"})
    client.post("tags", {"name": "Title", "match_word": "title"})
    with sqlite_service.call().transaction() as db:
        made = {"issue_id": None, "body": BODY, "created_at": "2026-01-01 00:00:00"}
        db.execute(insert(log_tables.payload_dictionaries), made)
    return sqlite_service


@pytest.fixture
def file(filled: Service, tmp_path: Path) -> Path:
    """A dump of it."""
    path = tmp_path / "file.dump"
    save(filled, path)
    return path


def test_a_round_trip_gives_equal_answers(
    sqlite_service: Service, database_on: Callable[[str], Config], tmp_path: Path, script: Any, read_all: Any
) -> None:
    """SQLite → PostgreSQL → MariaDB → SQLite: every answer as before, and the last file as the first."""
    client = Client(sqlite_service)
    script(client, "default").run()
    before = read_all(client, "default")
    paths = [tmp_path / f"{number}.dump" for number in range(4)]
    rows = save(sqlite_service, paths[0])
    # The way ends where it began: what was there must not be there by itself.
    for tag in before[0][0]["data"]:
        client.delete("tags", {"id": tag["id"]})
    data = sqlite_service.settings.data  # the same for all, because sources are known by their paths
    for number, engine in enumerate(("postgresql", "mariadb", "sqlite")):
        config = database_on(engine)
        assert load(data, config, paths[number], replace=engine == "sqlite") == rows
        # Without a worker: nothing may change what was loaded.
        with running_service(data, jobs=False, **config) as service:
            assert json.dumps(read_all(Client(service), "default")) == json.dumps(before), engine
            assert save(service, paths[number + 1]) == rows
            assert pending_steps(service) == []
            # Numbers go on after the loaded ones.
            highest = max(tag["id"] for tag in before[0][0]["data"])
            assert Client(service).post("tags", {"name": "one more"}).json["id"] > highest
    assert lines(paths[3])[1:] == lines(paths[0])[1:]


def test_the_header_names_format_version_engine_and_schema(file: Path) -> None:
    header, application, *rest = lines(file)
    assert (header["snaglist_dump"], header["engine"]) == (1, "sqlite")
    assert header["version"] and header["created_at"]
    assert application["application"]["id"] == "default"
    assert ["core", "s001"] in application["steps"] and ["issues", "s001"] in application["steps"]
    assert rest[-1] == {"end": {"applications": 1, "rows": sum(isinstance(line, list) for line in rest)}}
    assert oct(file.stat().st_mode & 0o777) == "0o600"


def test_bytes_travel_as_base64(file: Path, tmp_path: Path) -> None:
    assert any(isinstance(line, list) and base64.b64encode(BODY).decode() in line for line in lines(file))
    load(tmp_path / "other", {}, file)
    with running_service(tmp_path / "other", jobs=False) as service, service.call().transaction(write=False) as db:
        assert db.execute(select(log_tables.payload_dictionaries.c.body)).scalar_one() == BODY


def test_an_id_that_was_given_is_not_given_again(
    service: Service, database_on: Callable[[str], Config], tmp_path: Path
) -> None:
    """Rows with the highest ids are gone before the dump; wherever it is loaded, numbers go on after them."""
    client = Client(service)
    made = [client.post("issues", {"title": title}).json["data"]["id"] for title in ("stays", "goes")]
    tag = client.post("tags", {"name": "goes"}).json["id"]
    client.post("bulk-issues", {"action": "delete", "ids": [made[1]], "confirmation": "DELETE ISSUES"})
    client.delete("tags", {"id": tag})
    path = tmp_path / "numbers.dump"
    save(service, path)
    for engine in ("sqlite", "postgresql", "mariadb"):
        data, config = tmp_path / engine, database_on(engine)
        for replace in (False, True):  # also over a database that has its own numbers
            load(data, config, path, replace=replace)
            with running_service(data, jobs=False, **config) as loaded:
                there = Client(loaded)
                assert there.get("error", id=made[1]).status == 404
                assert there.post("issues", {"title": "new"}).json["data"]["id"] > made[1], engine
                assert there.post("tags", {"name": "new"}).json["id"] > tag, engine


def test_nothing_but_a_file_is_written_over(filled: Service, tmp_path: Path) -> None:
    """A dump to a device or a pipe would put a file in its place."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(Invalid, match="is not a file"):
            save(filled, path)
    assert pipe.is_fifo()


def test_all_applications_or_one(filled: Service, tmp_path: Path) -> None:
    client = Client(filled)
    for name in ("second", "third"):
        client.post("applications", {"name": name.title(), "id": name})
        client.post("tags", {"name": name}, app=name)
    path = tmp_path / "all.dump"
    assert list(save(filled, path)) == ["default", "second", "third"]
    assert list(load(tmp_path / "one", {}, path, "second")) == ["second"]
    with running_service(tmp_path / "one", jobs=False) as service:
        assert [a.id for a in service.applications.all()] == ["second"]
    load(tmp_path / "one", {}, path, "third")
    assert list(load(tmp_path / "all", {}, path)) == ["default", "second", "third"]
    for folder, ids in (("one", ["second", "third"]), ("all", ["default", "second", "third"])):
        with running_service(tmp_path / folder, jobs=False) as service:
            there = Client(service)
            listed = there.get("applications").json["data"]
            assert [a["id"] for a in listed] == ids
            assert listed[-1]["name"] == "Third"
            assert (tmp_path / folder / "applications" / "third" / "logs").is_dir()
            assert [tag["name"] for tag in there.get("tags", app="third").json["data"]] == ["third"]
    single = tmp_path / "single.dump"
    assert list(save(filled, single, "third")) == ["third"]
    with pytest.raises(DumpFile, match="no application nope"):
        load(tmp_path / "all", {}, path, "nope")


def test_an_application_that_exists_is_refused(
    filled: Service, tmp_path: Path, own_database_config: Config, file: Path
) -> None:
    """Also when only one of several exists: then nothing of the file is loaded. `--replace` loads over it."""
    Client(filled).post("applications", {"name": "second"})
    both = tmp_path / "both.dump"
    save(filled, both)
    data = tmp_path / "target"
    load(data, own_database_config, file)
    with pytest.raises(Conflict, match="default exists"):
        load(data, own_database_config, both)
    with running_service(data, jobs=False, **own_database_config) as service:
        client = Client(service)
        assert [a.id for a in service.applications.all()] == ["default"]
        client.post("tags", {"name": "later"})
        client.post("issues", {"title": "later"})
        load(data, own_database_config, both, replace=True)
        assert [tag["name"] for tag in client.get("tags").json["data"]] == ["Title"]
        assert sorted(issue["title"] for issue in client.get("errors").json["data"]) == [
            f"title {n} 😀" for n in range(3)
        ]
        assert [a.id for a in service.applications.refresh()] == ["default", "second"]
        assert client.get("tags", app="second").status == 200


def test_a_running_job_is_not_loaded_over(filled: Service, tmp_path: Path, file: Path) -> None:
    data = tmp_path / "busy"
    load(data, {}, file)
    with running_service(data, jobs=False) as service, service.call().transaction() as db:
        now = "2026-01-01 00:00:00"
        job = {"kind": "import", "args": {}, "status": "running", "done": 0, "unit": "", "attempts": 1,
               "max_attempts": 3, "cancel_requested": False, "run_at": now, "created_at": now}  # fmt: skip
        db.execute(insert(jobs_table), job)
    with pytest.raises(Conflict, match="running"):
        load(data, {}, file, replace=True)


def _cut(content: bytes) -> Iterator[bytes]:
    for length in (0, len(content) // 3, len(content) * 2 // 3, len(content) - 1):
        yield content[:length]
    middle = len(content) // 2
    yield content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]
    yield content + b"more"
    yield b"PK\x03\x04 something else"


def test_a_damaged_file_loads_nothing(file: Path, tmp_path: Path, own_database_config: Config) -> None:
    """Whatever is wrong shows before anything is written: the target stays as it was, with its data."""
    data = tmp_path / "target"
    load(data, own_database_config, file)
    with running_service(data, jobs=False, **own_database_config) as service:
        client = Client(service)
        client.post("tags", {"name": "mine"})
        for number, content in enumerate(_cut(file.read_bytes())):
            broken = tmp_path / f"{number}.broken"
            broken.write_bytes(content)
            with pytest.raises(DumpFile):
                load(data, own_database_config, broken, replace=True)
        assert len(client.get("tags").json["data"]) == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda all_lines: all_lines[:-1], "cut off"),
        (lambda all_lines: [a for a in all_lines if a != _first_row(all_lines)], "damaged"),
        (lambda all_lines: [{**all_lines[0], "snaglist_dump": 2}, *all_lines[1:]], "newer version of snaglist"),
        (lambda all_lines: [{"something": "else"}, *all_lines[1:]], "not a dump"),
        (lambda all_lines: [*all_lines, {"end": {}}], "damaged"),
        (lambda all_lines: [a for a in all_lines if not isinstance(a, list)], "damaged"),
        (lambda all_lines: [_with(a, steps=[["core", "s001"], ["issues", "s999"]]) for a in all_lines], "newer"),
        (lambda all_lines: [_with(a, application={"id": "../../x", "name": "", "created_at": ""}) for a in all_lines],
         "damaged"),
        (lambda all_lines: [_renamed(a, "tags", "others") for a in all_lines], "others, a table of a plugin"),
        (lambda all_lines: [_renamed(a, "tags", "modules") for a in all_lines], "columns of modules"),
    ],
    ids=["end", "line", "format", "header", "more", "rows", "schema", "id", "plugin", "columns"],
)  # fmt: skip
def test_a_file_that_does_not_fit_loads_nothing(
    file: Path, tmp_path: Path, change: Callable[[list[Any]], list[Any]], words: str
) -> None:
    rewrite(file, change(lines(file)))
    with pytest.raises(DumpFile, match=words):
        load(tmp_path / "target", {}, file)
    assert not (tmp_path / "target" / "registry.sqlite").exists()


def _first_row(all_lines: list[Any]) -> Any:
    return next(line for line in all_lines if isinstance(line, list))


def _with(line: Any, **more: Any) -> Any:
    return {**line, **more} if isinstance(line, dict) and "application" in line else line


def _renamed(line: Any, old: str, new: str) -> Any:
    return {**line, "table": new} if isinstance(line, dict) and line.get("table") == old else line


def test_a_failure_in_the_middle_leaves_the_application_as_it_was(
    file: Path, tmp_path: Path, own_database_config: Config
) -> None:
    """Rows that the database refuses at the very end: the rows before go too, and the old ones are back."""
    data = tmp_path / "target"
    load(data, own_database_config, file)
    changed = lines(file)
    last = max(number for number, line in enumerate(changed) if isinstance(line, list))
    changed[-1]["end"]["rows"] += 1
    rewrite(file, [*changed[: last + 1], changed[last], *changed[last + 1 :]])
    with running_service(data, jobs=False, **own_database_config) as service:
        client = Client(service)
        client.post("tags", {"name": "mine"})
        with pytest.raises(DumpFile, match="cannot be stored"):
            load(data, own_database_config, file, replace=True)
        assert [tag["name"] for tag in client.get("tags").json["data"]] == ["mine", "Title"]
        assert client.get("errors").json["meta"]["total"] == 3


def test_a_dump_of_an_older_schema_is_upgraded(
    filled: Service, tmp_path: Path, own_database_config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows are loaded under the schema they had; later steps run on them. Also over an existing application."""
    path = tmp_path / "old.dump"
    save(filled, path)
    seen: list[int] = []

    def later(db: Any) -> None:
        seen.append(len(db.execute(select(tables.issues.c.id)).all()))

    taken = Service._take_contributions

    def with_a_later_step(service: Service) -> None:
        from snaglist.kernel.steps import Step

        taken(service)
        service.steps.add(Step("issues", "s999", later))

    monkeypatch.setattr(Service, "_take_contributions", with_a_later_step)
    data = tmp_path / "target"
    load(data, own_database_config, path)
    assert seen == [3]
    load(data, own_database_config, path, replace=True)
    assert seen == [3, 3]
    with running_service(data, jobs=False, **own_database_config) as service:
        assert service.applications.state(service.applications.all()[0]).current
        assert Client(service).get("errors").json["meta"]["total"] == 3


def test_a_dump_is_one_moment(service: Service, tmp_path: Path) -> None:
    """Writers go on while it is written: what it holds fits together, and is what was there at its start."""
    client = Client(service)
    client.post("tags", {"name": "before"})
    application = service.applications.all()[0]
    stop = threading.Event()
    failures: list[str] = []

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            answer = client.post("issues", {"title": f"issue {number}", "note": "with history"})
            if answer.status != 201:
                failures.append(answer.text)

    def on_progress(done: int, total: int | None, text: str) -> None:
        # Between two tables: let the writer write.
        count = client.get("errors").json["meta"]["total"]
        for _ in range(200):
            if client.get("errors").json["meta"]["total"] > count:
                break

    writer = threading.Thread(target=write)
    path = tmp_path / "moment.dump"
    writer.start()
    try:
        dump(service, [application], path, on_progress)
    finally:
        stop.set()
        writer.join()
    assert failures == []
    counts: dict[str, int] = {}
    name = ""
    for line in read_dump(path):
        if isinstance(line, list):
            counts[name] += 1
        elif "table" in line:
            name = line["table"]
            counts[name] = 0
    assert counts["issues"] == counts["issue_samples"] == counts["status_history"]
    assert counts["issues"] < client.get("errors").json["meta"]["total"]


def test_more_rows_than_a_batch(sqlite_service: Service, tmp_path: Path, database_on: Callable[[str], Config]) -> None:
    with sqlite_service.call().transaction() as db:
        rows = [{"day": f"{n:06}", "severity": "ERROR", "count": n} for n in range(MAX_ROWS * 2 + 5)]
        db.execute(insert(tables.event_days), rows)
    path = tmp_path / "many.dump"
    save(sqlite_service, path)
    for engine in ("sqlite", "postgresql"):
        config = database_on(engine)
        load(tmp_path / engine, config, path)
        with (
            running_service(tmp_path / engine, jobs=False, **config) as service,
            service.call().transaction(write=False) as db,
        ):
            assert [dict(row) for row in db.execute(select(tables.event_days)).mappings()] == rows


def test_a_dump_that_fails_leaves_no_file(filled: Service, tmp_path: Path) -> None:
    """The file of the last time stays."""
    path = tmp_path / "kept.dump"
    save(filled, path)
    content = path.read_bytes()

    def fail(done: int, total: int | None, text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dump(filled, filled.applications.all(), path, fail)
    assert path.read_bytes() == content
    assert sorted(os.listdir(tmp_path)) == ["data", "kept.dump"]


LATER_STEPS = ["issues:s003", "issues:s004", "logs:s002", "alerting:s002", "connectors:s002", "tracker:s002"]
LATER_TABLES = {"learned_later", "deleted_ranges", "deleted_events", "tracker_changes"}


def test_a_dump_of_version_0_1_0(file: Path, tmp_path: Path, own_database_config: Config) -> None:
    """It has neither the tables nor the steps that came later."""
    written: list[Any] = []
    left_out = False
    for line in lines(file):
        if isinstance(line, dict):
            left_out = line.get("table") in LATER_TABLES
            if "steps" in line:
                line["steps"] = [step for step in line["steps"] if ":".join(step) not in LATER_STEPS]
        if not left_out:
            written.append(line)
    rewrite(file, written)
    data = tmp_path / "target"
    load(data, own_database_config, file)
    with running_service(data, jobs=False, **own_database_config) as service:
        assert pending_steps(service) == []
        assert Client(service).get("errors").json["meta"]["total"] == 3
