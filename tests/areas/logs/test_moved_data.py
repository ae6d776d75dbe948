"""A data directory that moves keeps its sources, and files that are read in place can be re-pointed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection, select

from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.connectors.tables import connectors, streams
from snaglist.plugins.issues import relative_to_data, tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.system.dumping.dump import dump
from snaglist.plugins.system.dumping.load import Loader
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.whole

Config = dict[str, str]
Line = Callable[..., str]


def fill(service: Service, drop: Any, line: Line) -> None:
    """Dropped files with and without a module, and a folder of the data directory that a connector reads."""
    client = Client(service)
    drop(service, "app.log", line("one") + line("two"))
    drop(service, "shop/web.log", line("three"))
    assert client.post("import-incoming", wait=True).json["events"] == 3
    folder = service.settings.data / "site"
    folder.mkdir()
    (folder / "site.log").write_text(line("four"))
    made = client.post("connectors", {"name": "site", "type": "local", "config": {"directory": str(folder)}})
    assert made.status == 201, made.text
    assert client.post("connectors-sync", {"id": made.json["id"]}, wait=True).status == 200


def stored_paths(service: Service) -> list[str]:
    columns = (log_tables.sources.c.path, streams.c.remote_path, streams.c.local_path)
    with service.call().transaction(write=False) as db:
        found = [path for column in columns for path in db.execute(select(column)).scalars()]
        facets = select(tables.issue_facets.c.value).where(tables.issue_facets.c.facet == "source")
        folders = [config["directory"] for config in db.execute(select(connectors.c.config)).scalars()]
        return [*(path for path in found if path), *db.execute(facets).scalars(), *folders]


def check(service: Service, drop: Any, line: Line) -> None:
    """Every raw line is there, and nothing counts twice."""
    client = Client(service)
    issues = client.get("errors", limit=50).json["data"]
    assert {issue["title"]: issue["count"] for issue in issues} == {"one": 1, "two": 1, "three": 1, "four": 1}
    for issue in issues:
        (event,) = client.get("error", id=issue["id"]).json["occurrences"]
        shown = client.get("source", occurrence=event["id"])
        assert (shown.status, shown.json["content"]) == (200, line(issue["title"])), shown.text
        assert not shown.json["path"].startswith("/")
    drop(service, "app.log", line("one") + line("two"))
    again = client.post("import-incoming", wait=True).json
    assert (again["events"], again["duplicates"], again["errors"]) == (0, 1, [])
    (connector,) = client.get("connectors").json["data"]
    assert connector["config"]["directory"] == str(service.settings.data / "site")
    (file,) = client.post("connectors-preview", {"id": 1}).json["files"]
    assert file["action"] in ("unchanged", "rotation")  # a restored file has another inode, and is compared
    with (service.settings.data / "site" / "site.log").open("a") as stream:
        stream.write(line("five"))
    assert client.post("connectors-sync", {"id": 1}, wait=True).json["runs"][0]["events_indexed"] == 1
    assert client.post("reindex", wait=True).json["skipped"] == 0


@pytest.fixture
def roots(tmp_path: Path) -> dict[str, Any]:
    """Settings by which a folder of the data directory may be read."""
    return {"ingestion__allowed_roots": [str(tmp_path)]}


@pytest.mark.servers
def test_a_moved_data_directory_keeps_its_sources(
    database_config: Config, tmp_path: Path, drop: Any, line: Line, roots: dict[str, Any]
) -> None:
    before, after = tmp_path / "d", tmp_path / "e"
    with running_service(before, **database_config, **roots) as service:
        fill(service, drop, line)
        assert [path for path in stored_paths(service) if path.startswith("/")] == []
    before.rename(after)
    with running_service(after, **database_config, **roots) as service:
        check(service, drop, line)


def test_a_dump_is_restored_elsewhere(
    database_on: Callable[[str], Config], tmp_path: Path, drop: Any, line: Line, roots: dict[str, Any]
) -> None:
    """With the files below the new data directory, on another database."""
    before, after = tmp_path / "d", tmp_path / "e"
    with running_service(before, **roots) as service:
        fill(service, drop, line)
        dump(service, service.applications.all(), tmp_path / "dump", lambda *_: None)
    for engine in ("postgresql", "mariadb", "sqlite"):
        shutil.copytree(before, after, ignore=shutil.ignore_patterns("*.sqlite*"))
        config = database_on(engine)
        given = {name.replace("__", "."): value for name, value in config.items()}
        loading = Service(Settings({"server.data": str(after), **given}, environ={}))
        Loader(loading, tmp_path / "dump", lambda *_: None).load(None, replace=False)
        loading.close()
        with running_service(after, **config, **roots) as service:
            check(service, drop, line)
        shutil.rmtree(after)


def relative(data: Path, *paths: str) -> dict[str, str]:
    application = SimpleNamespace(id="default", folder=data / "applications" / "default")
    stepped: Any = SimpleNamespace(get_execution_options=lambda: {"stepped": application})
    db: Connection = stepped
    return relative_to_data(db, paths)


def test_which_absolute_paths_were_in_the_data_directory(tmp_path: Path) -> None:
    """An old database: its paths are of where the data directory was when they were written."""
    data = tmp_path / "now"
    (data / "applications/default/logs").mkdir(parents=True)
    tail = "applications/default/processed/app.log"
    assert relative(data, f"{data}/{tail}", f"{data}/site/x.log") == {
        f"{data}/{tail}": tail, f"{data}/site/x.log": "site/x.log"
    }  # fmt: skip
    gone = tmp_path / "before"
    dropped = "applications/default/logs/new.log"
    assert relative(data, f"{gone}/{tail}", f"{gone}/{dropped}") == {
        f"{gone}/{tail}": tail, f"{gone}/{dropped}": dropped
    }  # fmt: skip
    # Of other applications, and what is only called so.
    others = (
        f"{gone}/applications/other/processed/app.log",
        f"{gone}/{dropped}",
        "/var/log/app.log",
        "http-ingest/-/x",
    )
    assert relative(data, *others) == {}
    theirs = tmp_path / "opt"
    (theirs / "applications/default/logs").mkdir(parents=True)
    assert relative(data, f"{theirs}/{dropped}") == {}
    # A copy of an installation that is still there has files of its own.
    for name in ("processed", "sources"):
        (theirs / "applications/default" / name).mkdir()
    assert relative(data, f"{theirs}/{dropped}") == {f"{theirs}/{dropped}": dropped}


# --- sources move


@pytest.fixture
def shop(tmp_path: Path, line: Line) -> Path:
    """A folder with two logs."""
    folder = tmp_path / "shop"
    (folder / "deep").mkdir(parents=True)
    (folder / "app.log").write_text(line("one"))
    (folder / "deep" / "web.log").write_text(line("two"))
    return folder


Move = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_snaglist(request: pytest.FixtureRequest, tmp_path: Path) -> Move:
    """Run the command line with the configuration of the test's service; returns code, output and messages."""
    given = request.getfixturevalue("database_config") if "database_config" in request.fixturenames else {}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    own = {f"SERVICE_{name.replace('__', '_').upper()}": value for name, value in given.items()}

    def run(*arguments: str) -> tuple[int, str, str]:
        program = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]
        env = {**clean, **own, "SERVICE_DATA": str(tmp_path / "data"), "TZ": "UTC"}
        done = subprocess.run([*program, *arguments], env=env, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.servers
def test_files_that_went_elsewhere_are_read_on_there(
    client: Client, store: Any, shop: Path, tmp_path: Path, line: Line, run_snaglist: Move
) -> None:
    assert store.scan(shop) == 2
    (tmp_path / "shopping.log").write_text(line("three"))
    assert store.scan(tmp_path / "shopping.log") == 1  # no file of the folder, though its path begins alike
    there = tmp_path / "elsewhere" / "shop"
    there.parent.mkdir()
    shutil.copytree(shop, there)  # other inodes, as after a restore
    shutil.rmtree(shop)
    dry = run_snaglist("sources", "move", str(shop), str(there), "--dry-run", "--json")
    wanted = {"application": "default", "sources": 2, "files": 2, "missing": 0}
    assert dry[0] == 0 and '"dry_run": true' in dry[1], dry
    assert store.source(tmp_path / "shopping.log").path and len(store.rows(log_tables.sources)) == 3
    assert [row.path for row in store.rows(log_tables.sources) if str(there) in row.path] == []
    code, out, _ = run_snaglist("sources", "move", f"{shop}/", str(there))
    assert (code, out.splitlines()[1].split()) == (0, [str(value) for value in wanted.values()])
    with (there / "app.log").open("a") as stream:
        stream.write(line("four"))
    assert store.scan(there) == 1
    found = client.get("errors", source=str(there)).json["data"]
    assert sorted(issue["title"] for issue in found) == ["four", "one", "two"]
    for issue in client.get("errors").json["data"]:
        (event,) = client.get("error", id=issue["id"]).json["occurrences"]
        assert client.get("source", occurrence=event["id"]).status == 200
    store.check_counters()


def test_a_move_onto_other_sources_is_refused(store: Any, shop: Path, tmp_path: Path, run_snaglist: Move) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "app.log").write_text("[2026-01-03 10:00:00] production.ERROR: another\n")
    store.scan(tmp_path)
    before = store.rows(log_tables.sources)
    code, _, err = run_snaglist("sources", "move", str(shop), str(there))
    assert code == 1
    assert err.strip() == f"snaglist: default: other sources are at {there}/app.log already; nothing was moved."
    assert store.rows(log_tables.sources) == before


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("shop", "/srv/shop"), 1, "OLD: must be an absolute path"),
        (("", "/srv/shop"), 2, "must not be empty"),
        (("/srv/shop", ""), 2, "must not be empty"),
        (("/srv/shop", "/srv/shop/"), 1, "NEW: is the same path as OLD"),
        (("/srv/nothing", "/srv/shop"), 0, ""),
    ],
)
def test_what_is_no_move(
    sqlite_store: Any, run_snaglist: Move, arguments: tuple[str, str], code: int, said: str
) -> None:
    found = run_snaglist("sources", "move", *arguments)
    assert found[0] == code and said in found[2], found
    if not code:
        assert "No source is at that path or below it." in found[1]


def test_one_application_or_all(client: Client, store: Any, shop: Path, tmp_path: Path, run_snaglist: Move) -> None:
    assert client.post("applications", {"name": "Other"}).status == 201
    assert run_snaglist("--app", "other", "import", str(shop))[0] == 0
    assert run_snaglist("import", str(shop))[0] == 0
    there = tmp_path / "there"
    os.rename(shop, there)
    one = run_snaglist("--app", "other", "sources", "move", str(shop), str(there), "--json")[1]
    assert '"applications": [{"application": "other", "sources": 2, "files": 2, "missing": 0}]' in one
    every = run_snaglist("sources", "move", str(shop), str(there), "--all", "--json")[1]
    assert '{"application": "default", "sources": 2' in every and '{"application": "other", "sources": 0' in every
    assert run_snaglist("import", str(there), "--json")[1].count('"state": "unchanged"') == 2
