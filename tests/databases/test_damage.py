"""One damaged database, as the operator meets it: `doctor`, what goes on beside it, saving what can be read."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from snaglist.plugins.issues import tables
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.whole

Commands = Callable[..., Any]
PAGE = 8192


@pytest.fixture
def filled(fresh_data: Path) -> Path:
    """A data directory with two applications of some hundred issues each; returns the other one's file."""
    with running_service(fresh_data, jobs=False) as service:
        client = Client(service)
        assert client.post("applications", {"name": "other"}).status == 201
        for app in ("default", "other"):
            for number in range(300):
                body = {"title": f"issue {number} {chr(97 + number % 26) * 60}", "note": "made"}
                assert client.post("issues", body, app=app).status == 201
        return Path(service.applications.all()[1].file)


def damage_a_page(file: Path, table: str = "issues") -> None:
    """Overwrite pages in the middle of a table."""
    with closing(sqlite3.connect(file)) as db:
        listing = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        try:
            pages = [number for (number,) in db.execute(listing, (table,))]
        except sqlite3.OperationalError:  # built without that table
            pages = []
        total = db.execute("PRAGMA page_count").fetchone()[0]
    middle = pages[len(pages) // 2 : len(pages) // 2 + 2] or [total - 10]
    with file.open("r+b") as opened:
        for number in middle:
            opened.seek((number - 1) * PAGE)
            opened.write(b"\xaa" * PAGE)


def cut_off(file: Path) -> None:
    """As a copy that was broken off, or a disk that was full, leaves it."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size * 9 // 10 // PAGE * PAGE)


def spoil_the_schema(file: Path) -> None:
    """A byte that is no text in what SQLite knows of a table."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = file.read_bytes()
    place = content.index(b"CREATE TABLE tags") + 14
    file.write_bytes(content[:place] + b"\xba" + content[place + 1 :])


def run(commands: Commands, data: Path, *arguments: str) -> tuple[int, str, str]:
    [(code, out, err)] = commands(data, {}, list(arguments))
    assert "Traceback" not in err, err
    return code, out, err


def test_what_doctor_says_and_what_goes_on(filled: Path, fresh_data: Path, commands: Commands, tmp_path: Path) -> None:
    filled.write_bytes(b"no database at all" * 1000)
    for name in ("service.sqlite-wal", "service.sqlite-shm"):
        filled.with_name(name).unlink(missing_ok=True)
    code, out, _ = run(commands, fresh_data, "doctor")
    failing = [line for line in out.splitlines() if line.startswith("FAIL")]
    assert code == 1 and len(failing) == 2, out
    assert failing[0].startswith("FAIL  databases: ")
    assert failing[1].startswith("FAIL  The database of the application other is damaged: save what can be read")
    assert "snaglist --app other db dump" in failing[1] and str(filled) in failing[1]
    log = tmp_path / "app.log"
    log.write_text("[2026-01-01 10:00:00] production.ERROR: Order 1 failed\n")
    dump = str(tmp_path / "healthy.dump")
    assert run(commands, fresh_data, "import", str(log))[0] == 0
    assert run(commands, fresh_data, "apps", "list")[0] == 0
    assert run(commands, fresh_data, "--app", "default", "db", "dump", dump)[0] == 0
    code, out, err = run(commands, fresh_data, "db", "dump", str(tmp_path / "all.dump"), "--json")
    assert code == 3 and "not in the dump: The database of the application other is damaged" in err
    assert [one["id"] for one in json.loads(out)["applications"]] == ["default"]
    code, out, err = run(commands, fresh_data, "jobs", "work", "--once")
    assert code == 3 and "other is damaged" in err
    code, out, err = run(commands, fresh_data, "db", "upgrade")
    assert code == 1 and "other is damaged" in err and "no step was pending" in out
    code, out, err = run(commands, fresh_data, "--app", "other", "import", str(log))
    assert code == 1 and "The database of the application other is damaged" in err
    assert run(commands, fresh_data, "apps", "remove", "other", "--yes")[0] == 0
    assert run(commands, fresh_data, "doctor")[0] == 0
    assert not filled.parent.exists()


@pytest.mark.parametrize("damage", [damage_a_page, cut_off, spoil_the_schema])
def test_what_can_be_read_is_saved_and_loaded(
    filled: Path, fresh_data: Path, commands: Commands, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    damage(filled)
    file = str(tmp_path / "saved.dump")
    code, out, err = run(commands, fresh_data, "--app", "other", "db", "dump", file, "--json")
    assert code == 3
    [dumped] = json.loads(out)["applications"]
    assert dumped["id"] == "other" and dumped["rows"] > (300 if damage is damage_a_page else 0)
    assert "warning: other: the database is damaged: not all of it is in the dump" in err
    lost = dumped["lost"].get("issues", 0)
    code, out, err = run(commands, fresh_data, "--app", "other", "db", "load", file, "--replace")
    assert code == 0, err
    [kept] = filled.parent.glob("service.sqlite.unusable-*")
    assert kept.stat().st_size > PAGE
    assert run(commands, fresh_data, "doctor")[0] == 0
    with running_service(fresh_data, jobs=False) as service:
        client = Client(service)
        with service.call(service.applications.find("other")).transaction(write=False) as db:
            left = db.scalar(select(func.count()).select_from(tables.issues))
        assert client.get("errors", app="other").status == 200
        assert left > 0 and (lost < 0 or left + lost == 300)
        assert left < 300 or damage is not damage_a_page
        assert client.post("issues", {"title": "new", "note": "made"}, app="other").status == 201
        assert client.get("errors").json["meta"]["total"] == 300  # the neighbour has all


def test_a_missing_database_is_loaded_or_begun_anew(
    filled: Path, fresh_data: Path, commands: Commands, tmp_path: Path
) -> None:
    file = str(tmp_path / "all.dump")
    assert run(commands, fresh_data, "--app", "other", "db", "dump", file)[0] == 0
    for name in ("service.sqlite", "service.sqlite-wal", "service.sqlite-shm"):
        filled.with_name(name).unlink(missing_ok=True)
    code, out, _ = run(commands, fresh_data, "doctor")
    assert code == 1 and "snaglist apps recreate other" in out and not filled.exists()
    assert run(commands, fresh_data, "db", "load", file, "--replace")[0] == 0
    with running_service(fresh_data, jobs=False) as service:
        assert Client(service).get("errors", app="other").json["meta"]["total"] == 300
    filled.write_bytes(b"")
    code, _, err = run(commands, fresh_data, "apps", "recreate", "other")
    assert code == 2 and "--yes" in err  # nobody to ask
    assert run(commands, fresh_data, "apps", "recreate", "other", "--yes")[0] == 0
    with running_service(fresh_data, jobs=False) as service:
        assert Client(service).get("errors", app="other").json["meta"]["total"] == 0
    code, _, err = run(commands, fresh_data, "apps", "recreate", "other", "--yes")
    assert code == 1 and "is in order" in err


def test_a_registry_that_is_lost(filled: Path, fresh_data: Path, commands: Commands) -> None:
    for file in fresh_data.glob("registry.sqlite*"):
        file.unlink()
    code, out, _ = run(commands, fresh_data, "doctor")
    assert code == 1 and "FAIL  database: The registry is missing or empty: " in out and "apps adopt" in out
    code, _, err = run(commands, fresh_data, "apps", "list")
    assert code == 1 and "apps adopt" in err and not (fresh_data / "registry.sqlite").exists()
    assert run(commands, fresh_data, "apps", "adopt")[0] == 0
    assert run(commands, fresh_data, "doctor")[0] == 0
    with running_service(fresh_data, jobs=False) as service:
        assert Client(service).get("errors", app="other").json["meta"]["total"] == 300


def test_a_server_beside_a_damaged_database(filled: Path, fresh_data: Path, nodes: Any) -> None:
    """It starts, its worker works, and it notices when another one breaks."""
    damage = b"no database at all" * 1000
    [node] = nodes(1, fresh_data, {})
    assert node.get("health").json["status"] == "ok"
    filled.write_bytes(damage)
    for name in ("service.sqlite-wal", "service.sqlite-shm"):
        filled.with_name(name).unlink(missing_ok=True)
    [second] = nodes(1, fresh_data, {})
    for each in (node, second):
        refused = each.get("tags", app="other")
        assert refused.status == 503 and "The database of the application other is damaged." in refused.json["error"]
        assert each.post("tags", {"name": f"beside {id(each)}"}, app="default").status == 201
        assert each.get("health").json["checks"]["databases"] is False
    done = second.post("import-incoming", {}, wait=1)
    assert done.status == 200
