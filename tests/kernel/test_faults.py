"""A database that cannot be used stops nobody else, and everybody is told which and why."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from snaglist.kernel import Conflict, Unavailable, store, times
from snaglist.kernel.applications import Application
from snaglist.kernel.faults import DENIED, FULL, MISSING, READONLY, Unusable, fault_of, look
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.system import Job, Worker, health, told
from snaglist.plugins.system.registering import adopt_applications, recreate_application, was_used
from snaglist.plugins.system.repairing import check
from snaglist.plugins.system.upgrading import pending_steps, upgrade
from snaglist.plugins.system.warnings import open_to_others
from snaglist.testing import Client, running_service

Kernel = Callable[..., Any]
AS_ROOT = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root")


def overwritten(file: Path) -> None:
    file.write_bytes(b"no database at all" * 1000)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: 8192 * 3])


def headless(file: Path) -> None:
    file.write_bytes(b"SQLitX" + file.read_bytes()[6:])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def gone(file: Path) -> None:
    file.unlink()


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def of_others(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE songs (title)")


def without_tables(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode = WAL")


def newer(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("INSERT INTO schema_step VALUES ('core', 's999', '2026-01-01 00:00:00')")


def without_a_page(file: Path) -> None:
    """The list of applications cannot be read; what else there is can."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        [page] = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'applications'").fetchone()
    with file.open("r+b") as pages:
        pages.seek((page - 1) * 8192)
        pages.write(b"\xaa" * 8192)


DAMAGES = [
    (overwritten, "damaged", "is damaged"), (cut, "damaged", "is damaged"), (headless, "damaged", "is damaged"),
    (emptied, "missing", "is missing or empty"), (gone, "missing", "is missing or empty"),
    (without_tables, "missing", "is missing or empty"), (a_folder, "foreign", "is not one of snaglist"),
    (of_others, "foreign", "is not one of snaglist"), (newer, "newer", "was made by a newer snaglist"),
]  # fmt: skip


@pytest.fixture
def two(tmp_path: Path, install: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Start services on a data directory with two applications, `default` and `other`."""

    @contextmanager
    def start(**config: Any) -> Iterator[Client]:
        with running_service(tmp_path / "data", jobs=False, **config) as service:
            yield Client(service)

    with start() as client:
        assert client.post("applications", {"name": "other"}).status == 201
    yield start


def other_file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "applications" / "other" / "service.sqlite"


def assert_told(client: Client, fault: str, said: str) -> None:
    """The application answers 503 with its name and the cause, health is degraded, and the others serve."""
    refused = client.get("plugins", app="other")
    assert (refused.status, refused.error) == (503, f"The database of the application other {said}.")
    assert int(refused.headers["retry-after"]) >= 60  # no waiting mends it
    assert client.get("plugins").status == 200
    listed = client.get("applications").json["data"]
    assert [(one["id"], one["problem"]) for one in listed] == [("default", ""), ("other", fault)]
    report = client.get("health")
    assert (report.status, report.json["status"]) == (200, "degraded")
    failing = [name for name, fine in report.json["checks"].items() if not fine]
    assert failing == ["schema" if fault == "newer" else "databases"]
    assert "other" not in report.text and str(client.service.settings.data) not in refused.text


@pytest.mark.parametrize(("damage", "fault", "said"), DAMAGES)
def test_a_database_that_was_broken_before_the_start(
    two: Any, tmp_path: Path, damage: Callable[[Path], None], fault: str, said: str
) -> None:
    """It is never made anew in silence."""
    damage(other_file(tmp_path))
    before = other_file(tmp_path).stat().st_size if other_file(tmp_path).exists() else None
    with two() as client:
        assert_told(client, fault, said)
        # Beside it everything goes on.
        assert client.post("applications", {"name": "third"}).status == 201
        assert client.get("plugins", app="third").status == 200
    assert (other_file(tmp_path).stat().st_size if other_file(tmp_path).exists() else None) == before


@pytest.mark.parametrize(("damage", "fault", "said"), DAMAGES)
def test_a_database_that_breaks_at_run_time(
    two: Any, tmp_path: Path, damage: Callable[[Path], None], fault: str, said: str
) -> None:
    with two() as client:
        assert client.get("plugins", app="other").status == 200
        client.service.database.dispose()  # as idle connections end
        damage(other_file(tmp_path))
        client.service.applications.forget_state(client.service.applications.find("other"))
        assert_told(client, fault, said)


def test_a_file_that_is_emptied_under_open_connections(two: Any, tmp_path: Path) -> None:
    with two() as client:
        assert client.get("plugins", app="other").status == 200
        os.truncate(other_file(tmp_path), 0)
        assert_told(client, "missing", "is missing or empty")


def test_a_file_that_was_found_damaged_is_left_alone_until_it_is_another_one(two: Any, tmp_path: Path) -> None:
    """A page that cannot be read: what lies on the others would be answered, and written to."""
    file = other_file(tmp_path)
    good = tmp_path / "good"
    shutil.copy(file, good)
    with two() as client:
        other = client.service.applications.find("other")
        with client.service.database.transaction(other, write=True) as db:
            for number in range(400):
                store.put_setting(db, f"filling.{number}", "x" * 2000)
        client.service.database.dispose()
        with file.open("r+b") as pages:
            pages.seek(file.stat().st_size - 30 * 8192)
            pages.write(b"\xaa" * 8192 * 20)
        assert client.get("plugins", app="other").status == 200  # nobody met it yet
        assert client.service.database.faults.of(other) is None
        with pytest.raises(Unusable), client.service.database.transaction(other, write=False) as db:
            store.get_settings(db, "filling.")
        assert_told(client, "damaged", "is damaged")
        shutil.copy(good, tmp_path / "restored")
        for name in ("service.sqlite-wal", "service.sqlite-shm"):
            file.with_name(name).unlink(missing_ok=True)
        os.replace(tmp_path / "restored", file)
        assert client.get("plugins", app="other").status == 200
        assert client.get("health").json["status"] == "ok"


def test_a_look_finds_a_page_that_nobody_met(two: Any, tmp_path: Path) -> None:
    file = other_file(tmp_path)
    with two() as client:
        other = client.service.applications.find("other")
        assert check(client.service, other, seconds=30) is True
        client.service.database.dispose()
        with file.open("r+b") as pages:
            pages.seek(8192 * 4)
            pages.write(b"\xaa" * 8192 * 2)
        with pytest.raises(Unusable, match="is damaged"):
            check(client.service, other, seconds=30)
        assert_told(client, "damaged", "is damaged")


@AS_ROOT
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda file: os.chown(file, 0, 0), DENIED),
        (lambda file: (os.chown(file, 0, 0), file.chmod(0o644)), DENIED),
        (lambda file: file.parent.chmod(0), DENIED),
        (lambda file: file.chmod(0), DENIED),
        (lambda file: file.chmod(0o400), READONLY),
        (lambda file: file.parent.chmod(0o500), READONLY),
    ],
)
def test_what_the_user_may_not(change: Callable[[Path], Any], fault: Any) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        file = folder / "application" / "service.sqlite"
        file.parent.mkdir()
        with closing(sqlite3.connect(file)) as db:
            db.execute("CREATE TABLE a (b)")
        file.chmod(0o600)
        for path in (folder, file.parent, file):
            os.chown(path, 65534, 65534)
        os.seteuid(65534)
        assert look(file) is None
        os.seteuid(0)
        change(file)
        os.seteuid(65534)
        found = look(file)
    finally:
        os.seteuid(0)
        shutil.rmtree(folder)
    assert found is fault


@AS_ROOT
def test_a_folder_of_another_user_stops_no_other_application(two: Any, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:3]:
        parent.chmod(0o755)
    for path in [tmp_path / "data", *(tmp_path / "data").rglob("*")]:
        os.chown(path, 65534, 65534)
    folder = other_file(tmp_path).parent
    os.chown(folder, 0, 0)
    folder.chmod(0o700)
    os.seteuid(65534)
    try:
        with two() as client:
            refused = client.get("plugins", app="other")
            assert refused.error == "The database of the application other may not be used by this user."
            assert client.get("plugins").status == 200
            assert client.get("health").status == 200
            gone = client.delete("applications", {"id": "other", "confirmation": "DELETE APPLICATION other"})
            assert gone.status == 503  # it would come back with the next one of that name
            assert all("other" not in told for told in open_to_others(client.service))  # and `doctor` can look on
            assert [one.id for one in client.service.applications.unregistered()] == ["default", "other"]
            assert client.service.applications.find("other")
    finally:
        os.seteuid(0)
    assert other_file(tmp_path).exists()


def test_a_full_disk_is_told_from_damage(two: Any) -> None:
    """By SQLite's own code; it passes when there is room again."""
    with two() as client:
        other = client.service.applications.find("other")
        with (
            pytest.raises(Unusable, match="The database of the application other has no room left") as failure,
            client.service.database.transaction(other, write=True) as db,
        ):
            db.exec_driver_sql("PRAGMA max_page_count = 1")
            for number in range(100):
                store.put_setting(db, f"n{number}", "x" * 4000)
        assert failure.value.fault is FULL and failure.value.headers == {"Retry-After": "60"}
        assert client.get("applications").json["data"][1]["problem"] == "full"
        client.service.database.dispose()
        with client.service.database.transaction(other, write=True) as db:
            store.put_setting(db, "n", 1)
        assert client.get("applications").json["data"][1]["problem"] == ""


def test_a_lock_is_no_fault(tmp_path: Path) -> None:
    """Waiting mends it: Retry-After is 1."""
    file = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(file)) as one, closing(sqlite3.connect(file, timeout=0)) as two:
        one.execute("CREATE TABLE a (b)")
        one.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError) as locked:
            two.execute("BEGIN IMMEDIATE")
        reading = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        with closing(reading), pytest.raises(sqlite3.OperationalError) as refused:
            reading.execute("DELETE FROM a")
    assert fault_of(locked.value, file) is None
    assert fault_of(refused.value, file) is READONLY


def make_two(service: Service) -> tuple[Client, Application]:
    client = Client(service)
    assert client.post("applications", {"name": "other"}).status == 201
    other = service.applications.find("other")
    assert other is not None
    return client, other


def lose(service: Service, application: Application) -> None:
    service.database.drop(application)


def test_a_missing_database_is_a_fault_on_each_engine(bare: Service) -> None:
    """Also a schema or database of a server that is dropped under the running service."""
    client, other = make_two(bare)
    assert client.get("plugins", app="other").status == 200
    lose(bare, other)
    assert client.get("plugins", app="other").status == 503  # though its schema was found in order a moment ago
    assert_told(client, "missing", "is missing or empty")
    bare.start()
    assert not bare.database.exists(other)
    failed: dict[str, Any] = {}
    assert upgrade(bare, failed) == []
    assert pending_steps(bare, failed) == []
    assert {name: error.fault for name, error in failed.items()} == {"other": MISSING}
    assert not bare.database.exists(other)
    recreate_application(bare, other)
    assert client.get("plugins", app="other").status == 200
    assert client.get("health").json["status"] == "ok"


def test_only_what_cannot_be_used_is_made_anew(bare: Service) -> None:
    _, other = make_two(bare)
    with pytest.raises(Conflict, match="is in order"):
        recreate_application(bare, other)
    with bare.database.transaction(other, write=True) as db:
        db.execute(store.schema_step.insert().values(owner="core", name="s999", applied_at=times.now()))
    bare.applications.forget_state(other)
    with pytest.raises(Unusable, match="newer"):
        recreate_application(bare, other)


def test_what_is_replaced_stays_beside_it(two: Any, tmp_path: Path) -> None:
    overwritten(other_file(tmp_path))
    with two() as client:
        recreate_application(client.service, client.service.applications.find("other"))
        assert client.get("plugins", app="other").status == 200
    [kept] = other_file(tmp_path).parent.glob("service.sqlite.unusable-*")
    assert kept.read_bytes().startswith(b"no database at all")


@pytest.mark.parametrize("how", [gone, emptied, overwritten, without_a_page])
def test_a_registry_that_is_lost_beside_applications(two: Any, tmp_path: Path, how: Callable[[Path], None]) -> None:
    """It would come back empty, with the first application alone. It is entered anew when somebody says so."""
    registry = tmp_path / "data" / "registry.sqlite"
    how(registry)
    with pytest.raises(Unusable, match=r"^The registry is ") as failure, two():
        pass
    assert "snaglist apps adopt" in told(failure.value) and str(registry) in told(failure.value)
    with pytest.raises(Unusable, match=r"^The registry is "), two():
        pass
    config = {"server.data": str(tmp_path / "data")}
    service = Service(Settings(config, environ={}))
    try:
        assert [one.id for one in adopt_applications(service)] == ["default", "other"]
    finally:
        service.close()
    with two() as client:
        assert [one["id"] for one in client.get("applications").json["data"]] == ["default", "other"]
        assert client.get("plugins", app="other").status == 200
        with pytest.raises(Conflict):
            adopt_applications(client.service)


@pytest.mark.parametrize("own_database_config", ["postgresql", "mariadb"], indirect=True)
def test_a_registry_that_is_lost_on_a_server(bare: Service) -> None:
    bare.database.drop(bare.applications.registry)
    with pytest.raises(Unusable, match=r"^The registry is missing or empty[.]$"):
        bare.start()
    assert [one.id for one in adopt_applications(bare)] == ["default"]
    bare.start()
    assert Client(bare).get("plugins").status == 200


def test_a_first_start_that_was_killed_goes_on(bare: Service) -> None:
    """The first application is made before it is listed."""
    with bare.database.transaction(bare.applications.registry, write=True) as db:
        db.execute(store.applications.delete())
    bare.start()
    assert [one.id for one in bare.applications.refresh()] == ["default"]
    assert Client(bare).get("plugins").status == 200


def test_a_statement_that_names_no_table_is_a_mistake_of_its_own(bare: Service) -> None:
    """It is looked up whether the database went; it did not."""
    call = bare.call()
    with pytest.raises(DBAPIError), call.transaction() as db:
        place = "main" if bare.database.engine_name == "sqlite" else bare.applications.all()[0].tenant
        db.execute(text(f"SELECT 1 FROM {place}.nothing"))


def test_health_looks_into_a_few_at_each_probe(two: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cost does not follow the number of applications, yet it finds what is wrong with one."""
    with two() as client:
        for number in range(30):
            assert client.post("applications", {"name": f"app {number}"}).status == 201
        looked: list[str] = []
        into = health.Looking._into
        monkeypatch.setattr(health.Looking, "_into", lambda self, one: looked.append(one.id) or into(self, one))
        assert client.get("health").json["status"] == "ok"
        assert len(looked) == 12
        client.get("health"), client.get("health")
        assert len(looked) == 36 and len(set(looked)) >= 24
        newer(other_file(tmp_path))  # which no look at the file shows
        client.service.applications.forget_state(client.service.applications.find("other"))
        reports = [client.get("health").json["checks"]["schema"] for _ in range(4)]
        assert reports[-1] is False


def test_what_waits_is_found_by_health_among_many(two: Any, install: Callable[..., Any]) -> None:
    install("worker", core=True, register_jobs=lambda: [Job("count", lambda call: None)])
    with two() as client:
        for number in range(30):
            client.post("applications", {"name": f"app {number}"})
        assert client.get("health").json["checks"]["jobs"] is True
        call = client.service.call(client.service.applications.find("app-29"), None)
        with call.transaction():
            call.enqueue("count")
        for _ in range(3):
            client.get("health")
        assert client.get("health").json["checks"]["jobs"] is False  # no worker runs


def test_a_database_that_is_locked_is_not_damaged(two: Any, tmp_path: Path) -> None:
    """Whoever keeps it for himself for long (a backup) does not have it put aside as if it were broken."""
    with (
        two(database__busy_timeout_ms=100) as client,
        closing(sqlite3.connect(other_file(tmp_path), isolation_level=None)) as db,
    ):
        client.service.database.dispose()
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        other = client.service.applications.find("other")
        for work in (check, recreate_application):
            with pytest.raises(Unavailable, match="other cannot be looked through now") as failure:
                work(client.service, other)
            assert not isinstance(failure.value, Unusable)
        assert client.service.database.faults.of(other) is None
    assert not list(other_file(tmp_path).parent.glob("*unusable*"))


def test_a_database_that_an_older_registry_does_not_list(two: Any, tmp_path: Path) -> None:
    """A new application of its name neither begins with its data nor removes it; it can be entered."""
    with two() as client:
        assert client.service.applications.find("other")
    with closing(sqlite3.connect(tmp_path / "data" / "registry.sqlite")) as db, db:
        db.execute("DELETE FROM applications WHERE id = 'other'")
    whole = other_file(tmp_path).read_bytes()
    with two() as client:
        for damage in (lambda file: None, overwritten, cut, of_others):
            damage(other_file(tmp_path))
            refused = client.post("applications", {"name": "other"})
            assert (refused.status, "snaglist apps adopt" in refused.error) == (422, True)
            assert other_file(tmp_path).exists()
        client.service.database.dispose()
        other_file(tmp_path).write_bytes(whole)
        assert [one.id for one in adopt_applications(client.service)] == ["other"]
        assert client.get("plugins", app="other").status == 200
        with pytest.raises(Conflict):
            adopt_applications(client.service)


def test_what_a_killed_creation_left_is_no_application(bare: Service) -> None:
    for upgraded in (False, True):
        left = bare.applications.make(f"left-{upgraded}".lower(), "left", times.now())
        bare.database.create(left)
        if upgraded:
            bare.upgrade_application(left)
        assert not was_used(bare, left)
        assert Client(bare).post("applications", {"name": left.id}).status == 201


def test_a_registry_of_a_newer_snaglist_or_of_others_is_left_alone(two: Any, tmp_path: Path) -> None:
    registry = tmp_path / "data" / "registry.sqlite"
    newer(registry)
    with pytest.raises(Unusable, match=r"^The registry was made by a newer snaglist[.]$"), two():
        pass
    of_others(registry)
    with pytest.raises(Unusable, match=r"^The registry is not one of snaglist[.]$"), two():
        pass


def test_a_registry_that_becomes_another_file_under_the_server(two: Any, tmp_path: Path) -> None:
    registry = tmp_path / "data" / "registry.sqlite"
    with two() as client:
        assert client.get("plugins").status == 200
        whole = registry.read_bytes()
        for damage in (of_others, overwritten, cut, without_tables, emptied, gone):
            client.service.database.dispose()
            for file in registry.parent.glob("registry.sqlite*"):
                file.unlink()
            registry.write_bytes(whole)
            damage(registry)
            assert client.get("health").status in (200, 503)
            assert client.post("applications", {"name": "third"}).status == 503
        client.service.database.dispose()
        for file in registry.parent.glob("registry.sqlite*"):
            file.unlink()
        registry.write_bytes(whole)
        assert client.get("health").json["status"] == "ok"
        assert client.get("plugins", app="other").status == 200


def test_a_worker_whose_application_another_process_removes(bare: Service, caplog: pytest.LogCaptureFixture) -> None:
    """It says so, and shows no failure of its own each second."""
    _, other = make_two(bare)
    bare.require_schema(other)
    lose(bare, other)
    worker = Worker(bare, "worker")
    worker._round()
    assert "unexpected failure" not in caplog.text
    assert "application other: The database of the application other is missing or empty." in caplog.text
