"""Fixtures of the whole suite: services and clients on the databases that are there.

Making some forty tables takes seconds on a busy server, so each test process makes them once per database:
on SQLite as a template that is copied, on the servers under one prefix whose tables are emptied after
each test. A test that changes the schema itself takes `own_database_config`.
"""

import fcntl
import functools
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import URL, Column, Connection, Engine, MetaData, Table, create_engine, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from snaglist.kernel.columns import metadata
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.service import Service
from snaglist.kernel.store import registry_metadata
from snaglist.testing import Client, running_service

ROOT = Path(__file__).parents[1]
PROJECT = (
    "pyproject.toml",
    "setup.cfg",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "snaglist",
    "hosting",
    "kernel",
    "plugins",
    "schemas",
    "testing",
)
SERVERS = {
    "postgresql": os.environ.get("TEST_POSTGRESQL_URL", "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"),
    "mariadb": os.environ.get("TEST_MYSQL_URL", "mysql+pymysql://root@127.0.0.1:3306?ssl_disabled=true"),
}
REQUIRED = os.environ.get("REQUIRE_SERVERS") == "1"
WHOLE = (
    "browser",
    "server",
    "wheels",
    "extra",
    "benchmarks",
    "contributing",
)  # folders that the default run leaves out: see CONTRIBUTING.md
ENGINES = os.environ.get("TEST_ENGINES", "sqlite,postgresql,mariadb").split(",")
LEDGER = "schema_step"

# Machines are slow at times, the first text of a fresh checkout takes a second to make, and one
# database may serve all examples of a property.
settings.register_profile(
    "tests", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
settings.load_profile("tests")

# What a shell runs in the background ignores interrupts, and so would every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whole folders, and begin with the longest tests: one that came last would keep one process busy alone."""
    for item in items:
        if item.path.relative_to(ROOT / "tests").parts[0] in WHOLE:
            item.add_marker("whole")
    items.sort(key=lambda item: ROOT / "tests" / "wheels" not in item.path.parents)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what is marked `servers` on every database; the rest is the same on all of them and runs on SQLite."""
    if "database_config" in metafunc.fixturenames and metafunc.definition.get_closest_marker("servers"):
        metafunc.parametrize("database_config", ENGINES, indirect=True)


@pytest.fixture(autouse=True)
def _no_service_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SERVICE_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _process_as_it_was() -> Iterator[None]:
    """Programs that tests start inherit what is ignored: a test that left that behind would fail others, far away."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    after = {number: signal.getsignal(number) for number in before}
    for number, handler in before.items():
        signal.signal(number, handler)
    assert after == before, "this test changed what the process does at a signal"


class Servers:
    """The database servers as this process uses them: where a URL leads by default, decoys stand.

    The URL that a service gets names a schema or database of its own as the default one. In it are empty tables of
    all the names that the product uses: a statement that is sent without its tenant would find them, so at the end
    they must be as they were.
    """

    def __init__(self) -> None:
        self._urls: dict[str, URL] = {}
        self._missing: dict[str, str] = {}
        self._place = f"decoy_{uuid.uuid4().hex[:12]}"
        Plugins().load()  # here, before a test changes which plugins there are: their tables are known then
        self._tables = [*metadata.tables.values(), *registry_metadata.tables.values()]
        self._names = {table.name for table in self._tables}

    def url(self, engine: str) -> str:
        """Return the URL; skip, or fail when REQUIRE_SERVERS=1, when the server does not answer."""
        if engine not in self._urls and engine not in self._missing:
            given = make_url(SERVERS[engine])
            try:
                self._urls[engine] = self._make(given)
            except (SQLAlchemyError, ImportError) as error:
                self._missing[engine] = f"no {engine} at {given.render_as_string()}: {type(error).__name__}"
        if engine in self._missing:
            (pytest.fail if REQUIRED else pytest.skip)(self._missing[engine])
        return self._urls[engine].render_as_string(hide_password=False)

    def close(self) -> None:
        """Remove the decoys; fails when one was written to."""
        touched = {engine: self._touched(url) for engine, url in self._urls.items()}
        for engine in self._urls:
            drop_tenants(SERVERS[engine], self._place)
        assert not any(touched.values()), f"statements were sent without their tenant: {touched}"

    def _make(self, server: URL) -> URL:
        postgres = server.get_backend_name() == "postgresql"
        _execute(server, f"CREATE {'SCHEMA' if postgres else 'DATABASE'} {self._place}")
        # The servers of a test run need to survive no power cut.
        options = {"options": f"-csearch_path={self._place} -csynchronous_commit=off"}
        url = server.update_query_dict(options) if postgres else server.set(database=self._place)
        engine = create_engine(url)
        for table in self._tables:
            columns = [Column(c.name, c.type, primary_key=c.primary_key) for c in table.columns]  # no indexes: fast
            Table(table.name, MetaData(), *columns).create(engine, checkfirst=True)
        engine.dispose()
        return url

    def _touched(self, url: URL) -> list[str]:
        engine = create_engine(url)
        with engine.connect() as connection:
            there = set(inspect(connection).get_table_names())
            rows = [n for n in self._names if connection.execute(text(f"SELECT 1 FROM {n} LIMIT 1")).first()]
        engine.dispose()
        return rows + sorted(there ^ self._names)


@functools.cache
def _administration(url: str | URL) -> Engine:
    """Return this process's engine for work around the tests; connecting costs more than what it does there."""
    return create_engine(url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)


def _execute(url: URL, statement: str) -> None:
    with _administration(url).connect() as connection:
        connection.execute(text(statement))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, one for each test process: a second Playwright beside a running one refuses to start."""
    path = shutil.which("chromium")
    if path is None:
        (pytest.fail if REQUIRED else pytest.skip)("no chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright  # only here: most tests, and an area's own wheel, go without it

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """Make a thing that all test processes use: `made_once("wheel", build)`; returns its path.

    One process calls `build(path)`, which makes it there; the others wait until it is complete.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "made_once"
    shared.mkdir(exist_ok=True)

    def make(name: str, build: Callable[[Path], None]) -> Path:
        path, complete = shared / name, shared / f"{name}.complete"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not complete.exists():
                build(path)
                complete.touch()
        return path

    return make


@pytest.fixture(scope="session")
def product_wheel(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """The wheel of this checkout, built as for a release."""

    def build(place: Path) -> None:
        source = place / "source"
        source.mkdir(parents=True)
        _run("cp", "-r", *(str(ROOT / name) for name in PROJECT), str(source))
        _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(place / "dist"), str(source))

    return next((made_once("product", build) / "dist").glob("*.whl"))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="session")
def servers() -> Iterator[Servers]:
    """The database servers."""
    made = Servers()
    yield made
    made.close()


def tenants(connection: Connection, prefix: str) -> list[str]:
    """Return every schema or database whose name starts with the prefix."""
    postgres = connection.dialect.name == "postgresql"
    listing = "SELECT nspname FROM pg_namespace" if postgres else "SHOW DATABASES"
    return [name for (name,) in connection.execute(text(listing)) if name.startswith(prefix)]


def drop_tenants(url: str, prefix: str, keep: tuple[str, ...] = ()) -> None:
    """Remove every schema or database whose name starts with the prefix."""
    engine = _administration(url)
    with engine.connect() as connection:
        for name in set(tenants(connection, prefix)) - set(keep):
            drop = f'DROP SCHEMA "{name}" CASCADE' if engine.name == "postgresql" else f"DROP DATABASE `{name}`"
            connection.execute(text(drop))


def empty_tenants(url: str, prefix: str) -> None:
    """Empty all tables but the ledgers and start their numbers anew."""
    engine = _administration(url)
    with engine.connect() as connection:
        for tenant in tenants(connection, prefix):
            (_empty_schema if engine.name == "postgresql" else _empty_database)(connection, tenant)


def _empty_schema(connection: Connection, schema: str) -> None:
    listing = "SELECT tablename FROM pg_tables WHERE schemaname = :schema"
    names = [name for (name,) in connection.execute(text(listing), {"schema": schema}) if name != LEDGER]
    used = _used(connection, [f'"{schema}"."{name}"' for name in names])
    moved = "SELECT sequencename FROM pg_sequences WHERE schemaname = :schema AND last_value IS NOT NULL"
    numbers = [name for (name,) in connection.execute(text(moved), {"schema": schema})]
    # Deleting a few rows costs a fraction of TRUNCATE, which makes new files for tables and indexes. As a
    # replica: references are not checked, so the order does not matter.
    statements = [f"DELETE FROM {name}" for name in used]
    statements += [f"""SELECT setval('"{schema}"."{name}"', 1, false)""" for name in numbers]
    if statements:
        role = "SET session_replication_role"
        connection.exec_driver_sql("; ".join([f"{role} = replica", *statements, f"{role} = DEFAULT"]))


def _empty_database(connection: Connection, database: str) -> None:
    listing = "SELECT table_name, auto_increment FROM information_schema.tables WHERE table_schema = :name"
    rows = connection.execute(text(listing), {"name": database}).all()
    tables = {f"`{database}`.`{name}`": number for name, number in rows if name != LEDGER}
    used = _used(connection, list(tables))
    connection.execute(text("SET foreign_key_checks = 0"))
    for name, number in tables.items():
        if number is None and name in used:
            connection.execute(text(f"DELETE FROM {name}"))  # a twentieth of what TRUNCATE costs
        elif number is not None and (number > 1 or name in used):
            connection.execute(text(f"TRUNCATE {name}"))
    connection.execute(text("SET foreign_key_checks = 1"))


def _used(connection: Connection, names: list[str]) -> list[str]:
    """Return the tables that hold rows."""
    if not names:
        return []
    union = " UNION ALL ".join(f"SELECT {n}, EXISTS (SELECT 1 FROM {name})" for n, name in enumerate(names))
    return [names[n] for n, used in connection.execute(text(union)) if used]


@pytest.fixture(scope="session")
def _shared_prefixes(servers: Servers) -> Iterator[Callable[[str, str], str]]:
    """Give the prefix that this process uses on a server; all its tenants are removed at the end."""
    made: dict[str, tuple[str, str]] = {}

    def prefix_on(engine: str, url: str) -> str:
        return made.setdefault(engine, (url, f"t{uuid.uuid4().hex[:12]}_"))[1]

    yield prefix_on
    for url, prefix in made.values():
        drop_tenants(url, prefix)


@pytest.fixture
def database_config(
    request: pytest.FixtureRequest, servers: Servers, _shared_prefixes: Callable[[str, str], str]
) -> Iterator[dict[str, str]]:
    """Configuration that puts a service on an empty database: on each of the three with the marker `servers`."""
    engine = getattr(request, "param", "sqlite")
    if engine == "sqlite":
        yield {}
        return
    url = servers.url(engine)
    prefix = _shared_prefixes(engine, url)
    yield {"database__url": url, "database__prefix": prefix}
    drop_tenants(url, prefix, keep=(f"{prefix}_registry", f"{prefix}default"))
    empty_tenants(url, prefix)


@pytest.fixture
def database_on(servers: Servers) -> Iterator[Callable[[str], dict[str, str]]]:
    """Configuration of a database of the named kind where nothing exists yet: `database_on("mariadb")`."""
    made: list[tuple[str, str]] = []

    def make(engine: str) -> dict[str, str]:
        if engine == "sqlite":
            return {}
        url, prefix = servers.url(engine), f"t{uuid.uuid4().hex[:12]}_"
        made.append((url, prefix))
        return {"database__url": url, "database__prefix": prefix}

    yield make
    for url, prefix in made:
        drop_tenants(url, prefix)


@pytest.fixture(params=ENGINES)
def own_database_config(request: pytest.FixtureRequest, database_on: Callable[[str], dict[str, str]]) -> dict[str, str]:
    """Configuration that puts a service on one of the three databases, where nothing exists yet."""
    return database_on(request.param)


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory of a fresh instance on SQLite, with its key for secrets: deriving one is slow on purpose."""
    data = tmp_path_factory.mktemp("template") / "data"
    with running_service(data, jobs=False) as made:
        made.secrets.prepare()
    return data


@pytest.fixture
def fresh_data(tmp_path: Path, _template: Path) -> Path:
    """A data directory of a fresh instance on SQLite, for this test alone."""
    return Path(shutil.copytree(_template, tmp_path / "data"))


@pytest.fixture(scope="session")
def _installed() -> Plugins:
    loaded = Plugins()
    loaded.load()
    return loaded


def _contributions(plugins: Plugins) -> list[Any]:
    counts = [{hook: len(values) for hook, values in plugin.added.items()} for plugin in plugins.all()]
    return [(plugin.id, plugin.error, count) for plugin, count in zip(plugins.all(), counts, strict=True)]


@pytest.fixture
def installed(_installed: Plugins) -> Iterator[Plugins]:
    """The plugins that are installed, loaded once for all tests: loading them is half of a service's start.

    A test that changes what plugins there are, or lets one fail at its start, runs a service without these.
    """
    before = _contributions(_installed)
    yield _installed
    assert _contributions(_installed) == before, "the plugins of all other tests were changed"


@pytest.fixture
def service(
    request: pytest.FixtureRequest, tmp_path: Path, database_config: dict[str, str], installed: Plugins
) -> Iterator[Service]:
    """A started service with a worker, on the database of `database_config`."""
    data = tmp_path / "data" if database_config else request.getfixturevalue("fresh_data")
    with running_service(data, plugins=installed, **database_config) as started:
        yield started


@pytest.fixture
def client(service: Service) -> Client:
    """A client of `service`."""
    return Client(service)


@pytest.fixture
def sqlite_service(fresh_data: Path, installed: Plugins) -> Iterator[Service]:
    """A started service with a worker, on SQLite."""
    with running_service(fresh_data, plugins=installed) as started:
        yield started


@pytest.fixture
def sqlite_client(sqlite_service: Service) -> Client:
    """A client of `sqlite_service`."""
    return Client(sqlite_service)
