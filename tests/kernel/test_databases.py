"""Tenancy, transactions and the few statements that differ between databases."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, Table, UniqueConstraint, delete, func, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from snaglist.kernel import columns, store
from snaglist.kernel.database import chunks, clock, contains, insert_ignore, inserted_id, upsert
from snaglist.kernel.engines import ends_transaction, is_outage, server_engine
from snaglist.kernel.errors import Unavailable
from snaglist.kernel.service import Service
from snaglist.kernel.settings import ConfigurationError, Settings
from snaglist.kernel.text import key
from snaglist.plugins.system.registering import add_application
from snaglist.testing import Client, running_service

Kernel = Callable[..., Any]
tables = MetaData()
counters = Table(
    "test_counters", tables,
    columns.text("name", 100, primary_key=True), columns.number("total"),
    columns.moment("first"), columns.moment("last"), columns.text("label", 20),
)  # fmt: skip
named = Table(
    "test_named", tables, columns.id_column(), columns.text("name", 100), columns.number("total"), columns.text("body"),
    columns.document("value", nullable=True), UniqueConstraint("name"),
)  # fmt: skip


@pytest.fixture
def db_of(bare: Service) -> Iterator[Callable[..., Any]]:
    """Open transactions of an application that has the test's tables."""
    application = bare.applications.all()[0]
    with bare.database.transaction(application, write=True) as db:
        tables.create_all(db)

    def open_transaction(write: bool = True) -> Any:
        return bare.database.transaction(application, write=write)

    yield open_transaction


def row(name: str, total: int, first: str, last: str, label: str) -> dict[str, Any]:
    return {
        "name": name,
        "total": total,
        "first": f"2026-01-0{first} 00:00:00",
        "last": f"2026-01-0{last} 00:00:00",
        "label": label,
    }


def test_upsert(db_of: Callable[..., Any]) -> None:
    changes = {"add": ["total"], "least": ["first"], "greatest": ["last"], "replace": ["label"]}
    with db_of() as db:
        upsert(db, counters, [row("a", 1, "2", "2", "x"), row("b", 5, "2", "2", "x")], **changes)
        upsert(db, counters, [row("a", 2, "1", "3", "y"), row("c", 7, "4", "4", "z")], **changes)
        upsert(db, counters, [row("a", 3, "3", "1", "w")], **changes)
        upsert(db, counters, [], **changes)
        found = {name: rest for name, *rest in db.execute(select(counters).order_by(counters.c.name)).all()}
    assert found["a"] == [6, "2026-01-01 00:00:00", "2026-01-03 00:00:00", "w"]
    assert found["b"][0] == 5 and found["c"][0] == 7


def test_upsert_by_the_unique_key_of_numbered_tables(db_of: Callable[..., Any]) -> None:
    with db_of() as db:
        first = inserted_id(db.execute(insert(named), {"name": "n", "total": 1, "body": ""}))
        upsert(db, named, [{"name": "n", "total": 2, "body": "new"}], add=["total"], replace=["body"])
        assert db.execute(select(named.c.id, named.c.total, named.c.body)).all() == [(first, 3, "new")]


def test_insert_ignore(db_of: Callable[..., Any]) -> None:
    with db_of() as db:
        insert_ignore(db, counters, [row("a", 1, "1", "1", "x")])
        insert_ignore(db, counters, [row("a", 9, "9", "9", "y"), row("b", 2, "1", "1", "x")])
        insert_ignore(db, counters, [])
        assert db.execute(select(counters.c.name, counters.c.total).order_by(counters.c.name)).all() == [
            ("a", 1),
            ("b", 2),
        ]


def test_json_and_long_text_come_back(db_of: Callable[..., Any]) -> None:
    value = {"ü": [1, 2.5, None, True, "😀"], "empty": {}}
    with db_of() as db:
        db.execute(insert(named), {"name": "j", "total": 2**63 - 1, "body": "😀" * 100_000, "value": value})
        assert db.execute(select(named.c.value, named.c.body, named.c.total)).one() == (
            value,
            "😀" * 100_000,
            2**63 - 1,
        )


def test_text_compares_binary(db_of: Callable[..., Any]) -> None:
    """Equal on all engines, whatever the server's collation: case, accents and blanks at the end count."""
    words = ["a", "A", "ä", "a ", "z", "Z", "é", "e\u0301", "😀"]
    with db_of() as db:
        db.execute(insert(named), [{"name": word, "total": 1, "body": word} for word in words])
        assert db.scalars(select(named.c.name).order_by(named.c.name)).all() == sorted(words, key=str.encode)
        for column in (named.c.name, named.c.body):
            assert all(db.scalars(select(named.c.name).where(column == word)).all() == [word] for word in words)
    with pytest.raises(IntegrityError), db_of() as db:
        db.execute(insert(named), {"name": "a", "total": 1, "body": ""})


@settings(max_examples=40)
@given(st.text(st.sampled_from("a%_\\*?['\"]ß/ü"), max_size=6), st.text(st.sampled_from("a%_\\*?['\"]ß/ü"), max_size=3))
def test_contains_is_a_literal_substring_test(db_of: Callable[..., Any], body: str, wanted: str) -> None:
    """No character has a special meaning; the database decides as Python does."""
    with db_of() as db:
        db.execute(named.delete())
        db.execute(insert(named), {"name": "n", "total": 1, "body": key(body)})
        found = db.execute(select(named.c.id).where(contains(named.c.body, key(wanted)))).first() is not None
    assert found == (key(wanted) in key(body))


def test_a_failing_transaction_leaves_nothing(db_of: Callable[..., Any]) -> None:
    with pytest.raises(RuntimeError), db_of() as db:
        db.execute(insert(named), {"name": "gone", "total": 1, "body": ""})
        raise RuntimeError
    with db_of(write=False) as db:
        assert db.execute(select(named)).all() == []


def test_foreign_keys_hold_and_parameters_stay_out_of_messages(db_of: Callable[..., Any]) -> None:
    """A secret that was bound to a statement must not reach a log through its failure."""
    with pytest.raises(DBAPIError) as failure, db_of() as db:
        db.execute(insert(named), [{"name": "s3cret-value", "total": 1, "body": ""}] * 2)
    assert "[parameters:" not in str(failure.value)


def test_one_application_cannot_see_the_other(bare: Service) -> None:
    """A statement that names no tenant finds no table at all."""
    client = Client(bare)
    client.post("applications", {"name": "second"})
    first, second = bare.applications.refresh()
    for number, application in enumerate((first, second)):
        with bare.database.transaction(application, write=True) as db:
            store.put_setting(db, "probe", number)
    for number, application in enumerate((first, second)):
        with bare.database.transaction(application, write=False) as db:
            assert store.get_setting(db, "probe") == number
    if bare.database.engine_name != "sqlite":
        with pytest.raises(DBAPIError), bare.database.transaction(first, write=False) as db:
            db.execute(text("SELECT * FROM settings"))


def test_long_ids_get_databases_of_their_own(bare: Service) -> None:
    """Two ids that differ in their last character have databases of their own."""
    client = Client(bare)
    ids = ["a" * 63 + last for last in "xy"]
    made = [client.post("applications", {"name": "long", "id": wanted}) for wanted in ids]
    assert [answer.status for answer in made] == [201, 201]
    assert len({answer.json["database"] for answer in made}) == 2
    for wanted in ids:
        application = bare.applications.find(wanted)
        assert application is not None and len(application.tenant) <= 63
        with bare.database.transaction(application, write=True) as db:
            assert store.get_setting(db, "probe") is None
            store.put_setting(db, "probe", wanted)


def test_writers_queue(bare: Service) -> None:
    """Concurrent writers wait for each other and none fails."""
    application = bare.applications.all()[0]
    failures: list[BaseException] = []

    def add() -> None:
        try:
            for _ in range(10):
                with bare.database.transaction(application, write=True) as db:
                    db.execute(select(store.settings).with_for_update()).all()
                    store.put_setting(db, "count", store.get_setting(db, "count", 0) + 1)
        except BaseException as error:
            failures.append(error)

    with bare.database.transaction(application, write=True) as db:
        store.put_setting(db, "count", 0)
    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    with bare.database.transaction(application, write=False) as db:
        assert store.get_setting(db, "count") == 40


def test_a_wait_beyond_the_timeout_is_503(tmp_path: Any, own_database_config: dict[str, str]) -> None:
    """503 with Retry-After, after about `database.busy_timeout_ms`."""
    with running_service(
        tmp_path / "data", jobs=False, database__busy_timeout_ms=1000, **own_database_config
    ) as service:
        application = service.applications.all()[0]
        held, done = threading.Event(), threading.Event()

        def hold() -> None:
            with service.database.transaction(application, write=True) as db:
                store.put_setting(db, "plugin.x", {})
                held.set()
                done.wait(30)

        holder = threading.Thread(target=hold)
        with service.database.transaction(application, write=True) as db:
            store.put_setting(db, "plugin.x", {})
        holder.start()
        assert held.wait(10)
        started = time.monotonic()
        try:
            with pytest.raises(Unavailable) as failure, service.database.transaction(application, write=True) as db:
                store.put_setting(db, "plugin.x", {"enabled": True})
        finally:
            done.set()
            holder.join()
        assert failure.value.headers == {"Retry-After": "1"}
        assert 0.5 < time.monotonic() - started < 15


@pytest.mark.parametrize("own_database_config", ["postgresql", "mariadb"], indirect=True)
def test_an_exhausted_pool_is_503(tmp_path: Any, own_database_config: dict[str, str]) -> None:
    config: dict[str, Any] = {"database__pool_size": 1, "database__busy_timeout_ms": 300, **own_database_config}
    with running_service(tmp_path / "data", jobs=False, **config) as service:
        application = service.applications.all()[0]
        engine = service.database._server
        assert engine is not None
        taken = [engine.connect() for _ in range(17)]
        try:
            with pytest.raises(Unavailable), service.database.transaction(application, write=False):
                pass
        finally:
            for connection in taken:
                connection.close()


def test_a_database_file_that_is_gone_is_503(kernel: Kernel) -> None:
    """It must not come back empty."""
    with kernel() as client:
        application = client.service.applications.all()[0]
        client.service.database.dispose()
        application.file.unlink()
        assert client.get("plugins").status == 503
        assert not application.file.exists()


def test_a_deadlock_is_repeated(bare: Service) -> None:
    """Two transactions that lock two rows in opposite order: the database ends one, and it is run again."""
    application = bare.applications.all()[0]
    with bare.database.transaction(application, write=True) as db:
        for name in ("a", "b"):
            store.put_setting(db, name, 0)
    meeting = threading.Barrier(2)
    runs: list[str] = []
    done: list[str] = []

    def change(first: str, second: str) -> None:
        def work() -> None:
            with bare.database.transaction(application, write=True) as db:
                runs.append(first)
                store.put_setting(db, first, 1)
                if bare.database.engine_name != "sqlite" and len(runs) <= 2:
                    meeting.wait(10)
                store.put_setting(db, second, 2)

        bare.database.repeat(work)
        done.append(first)

    threads = [threading.Thread(target=change, args=pair) for pair in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(done) == ["a", "b"]
    assert len(runs) >= (2 if bare.database.engine_name == "sqlite" else 3)


def test_repeating_ends_with_503(bare: Service) -> None:
    tries: list[int] = []

    class Deadlock(Exception):
        sqlstate = "40001"

    def work() -> None:
        tries.append(1)
        raise OperationalError("x", {}, Deadlock())

    with pytest.raises(Unavailable):
        bare.database.repeat(work)
    assert len(tries) == 5


@pytest.mark.parametrize("own_database_config", ["postgresql", "mariadb"], indirect=True)
@pytest.mark.parametrize("at_commit", [False, True])
def test_a_lost_connection_is_repeated(bare: Service, at_commit: bool) -> None:
    """Where a new one can be had; but of a commit that got no answer nobody knows whether it happened."""
    application, database = bare.applications.all()[0], bare.database
    postgres = database.engine_name == "postgresql"
    runs: list[int] = []

    def work() -> None:
        with database.transaction(application, write=True) as db:
            store.put_setting(db, "n", len(runs))
            runs.append(1)
            if len(runs) == 1:
                number = db.scalar(text("SELECT pg_backend_pid()" if postgres else "SELECT connection_id()"))
                with database.transaction(application, write=True) as other:
                    other.execute(text(f"SELECT pg_terminate_backend({number})" if postgres else f"KILL {number}"))
                time.sleep(0.2)
            if not at_commit:
                store.put_setting(db, "m", len(runs))

    if at_commit:
        with pytest.raises(Unavailable):
            database.repeat(work)
        assert len(runs) == 1
        return
    database.repeat(work)
    with database.transaction(application, write=False) as db:
        assert (store.get_setting(db, "n"), store.get_setting(db, "m")) == (1, 2)


@pytest.mark.parametrize("own_database_config", ["mariadb"], indirect=True)
def test_a_lock_whose_connection_is_lost(bare: Service) -> None:
    """What was done under it stands, what went wrong under it is told, and the next one gets the lock."""
    application, database = bare.applications.all()[0], bare.database

    def end_holder() -> None:
        with database.transaction(application, write=True) as other:
            holder = other.scalar(select(func.is_used_lock(f"snaglist:{application.tenant}"[:64])))
            other.execute(text(f"KILL {holder}"))

    with database.exclusive(application) as db:
        store.put_setting(db, "n", 1)
        end_holder()
    with pytest.raises(ZeroDivisionError), database.exclusive(application):
        end_holder()
        raise ZeroDivisionError
    with database.exclusive(application) as db:
        assert store.get_setting(db, "n") == 1


@pytest.mark.parametrize("own_database_config", ["mariadb"], indirect=True)
def test_a_connection_that_is_lost_while_it_waits_for_a_lock(bare: Service) -> None:
    application, database = bare.applications.all()[0], bare.database
    waiting = text("SELECT id FROM information_schema.processlist WHERE info LIKE :asked")
    asked = {"asked": f"SELECT get_lock('snaglist:{application.tenant}%"}
    refused: list[Exception] = []

    def wait() -> None:
        try:
            with database.exclusive(application):
                pass
        except Exception as error:
            refused.append(error)

    with database.exclusive(application) as db:
        thread = threading.Thread(target=wait)
        thread.start()
        while (number := db.scalar(waiting, asked)) is None:
            time.sleep(0.01)
        db.execute(text(f"KILL {number}"))
        thread.join(10)
    assert [type(error) for error in refused] == [Unavailable]


@pytest.mark.parametrize("damage", ["gone", "damaged", "behind"])
def test_a_broken_application_can_be_removed(bare: Service, damage: str) -> None:
    """Its plugins are not told, for want of a database to tell them in."""
    broken = add_application(bare, "Broken")
    sqlite = bare.database.engine_name == "sqlite"
    if damage == "behind":
        with bare.database.transaction(broken, write=True) as db:
            db.execute(delete(store.schema_step))
    elif not sqlite:
        bare.database.drop(broken)
    else:
        bare.database.dispose()
        broken.file.write_bytes(b"no database at all" * 1000) if damage == "damaged" else broken.file.unlink()
    bare.applications.forget_state(broken)
    client = Client(bare)
    assert client.get("plugins", app="broken").status == 503
    body = {"id": "broken", "confirmation": "DELETE APPLICATION broken"}
    assert client.delete("applications", body).json == {"id": "broken", "deleted": True}
    assert client.get("plugins", app="broken").status == 422
    assert add_application(bare, "Broken").id == "broken"


@pytest.mark.parametrize(
    ("arguments", "state", "lost", "outage"),
    [
        ((1213, "Deadlock"), None, True, False), ((1305, "SAVEPOINT"), "42000", True, False),
        ((1205, "Lock wait"), "HY000", True, True), ((2013, "Lost"), "HY000", True, True),
        (("deadlock",), "40P01", True, False), (("serialise",), "40001", True, False),
        (("lock",), "55P03", True, True), (("shutdown",), "57P01", True, True), (("connect",), None, True, True),
        (("unique",), "23505", False, False), ((1062, "Duplicate"), "23000", False, False),
        (("syntax",), "42601", False, False),
    ],
)  # fmt: skip
def test_what_a_failure_means(arguments: tuple[Any, ...], state: str | None, lost: bool, outage: bool) -> None:
    original = type("OperationalError", (Exception,), {"sqlstate": state})(*arguments)
    error = OperationalError("x", {}, original)
    assert (ends_transaction(error), is_outage(error)) == (lost, outage)
    assert not ends_transaction(RuntimeError())


def test_clock_and_chunks(db_of: Callable[..., Any]) -> None:
    with db_of(write=False) as db:
        assert len(clock(db)) == 19
    assert [list(piece) for piece in chunks([1, 2, 3, 4, 5], 2)] == [[1, 2], [3, 4], [5]]
    assert list(chunks([], 2)) == []


@pytest.mark.parametrize(
    "url",
    ["postgresql+asyncpg://a@b/c", "postgresql+psycopg_async://a@b/c", "postgresql+pg8000://a@b/c", "postgres://a@b/c",
     "mysql+aiomysql://a@b", "mysql+nope://a@b", "sqlite+aiosqlite:///a", "sqlite:///a", "oracle://a", "a"],
)  # fmt: skip
def test_databases_and_drivers_that_are_not_supported(url: str) -> None:
    """Their failures read in other ways, and some wait in ways of their own."""
    with pytest.raises(ConfigurationError, match=r"^database[.]url: must be empty, postgresql\+psycopg://"):
        server_engine(Settings({"database.url": url}, environ={}))


@pytest.mark.parametrize(
    "url",
    ["mysql+pymysql://a@127.0.0.1:1?bar=2", "mysql+pymysql://a@127.0.0.1:1?connect_timeout=x",
     "mysql+pymysql://a@127.0.0.1:1?connect_timeout=1&connect_timeout=2",
     "mysql+pymysql://a@127.0.0.1:1?charset=x", "mysql+pymysql://a@127.0.0.1:1?plugin=x",
     "postgresql+psycopg://a@127.0.0.1:1/c?foo=1", "postgresql+psycopg://a@127.0.0.1:1/c?prepare_threshold=0"],
)  # fmt: skip
def test_options_that_the_driver_does_not_take(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^database[.]url: the driver or the server refuses it: "):
        server_engine(Settings({"database.url": url}, environ={})).connect()
