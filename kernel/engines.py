"""Engines of the three databases, and what their failures mean."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.util import LRUCache

from snaglist.kernel.faults import code_of
from snaglist.kernel.settings import ConfigurationError, Settings

CONNECT_SECONDS = 5
ANALYSED = 1_000  # entries of an index that SQLite's statistics are made from, and changed rows before the first ones
_COMPILED: Any = LRUCache(1_000)  # statements of all SQLite files
_WANTED = "database.url: must be empty, postgresql+psycopg://USER:PASS@HOST/DB or mysql+pymysql://USER:PASS@HOST"
_REFUSED = "database.url: the driver or the server refuses it: see its user, and take away options it does not know"
# Others speak of failures in other ways, or wait in ways of their own (asynchronous ones).
_DRIVERS = {"psycopg": "'snaglist[postgres]'", "pymysql": "'snaglist[mysql]'", "mysqldb": "mysqlclient"}
_NOT_TEXTS = {"autocommit", "context", "cursor_factory", "prepare_threshold", "row_factory"}  # psycopg takes objects
_IN_ERROR = 3  # libpq: PQTRANS_INERROR


def _open_files_limit() -> int:
    """Return how many files this process may have open."""
    try:
        import resource  # not on every system
    except ImportError:
        return 512
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 2**31 if most == resource.RLIM_INFINITY else most


# To SQLite files. Each takes three of the files that a process may have open, and half of those are for others.
OPEN_CONNECTIONS = max(16, min(256, _open_files_limit() // 6))


class FileEngines:
    """What one SQLite file is reached by: connections for reading, connections for writing, the lock of who writes.

    `opened` is called when one was opened. PERF: apart, because a change of `query_only` would make SQLite prepare all
    statements of a connection anew.
    """

    def __init__(self, path: Path, settings: Settings, opened: Callable[[], None]) -> None:
        self.reading = _file_engine(path, settings, opened, write=False)
        self.writing = _file_engine(path, settings, opened, write=True)
        self.lock = threading.Lock()

    def connections(self) -> int:
        """Return how many are open. PERF: takes no lock of the pools."""
        pools: Any = (self.reading.pool, self.writing.pool)
        return sum(pool.size() + pool.overflow() for pool in pools)

    def dispose(self) -> None:
        """Close all connections that nobody uses; the others when they are given back."""
        self.reading.dispose()
        self.writing.dispose()


def _file_engine(path: Path, settings: Settings, opened: Callable[[], None], *, write: bool) -> Engine:
    """Return an engine of one SQLite file; `begin` begins its transactions.

    PERF: one of many is made in a moment. They share what SQLAlchemy would find out and compile for each anew, which
    costs more than most requests.
    """
    timeout = settings["database.busy_timeout_ms"]

    def connect() -> sqlite3.Connection:
        if identity(path) is None:  # SQLite takes an empty one for a new database
            empty = sqlite3.OperationalError("unable to open the database file, or it is empty")
            empty.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise empty
        # mode=rw: a file that is gone must fail, not come back empty.
        made = sqlite3.connect(
            f"file:{quote(str(path))}?mode=rw", timeout / 1000, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "temp_store = MEMORY"):
                made.execute(f"PRAGMA {pragma}")
            made.execute(f"PRAGMA query_only = {not write}")
            made.execute("SELECT 1 FROM sqlite_master LIMIT 0")  # reads what all statements need
        except (sqlite3.Error, UnicodeDecodeError) as error:
            made.close()
            if isinstance(error, sqlite3.Error):
                raise
            broken = sqlite3.DatabaseError("its schema is no text")
            broken.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise broken from error
        return made

    shared = _on_files()
    opener: Any = connect  # typed otherwise than sqlite3 is
    # A connection reads the statistics once: a new one every hour knows those that others made meanwhile.
    pool = QueuePool(opener, settings["database.pool_size"], 64, recycle=3600, dialect=shared.dialect)
    engine = Engine(
        pool, shared.dialect, shared.url, execution_options={"compiled_cache": _COMPILED}, hide_parameters=True
    )

    # Also a file that was removed or replaced goes on to work for who has it open: what is written there is lost.
    @event.listens_for(engine, "connect")
    def remember(_: Any, record: ConnectionPoolEntry) -> None:
        record.info.update(file=identity(path), write=write, synchronous="NORMAL", analyse_at=ANALYSED)
        opened()

    @event.listens_for(engine, "checkout")
    def compare(_: Any, record: ConnectionPoolEntry, __: Any) -> None:
        if record.info["file"] != identity(path):
            raise DisconnectionError("the database file is another one")

    return engine


@cache
def _on_files() -> Engine:
    """Return an engine whose dialect has met SQLite."""
    engine = create_engine("sqlite://")
    engine.connect().close()
    engine.dispose()
    _watch_failures(engine)
    return engine


def begin(connection: Connection, *, write: bool, durable: bool) -> None:
    """Prepare a connection for its next transaction: the database itself refuses to write in one for reading.

    On SQLite the transaction begins here, and a writing one waits for other processes. What a connection was told last
    is remembered, so that most transactions cost no statement more.
    """
    driver: Any = connection.connection.dbapi_connection
    told, engine = connection.info, connection.dialect.name
    told["given_up"] = False
    if told.get("write", True) != write:  # never on SQLite: its connections are for one of both
        if engine == "postgresql":
            driver.read_only = not write
        else:
            connection.exec_driver_sql(f"SET SESSION TRANSACTION READ {'WRITE' if write else 'ONLY'}")
        told["write"] = write
    if engine == "sqlite":
        wanted = "FULL" if durable else "NORMAL"
        if write and told["synchronous"] != wanted:
            driver.execute(f"PRAGMA synchronous = {wanted}")
            told["synchronous"] = wanted
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _watch_failures(engine: Engine) -> None:
    """Raise the same error on every database where something writes in a transaction for reading."""

    @event.listens_for(engine, "handle_error")
    def look(context: Any) -> None:
        error, connection = context.original_exception, context.connection
        code = getattr(error, "sqlite_errorcode", None) or code_of(error)
        if connection is None or connection.closed or connection.invalidated:
            return
        if code in _READ_ONLY and not connection.info.get("write", True):
            raise RuntimeError("this transaction is for reading: it cannot write")
        if code in _DEADLOCKS:
            connection.info["given_up"] = True


class TransactionEnded(RuntimeError):
    """SQL of a block ended the transaction that it shares with others: COMMIT, or on MariaDB a change of the schema."""


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """Undo what the block writes when it raises; TransactionEnded when the transaction is not there any more."""
    nested = connection.begin_nested()
    try:
        yield
    except BaseException:
        _end(connection, nested.rollback)
        raise
    _end(connection, nested.commit)


def _end(connection: Connection, end: Callable[[], None]) -> None:
    try:
        end()
    except DBAPIError as error:  # no savepoint of that name
        if is_outage(error) or connection.info["given_up"]:
            raise
        raise TransactionEnded("the transaction of call.db is shared: SQL ended it, so all is rolled back") from error


# SQLite, PostgreSQL, MySQL and MariaDB, for whoever writes in a transaction that is for reading.
_READ_ONLY = (sqlite3.SQLITE_READONLY, "25006", 1792)


def keep_statistics(connection: Connection) -> bool:
    """Let SQLite look at its indexes anew, as servers do by themselves, after 1,000 changed rows, then 4,000, 16,000 …

    It chooses plans by that. PRAGMA optimize would leave out tables that this connection only writes. With the limit it
    takes 50 ms in a database of 500 MB. True when it did: other connections know nothing of it until they are new.
    """
    raw: Any = connection.connection.dbapi_connection
    if raw.total_changes < connection.info["analyse_at"]:
        return False
    connection.info["analyse_at"] = 4 * raw.total_changes
    connection.exec_driver_sql(f"PRAGMA analysis_limit = {ANALYSED}")
    connection.exec_driver_sql("ANALYZE")
    return True


def identity(path: Path) -> tuple[int, int] | None:
    """Return what tells the file of a database from another at its place; None where it is missing or empty."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found.st_size else None


def files_of(database: Path) -> list[Path]:
    """Return a database's file and those that SQLite keeps beside it, with its mode."""
    return [Path(f"{database}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]


def server_engine(settings: Settings) -> Engine:
    """Return the engine of the configured server; its connections see no tenant until one is named."""
    wait = max(1, settings["database.busy_timeout_ms"])
    try:
        url = make_url(settings["database.url"])
        name, driver = url.get_backend_name(), url.get_driver_name()
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        raise ConfigurationError(_WANTED) from error
    if name not in ("postgresql", "mysql", "mariadb") or driver not in _DRIVERS:
        raise ConfigurationError(_WANTED)
    if name == "postgresql":
        if unfit := _NOT_TEXTS & url.query.keys():
            raise ConfigurationError(f"{_REFUSED} ({', '.join(sorted(unfit))})")
        # Statements are short and many: compiling one took five times as long as running it, and helper
        # processes for one request take the processors from the others.
        given = url.query.get("options", "")  # the URL's own session settings stand unless they are ours
        session = f"{given} -c search_path=pg_catalog -c timezone=UTC -c lock_timeout={wait}"
        session += " -c jit=off -c max_parallel_workers_per_gather=0"
        ours = {"options": session}
    else:
        url = url.set(database="", query={"charset": "utf8mb4", **url.query})
        session = "SET time_zone='+00:00', sql_mode='STRICT_ALL_TABLES'"
        ours = {"init_command": f"{session}, innodb_lock_wait_timeout={max(1, wait // 1000)}"}
    try:
        engine = create_engine(
            url,
            connect_args={"connect_timeout": CONNECT_SECONDS, **ours},
            pool_size=settings["database.pool_size"],
            max_overflow=16,
            pool_pre_ping=True,
            pool_timeout=wait / 1000,
            hide_parameters=True,
            **({} if name == "postgresql" else {"isolation_level": "READ COMMITTED"}),
        )
    except ImportError as error:
        raise ConfigurationError(f"database.url: {error}: pip install {_DRIVERS[driver]}") from error
    except (ArgumentError, NoSuchModuleError, TypeError, ValueError) as error:
        raise ConfigurationError(f"{_REFUSED} ({error})") from error

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, _: Any, arguments: Any, options: Any) -> Any:
        try:
            return dialect.connect(*arguments, **options)
        except Exception as error:
            if isinstance(error, dialect.loaded_dbapi.Error) and is_outage(DBAPIError(None, None, error)):
                raise
            raise ConfigurationError(f"{_REFUSED} ({' '.join(str(error).split())})") from error

    _watch_failures(engine)
    return engine


def is_mariadb(connection: Connection) -> bool:
    """Tell MariaDB from MySQL."""
    return bool(getattr(connection.dialect, "is_mariadb", False))


def is_aborted(connection: Connection) -> bool:
    """Tell whether PostgreSQL refuses further statements because one failed; rolling back to a savepoint helps."""
    info = getattr(connection.connection.dbapi_connection, "info", None)
    return getattr(info, "transaction_status", None) == _IN_ERROR


# SQLSTATE: 40001 serialisation failure, 40P01 deadlock. MySQL: 1213 deadlock; 1305 on rolling back to a
# savepoint: the server had rolled the whole transaction back, which hides the deadlock.
_DEADLOCKS = {"40001", "40P01", 1213}
_GIVEN_UP = {*_DEADLOCKS, 1305}
# SQLSTATE classes and codes: connection, resources, shutdown, credentials, unknown database or schema; 42501 no
# privilege; 55P03 lock wait.
_OUTAGE_STATES = ("08", "53", "57P", "28", "3D", "3F", "42501", "55P03", "25006")
# MySQL: 1021 disk full, 1040 too many connections, 1044, 1045 access, 1049 unknown database, 1053 shutdown, 1114 table
# full, 1205 lock wait, 1290, 1836 read-only, 1927 killed, 2002 … 2055 connection, 4031 idle.
_OUTAGE_CODES = {1021, 1040, 1044, 1045, 1049, 1053, 1114, 1205, 1290, 1836, 1927, 2002, 2003, 2006, 2013, 2055, 4031}
_OUTAGE_ON_SQLITE = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
}  # fmt: skip


def ends_transaction(error: BaseException) -> bool:
    """Tell whether the transaction is lost: deadlock, serialisation failure, ended by SQL, or no database any more."""
    if isinstance(error, TransactionEnded):
        return True
    if not isinstance(error, DBAPIError):
        return False
    return code_of(error.orig) in _GIVEN_UP or is_outage(error)


def is_outage(error: DBAPIError) -> bool:
    """Tell whether the database cannot be used now: unreachable, shutting down, locked for too long, full, gone."""
    if error.connection_invalidated:
        return True
    if isinstance(error.orig, sqlite3.Error):
        return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF in _OUTAGE_ON_SQLITE
    code = code_of(error.orig)
    if isinstance(code, str):
        return code.startswith(_OUTAGE_STATES)
    # A failed connection attempt has no code at all.
    return code in _OUTAGE_CODES or (code is None and type(error.orig).__name__ == "OperationalError")
