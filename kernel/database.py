"""Engines, tenancy and transactions, and the few statements that differ between databases.

SQLite: one file and engine per application. PostgreSQL: one schema, MySQL/MariaDB: one database per
application, all on one engine; table names are qualified by `schema_translate_map`, and an unqualified
statement finds no table at all, so nothing can reach a neighbour's rows by mistake.
"""

import logging
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, UniqueConstraint, func, inspect, select, text
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import CursorResult
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.schema import CreateSchema, DropSchema

from snaglist.kernel import times
from snaglist.kernel.bulk import records, recordset, takes_records
from snaglist.kernel.engines import (
    OPEN_CONNECTIONS,
    FileEngines,
    begin,
    ends_transaction,
    files_of,
    identity,
    is_mariadb,
    is_outage,
    keep_statistics,
    server_engine,
)
from snaglist.kernel.errors import Unavailable
from snaglist.kernel.faults import FOREIGN, MISSING, KnownFaults, Tenant, Unusable, fault_of, names_no_table
from snaglist.kernel.privacy import make_folder, narrow, open_private
from snaglist.kernel.settings import Settings

__all__ = ["chunks", "clock", "contains", "ends_transaction", "files_of", "insert_ignore", "inserted_id", "upsert"]

log = logging.getLogger("snaglist")

LOCK_SECONDS = 60
REPEATS = 5
_BUSY = "The database is busy; try again."
# Databases that know ON CONFLICT; the others have ON DUPLICATE KEY.
_INSERT: dict[str, Callable[[Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
T = TypeVar("T")


class ConnectionLost(Unavailable):
    """The connection broke before the commit: nothing of the transaction was kept."""


class Database:
    """All databases of one installation."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._timeout = settings["database.busy_timeout_ms"] / 1000
        self._files: OrderedDict[Path, FileEngines] = OrderedDict()
        self._guard = threading.Lock()
        self._server = server_engine(settings) if settings["database.url"] else None
        self.faults = KnownFaults(files=self._server is None)
        self.engine_name = "sqlite" if self._server is None else self._server.dialect.name

    @contextmanager
    def transaction(
        self, tenant: Tenant, *, write: bool, snapshot: bool = False, durable: bool = False
    ) -> Iterator[Connection]:
        """Open one transaction; commit at the end, roll back when the block raises. Without `write` it cannot write.

        With `snapshot` all its reads see the database as it was at the first one (on SQLite they always do). A
        `durable` commit is on the disk when it returns (on servers, unless they are configured otherwise, all are).

        Raises Unavailable when the database cannot be reached or stays locked, Unusable when waiting mends nothing.
        """
        committing = analysed = False
        self.faults.refuse_damaged(tenant)
        try:
            with self._outages(tenant), self._connected(tenant, write, snapshot) as connection, connection.begin():
                begin(connection, write=write, durable=durable)
                yield connection
                analysed = self._server is None and write and keep_statistics(connection)
                committing = True
            if analysed:
                self._engines_of(tenant.file).reading.dispose()
            self.faults.recovered(tenant, write)
        except Unavailable as error:
            # Of a commit nobody knows whether it happened; everything before it is gone for sure.
            if not committing and isinstance(error.__cause__, DBAPIError) and error.__cause__.connection_invalidated:
                raise ConnectionLost(error.message) from error.__cause__
            raise

    @contextmanager
    def _connected(self, tenant: Tenant, write: bool, snapshot: bool) -> Iterator[Connection]:
        if self._server is not None:
            options: dict[str, Any] = {"schema_translate_map": {None: tenant.tenant}, "tenant": tenant.tenant}
            if snapshot:
                options["isolation_level"] = "REPEATABLE READ"
            with self._server.connect().execution_options(**options) as connection:
                yield connection
            return
        engines = self._engines_of(tenant.file)
        if not write:
            with engines.reading.connect() as connection:
                yield connection
            return
        # Threads of one process queue here instead of polling SQLite's file lock.
        if not engines.lock.acquire(timeout=self._timeout):
            raise Unavailable(_BUSY)
        try:
            with engines.writing.connect() as connection:
                yield connection
        finally:
            engines.lock.release()

    @contextmanager
    def _on_server(self, tenant: Tenant) -> Iterator[Connection]:
        """Open a transaction in which a tenant itself is made or dropped."""
        assert self._server is not None
        with self._outages(tenant), self._server.begin() as connection:
            begin(connection, write=True, durable=False)
            yield connection

    @contextmanager
    def exclusive(self, tenant: Tenant) -> Iterator[Connection]:
        """Open a writing transaction that one process at a time can be in; the others wait."""
        name = f"snaglist:{tenant.tenant}"
        if self.engine_name in ("mysql", "mariadb"):
            # The lock lives on a connection of its own, because it must outlast the commit.
            with self._named_lock(name), self.transaction(tenant, write=True) as db:
                yield db
        else:  # SQLite: a writing transaction is that lock
            with self.transaction(tenant, write=True) as db:
                if self.engine_name == "postgresql":
                    _lock_on_postgresql(db, name)
                yield db

    def repeat(self, work: Callable[[], T]) -> T:
        """Run work that opens its own transaction; repeat it when the database ended that transaction.

        Deadlocks, serialisation failures and lost connections are repeated 5 times, then Unavailable; at once
        where no new connection can be had.
        """
        for _ in range(REPEATS):
            try:
                return work()
            except (DBAPIError, ConnectionLost) as error:
                if isinstance(error, DBAPIError) and not ends_transaction(error):
                    raise
                log.info("transaction repeated: %s", type(error.__cause__ or error).__name__)
        raise Unavailable(_BUSY)

    def create(self, tenant: Tenant) -> None:
        """Make the database of a tenant if it is missing."""
        if self._server is None:
            make_folder(tenant.file.parent)
            with suppress(FileExistsError):
                open_private(tenant.file, "xb").close()  # never one that is there: closing it would free SQLite's locks
            with self._outages(tenant), closing(sqlite3.connect(tenant.file)) as made:
                made.execute("PRAGMA page_size = 8192")
                for _ in range(LOCK_SECONDS * 10):
                    try:
                        made.execute("PRAGMA journal_mode = WAL")
                        return
                    except sqlite3.OperationalError as error:  # another process makes it: SQLite does not wait here
                        if "locked" not in str(error):
                            raise
                        time.sleep(0.1)
            raise Unavailable(_BUSY)
        with self._on_server(tenant) as connection:
            if self.engine_name == "postgresql":
                # IF NOT EXISTS alone still fails when two processes create the schema at once.
                _lock_on_postgresql(connection, f"snaglist:{tenant.tenant}")
                connection.execute(CreateSchema(tenant.tenant, if_not_exists=True))
            else:
                collation = "utf8mb4_nopad_bin" if is_mariadb(connection) else "utf8mb4_0900_bin"
                name = connection.dialect.identifier_preparer.quote(tenant.tenant)
                connection.execute(
                    text(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4 COLLATE {collation}")
                )

    def exists(self, tenant: Tenant) -> bool:
        """Tell whether a tenant has a database; a file without content is none."""
        if self._server is None:
            return identity(tenant.file) is not None
        with self._outages(tenant), self._server.connect() as connection:
            if self.engine_name == "postgresql":
                return inspect(connection).has_schema(tenant.tenant)
            listed = text("SELECT 1 FROM information_schema.schemata WHERE schema_name = :name")
            return connection.execute(listed, {"name": tenant.tenant}).first() is not None

    def drop(self, tenant: Tenant) -> None:
        """Remove the database of a tenant with everything in it."""
        self.faults.forget(tenant)
        if self._server is None:
            self.release(tenant)
            for file in files_of(tenant.file):
                file.unlink(missing_ok=True)
            return
        with self._on_server(tenant) as connection:
            if self.engine_name == "postgresql":
                connection.execute(DropSchema(tenant.tenant, cascade=True, if_exists=True))
            else:
                name = connection.dialect.identifier_preparer.quote(tenant.tenant)
                connection.execute(text(f"DROP DATABASE IF EXISTS {name}"))

    def release(self, tenant: Tenant) -> None:
        """Close a SQLite file and forget what was found wrong with it."""
        self.faults.forget(tenant)
        with self._guard:
            known = self._files.pop(tenant.file, None)
        if known:
            known.dispose()

    def version(self) -> tuple[str, tuple[int, ...]]:
        """Return the kind of engine (`mariadb` told from `mysql`) and its version."""
        if self._server is None:
            return "sqlite", sqlite3.sqlite_version_info
        with self._outages(), self._server.connect() as connection:
            found = [part for part in connection.dialect.server_version_info or () if isinstance(part, int)]
            return "mariadb" if is_mariadb(connection) else self.engine_name, tuple(found)

    def dispose(self) -> None:
        """Close all connections."""
        with self._guard:
            files = list(self._files.values())
            self._files.clear()
        for engines in files:
            engines.dispose()
        if self._server:
            self._server.dispose()

    @contextmanager
    def _named_lock(self, name: str) -> Iterator[None]:
        """Hold a lock of MySQL or MariaDB."""
        assert self._server is not None
        with self._outages(), self._server.connect() as connection:
            if connection.execute(func.get_lock(name[:64], LOCK_SECONDS).select()).scalar_one() != 1:
                raise Unavailable(_BUSY)
            try:
                yield
            finally:
                connection.invalidate()  # ends the lock, and cannot fail where the connection is lost

    @contextmanager
    def _outages(self, tenant: Tenant | None = None) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:  # SQLite's own while its file is made
            fault = tenant and fault_of(error, tenant.file)
            if tenant and not tenant.id and names_no_table(error):  # the registry went under who uses it
                fault = FOREIGN if self._server is None else MISSING
            if tenant and fault:
                self.faults.note(tenant, fault, getattr(error, "orig", error))
                raise Unusable(tenant, fault) from error
            if isinstance(error, DBAPIError) and not is_outage(error):
                raise
            log.warning("database unavailable: %s", getattr(error, "orig", error))
            raise Unavailable("The database is not available now; try again.") from error
        except PoolTimeout as error:
            raise Unavailable(_BUSY) from error

    def _engines_of(self, path: Path) -> FileEngines:
        with self._guard:
            known = self._files.get(path)
            if known is None:
                for file in files_of(path):
                    narrow(file)
                known = self._files[path] = FileEngines(path, self._settings, self._make_room)
            self._files.move_to_end(path)
            return known

    def _make_room(self) -> None:
        """Close the files that were used longest ago while too many connections are open."""
        with self._guard:
            while len(self._files) > 1 and sum(map(FileEngines.connections, self._files.values())) > OPEN_CONNECTIONS:
                self._files.popitem(last=False)[1].dispose()


def _lock_on_postgresql(db: Connection, name: str) -> None:
    """Take a lock for the rest of the transaction."""
    db.execute(func.set_config("lock_timeout", f"{LOCK_SECONDS}s", True).select())
    db.execute(func.pg_advisory_xact_lock(func.hashtextextended(name, 0)).select())


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Cut a sequence into pieces of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def contains(column: ColumnElement[str], wanted: str) -> ColumnElement[bool]:
    """Literal substring test; fold both sides with `key()` before. No character has a special meaning."""
    return column.contains(wanted, autoescape=True)


def inserted_id(result: CursorResult[Any]) -> int:
    """Return the id that a single insert made."""
    return int(result.inserted_primary_key[0])  # type: ignore[index]


def upsert(
    db: Connection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    keys: Sequence[str] = (),
    add: Sequence[str] = (),
    least: Sequence[str] = (),
    greatest: Sequence[str] = (),
    replace: Sequence[str] = (),
) -> None:
    """Insert rows; where the key exists, add to, lower, raise or replace the named columns.

    `keys` names the key's columns, by default the primary key, or the unique key of tables numbered by `id`.
    Give each key once and the rows in key order, so that concurrent writers do not deadlock.
    """
    if not rows:
        return
    names = tuple(rows[0]) if takes_records(db, table, rows) else ()
    changes = (tuple(keys), tuple(add), tuple(least), tuple(greatest), tuple(replace))
    statement = _upsert_statement(db.dialect.name, table, names, *changes)
    db.execute(statement, {"rows": records(db, table, rows)} if names else rows)


@lru_cache(maxsize=256)
def _upsert_statement(
    dialect: str,
    table: Table,
    names: tuple[str, ...],
    keys: tuple[str, ...],
    add: tuple[str, ...],
    least: tuple[str, ...],
    greatest: tuple[str, ...],
    replace: tuple[str, ...],
) -> Any:
    """Return the statement of `upsert`; with `names` its rows come as a JSON document with these columns."""
    if dialect in _INSERT:
        statement = _INSERT[dialect](table)
        new: Any = statement.excluded
    else:
        statement = mysql.insert(table)
        new = statement.inserted
    lower, higher = (func.min, func.max) if dialect == "sqlite" else (func.least, func.greatest)
    changes: dict[str, Any] = {name: table.c[name] + new[name] for name in add}
    changes |= {name: lower(table.c[name], new[name]) for name in least}
    changes |= {name: higher(table.c[name], new[name]) for name in greatest}
    changes |= {name: new[name] for name in replace}
    if dialect not in _INSERT:
        return statement.on_duplicate_key_update(**changes)
    if names:
        statement = statement.from_select(list(names), select(*recordset(table, list(names)).c))
    return statement.on_conflict_do_update(index_elements=list(keys or _key(table)), set_=changes)


def insert_ignore(db: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows; those whose key exists are left as they are."""
    if not rows:
        return
    if db.dialect.name in _INSERT:
        db.execute(_INSERT[db.dialect.name](table).on_conflict_do_nothing(), rows)
    else:
        same = next(iter(table.primary_key.columns))
        db.execute(mysql.insert(table).on_duplicate_key_update({same.name: same}), rows)


def _key(table: Table) -> list[str]:
    """The columns that decide whether a row exists: the unique key of tables numbered by `id`, else the primary key."""
    unique = [constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint)]
    numbered = table.autoincrement_column is not None
    return [column.name for column in (unique[0] if numbered and unique else table.primary_key).columns]


def clock(db: Connection) -> str:
    """Return the database's own time, so that leases of several machines compare."""
    if db.dialect.name == "sqlite":
        return times.now()
    if db.dialect.name == "postgresql":
        moment = func.to_char(func.timezone("UTC", func.clock_timestamp()), "YYYY-MM-DD HH24:MI:SS")
    else:
        moment = func.date_format(func.utc_timestamp(), "%Y-%m-%d %H:%i:%s")
    return str(db.execute(moment.select()).scalar_one())
