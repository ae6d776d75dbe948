"""Databases of released versions, as `record.py` recorded them, upgraded to this one: nothing of them is lost."""

import io
import json
import lzma
import os
import runpy
import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.constants import CLIENT
from sqlalchemy import create_engine, func, select
from sqlalchemy.engine import make_url

from snaglist.kernel.columns import metadata
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.system.upgrading import pending_steps
from snaglist.testing import Client, running_service

HERE = Path(__file__).parent
RECORD = runpy.run_path(str(HERE / "record.py"), run_name="record")
VERSIONS = sorted(folder.name for folder in (HERE / "recorded").iterdir())
ENGINES = ["sqlite", "postgresql", "mariadb"]
PREFIX = RECORD["PREFIX"].encode()
READABLE = ("http-ingest/", "applications/")
Config = dict[str, Any]


@dataclass(frozen=True)
class Restored:
    """An installation of an earlier version, and what it answered."""

    data: Path
    config: Config
    rows: dict[str, int]
    answers: dict[str, Any]


def read(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes())


def load(engine: str, config: Config, script: bytes) -> None:
    """Run a server's dump under the prefix of a test."""
    script = script.replace(PREFIX, config["database__prefix"].encode())
    url = make_url(config["database__url"])
    if engine == "postgresql":
        made = create_engine(url, isolation_level="AUTOCOMMIT")
        with made.connect() as connection:
            connection.connection.driver_connection.execute(script)  # type: ignore[union-attr]
        made.dispose()
        return
    given = {"host": url.host, "port": url.port or 3306, "user": url.username, "password": url.password or ""}
    with pymysql.connect(**given, charset="utf8mb4", ssl_disabled=True, client_flag=CLIENT.MULTI_STATEMENTS) as server:
        with server.cursor() as cursor:
            cursor.execute(script.decode())
            while cursor.nextset():
                pass
        server.commit()


@pytest.fixture(params=[(version, engine) for version in VERSIONS for engine in ENGINES], ids="-".join)
def restored(
    request: pytest.FixtureRequest, tmp_path: Path, database_on: Callable[[str], Config]
) -> Iterator[Restored]:
    """Each recording, restored to another folder than it was made in."""
    version, engine = request.param
    folder = HERE / "recorded" / version
    config = database_on(engine)
    with tarfile.open(fileobj=io.BytesIO(read(folder / f"{engine}.tar.xz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    if engine != "sqlite":
        load(engine, config, read(folder / f"{engine}.sql.xz"))
    answered = json.loads(read(folder / f"{engine}.json.xz"))
    yield Restored(tmp_path / "data", {**RECORD["CONFIG"], **config}, answered["rows"], answered["answers"])


def test_every_table_was_recorded_with_rows(restored: Restored) -> None:
    """A recording without rows of a table says nothing about it."""
    assert all(restored.rows.values()), restored.rows


def test_an_upgrade_loses_nothing(restored: Restored) -> None:
    with running_service(restored.data, jobs=False, **restored.config) as service:
        assert pending_steps(service) == []
        with service.call().transaction(write=False) as db:
            found = {
                name: db.execute(select(func.count()).select_from(metadata.tables[name])).scalar_one()
                for name in restored.rows
            }
        ledger = found.pop("schema_step")
        assert ledger >= restored.rows["schema_step"]
        assert found == {name: number for name, number in restored.rows.items() if name != "schema_step"}
        answers = json.loads(json.dumps(RECORD["shown"](Client(service))))
    # Files outside of the data directory are not a part of a recording.
    for event, shown in list(restored.answers["source"].items()):
        if not shown["path"].startswith(READABLE):
            del restored.answers["source"][event]
    # This version reads logs otherwise, and says that a reindex brings what was stored in line.
    assert answers["ingestion-settings"].pop("reindex_needed") is True
    del restored.answers["ingestion-settings"]["reindex_needed"]
    # Later versions may answer more, never less or otherwise.
    assert missing(plain(restored.answers), plain(answers)) == []


def test_an_upgrade_ends_where_a_new_database_begins(restored: Restored, shape: Callable[..., Any]) -> None:
    """Column by column and index by index. So a released step that is edited fails here: add a new one."""
    with running_service(restored.data, jobs=False, **restored.config) as service:
        for steps, upgraded in [
            (service.registry_steps, [service.applications.registry]),
            (service.steps, service.applications.all()),
        ]:
            fresh = service.applications.make(f"fresh-{upgraded[0].id}", "", "")
            service.database.create(fresh)
            steps.upgrade(fresh)
            expected = shape(service, fresh)
            for tenant in upgraded:
                found = shape(service, tenant)
                assert set(found) == set(expected)
                for name in expected:
                    assert found[name] == expected[name], (tenant, name)


def test_what_was_deleted_before_stays_away_and_the_day_is_open(restored: Restored) -> None:
    """A day was closed for all files; now it is what was read of each then."""
    with running_service(restored.data, **restored.config) as service:
        client = Client(service)
        before = client.get("errors", limit=200).json["data"]
        again = client.post("reindex", wait=1)
        assert (again.status, again.json["deleted"], again.json["events"]) == (200, 8 + 4, 0), again.json
        after = client.get("errors", limit=200).json["data"]
        first, second = (sum(issue["stored_occurrences"] for issue in issues) for issues in (before, after))
        assert first == second
        lines = [f"[2026-03-02 11:00:0{n}] production.ERROR: never seen before\n" for n in range(5)]
        assert client.feed("".join(lines), "late.log")["events"] == 5


def test_a_reindex_brings_messages_and_values(restored: Restored) -> None:
    """Of events whose texts are still there; each is found by any of its values from then on."""
    with running_service(restored.data, **restored.config) as service:
        client = Client(service)
        assert client.post("reindex", wait=1).status == 200
        told = values = 0
        for issue in client.get("errors", limit=200).json["data"]:
            for event in client.get("events", id=issue["id"], limit=200).json["data"]:
                told += event["message"] is not None
                for one in event["values"]:
                    if not any(letter.isalnum() for letter in one["value"]):
                        continue
                    values += 1
                    word = f'value:"{one["value"].replace(chr(34), "")}"'
                    found = [
                        same["id"] for same in client.get("events", id=issue["id"], q=word, limit=200).json["data"]
                    ]
                    assert event["id"] in found, (event["message"], one)
        assert told > 10
        assert values > 10


def test_files_of_the_data_directory_are_known_where_it_is_now(restored: Restored) -> None:
    """It was elsewhere when the version recorded it."""
    folder = restored.data / "applications" / "default"
    with running_service(restored.data, **restored.config) as service:
        client = Client(service)
        os.utime(shutil.copy(folder / "processed" / "app.log", folder / "logs" / "app.log"), (0, 0))
        dropped = client.post("import-incoming", wait=1).json
        assert (dropped["events"], dropped["duplicates"]) == (0, 1)
        with service.call().transaction(write=False) as db:
            paths = list(db.execute(select(log_tables.sources.c.path)).scalars())
        assert {path for path in paths if path.startswith("/")} == {
            "/var/log/app/plain.log", "/var/log/app/site/site.log"
        }  # fmt: skip


# With the time (what is shown of the last hours, days, year), the version, the place of the test.
CHANGES = ("sparkline", "trend", "last_24h", "markers", "version", "database")


def plain(value: Any) -> Any:
    """Leave out what depends on the time of the question or on the machine."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if name not in CHANGES}
    if isinstance(value, list):
        # Sources of one second come by their stored paths.
        sources = bool(value) and isinstance(value[0], dict) and "imported_at" in value[0]
        return [plain(part) for part in (sorted(value, key=lambda part: part["id"]) if sources else value)]
    return value.removeprefix(f"{RECORD['DATA']}{os.sep}") if isinstance(value, str) else value


def missing(before: Any, after: Any, place: str = "") -> list[str]:
    """Name what an earlier answer held that a later one has not."""
    if place.startswith(".plugins.") and place.endswith(".description"):  # a plugin's own words, nothing stored
        return []
    if place.endswith(".suggestions"):  # a later version may find more that looks alike
        return [f"{place}: {one!r} is gone" for one in before if one not in after]
    if isinstance(before, dict) and isinstance(after, dict):
        gone = [f"{place}.{name}" for name in before if name not in after]
        return gone + [m for n, v in before.items() if n in after for m in missing(v, after[n], f"{place}.{n}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [m for n, pair in enumerate(zip(before, after, strict=True)) for m in missing(*pair, f"{place}[{n}]")]
    return [] if before == after else [f"{place}: {before!r} is now {after!r}"]
