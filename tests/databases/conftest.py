"""What the tests of databases share: the fixed script, servers as processes, a way to a database that can be cut."""

import contextlib
import http.client
import json
import os
import re
import runpy
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import Inspector, inspect, text
from sqlalchemy.engine import make_url

from snaglist.kernel.database import Tenant
from snaglist.kernel.service import Service

_SCRIPT = runpy.run_path(str(Path(__file__).with_name("script.py")))


@pytest.fixture(scope="session")
def script() -> Any:
    """The class `Script`: `Script(client, app).run()`."""
    return _SCRIPT["Script"]


@pytest.fixture(scope="session")
def read_all() -> Any:
    """Ask for everything an application shows: `read_all(client, app)`."""
    return _SCRIPT["read_all"]


@pytest.fixture(scope="session")
def shape() -> Callable[[Service, Tenant], dict[str, Any]]:
    """Describe every table of a database as the database itself does: `shape(service, application)`."""

    def describe(service: Service, tenant: Tenant) -> dict[str, Any]:
        with service.database.transaction(tenant, write=False) as db:
            schema = db.get_execution_options().get("tenant")
            found = inspect(db)
            return {name: _described(found, name, schema) for name in found.get_table_names(schema)}

    return describe


def _described(found: Inspector, name: str, schema: str | None) -> dict[str, Any]:
    unique = found.get_unique_constraints(name, schema)
    return {
        "columns": {
            # A sequence keeps its name when its table is renamed.
            one["name"]: (str(one["type"]), one["nullable"], str(one["default"]).split("(")[0])
            for one in found.get_columns(name, schema)
        },
        "primary": found.get_pk_constraint(name, schema)["constrained_columns"],
        "unique": sorted((one["name"] or "", one["column_names"]) for one in unique),
        "indexes": sorted(_shown(index) for index in found.get_indexes(name, schema)),
        **(_on_sqlite(found.bind, name) if found.dialect.name == "sqlite" else _on_a_server(found, name, schema)),
    }


def _shown(index: Any) -> str:
    options = {name: str(value) for name, value in index.pop("dialect_options", {}).items()}
    return str(sorted({**index, **options}.items()))


def _on_a_server(found: Inspector, name: str, schema: str | None) -> dict[str, Any]:
    keys = found.get_foreign_keys(name, schema)
    return {
        "references": sorted((k["constrained_columns"], k["referred_table"], str(k["options"])) for k in keys),
        "options": found.get_table_options(name, schema),
    }


def _on_sqlite(db: Any, name: str) -> dict[str, Any]:
    """What SQLAlchemy does not find there: actions of an added column, autoincrement, and the order in an index."""
    rows = list(db.execute(text("SELECT type, sql FROM sqlite_master WHERE tbl_name = :name"), {"name": name}))
    return {
        "references": sorted(tuple(row[2:]) for row in db.execute(text(f"PRAGMA foreign_key_list({name})"))),
        "ordered": sorted(sql.replace('"', "") for kind, sql in rows if kind == "index" and sql),
        "autoincrement": any("AUTOINCREMENT" in sql for kind, sql in rows if kind == "table"),
    }


SNAGLIST = (sys.executable, "-c", "from snaglist.plugins.start import main; main()")
Config = dict[str, str]


def environment(data: Path, config: Config, **more: str) -> dict[str, str]:
    """The environment of a process on a data directory and a database; no schedules run in it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    given = {f"SERVICE_{name.replace('__', '_').upper()}": str(value) for name, value in config.items()}
    fixed = {"SERVICE_DATA": str(data), "SERVICE_INGESTION_INTERVAL_SECONDS": "0", "PYTHONWARNINGS": "ignore"}
    return kept | fixed | given | more


def start(
    data: Path, config: Config, *arguments: str, stderr: int | None = subprocess.PIPE, **more: str
) -> subprocess.Popen[str]:
    """Start a command of `snaglist` as a process."""
    return subprocess.Popen(
        [*SNAGLIST, *arguments],
        env=environment(data, config, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


@pytest.fixture
def commands() -> Iterator[Callable[..., Any]]:
    """Run one or more commands at once: `commands(data, config, [arguments, …])`; returns (code, stdout, stderr)s."""
    running: list[subprocess.Popen[str]] = []

    def run(data: Path, config: Config, *each: list[str]) -> list[tuple[int, str, str]]:
        processes = [start(data, config, *arguments) for arguments in each]
        running.extend(processes)
        outputs = [process.communicate(timeout=180) for process in processes]
        return [(process.returncode, *output) for process, output in zip(processes, outputs, strict=True)]

    yield run
    for process in running:
        if process.poll() is None:
            process.kill()
            process.communicate()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a request got."""

    status: int
    headers: dict[str, str]
    json: Any


class Node:
    """A running `snaglist serve`, spoken to over one kept connection per thread."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r" on http://([^/:]+):(\d+)/", line)
        assert found, f"the server did not start: {line}"
        self.process = process
        self._address = (found[1], int(found[2]))
        self._local = threading.local()
        self._connections: list[http.client.HTTPConnection] = []

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections:
            connection.close()

    def send(self, method: str, api: str, body: Any = None, **query: Any) -> Reply:
        """Send a JSON request."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = http.client.HTTPConnection(*self._address, timeout=90)
            self._connections.append(connection)
        content = None if body is None else json.dumps(body)
        headers = {} if content is None else {"Content-Type": "application/json"}
        try:
            connection.request(method, f"/?{urlencode({'api': api, **query})}", content, headers)
            answer = connection.getresponse()
            return Reply(answer.status, dict(answer.getheaders()), json.loads(answer.read() or b"null"))
        except OSError:
            connection.close()
            raise

    def get(self, api: str, **query: Any) -> Reply:
        """GET an endpoint."""
        return self.send("GET", api, **query)

    def post(self, api: str, body: Any, **query: Any) -> Reply:
        """POST to an endpoint."""
        return self.send("POST", api, body, **query)


@pytest.fixture
def nodes() -> Iterator[Callable[..., list[Node]]]:
    """Start servers on one database: `nodes(4, data, config, "--no-jobs")`; they end with the test."""
    running: list[subprocess.Popen[str]] = []
    opened: list[Node] = []

    def launch(count: int, data: Path, config: Config, *options: str, **more: str) -> list[Node]:
        # Nobody reads the messages of a server while it runs: a full pipe would stop it.
        started = [start(data, config, "serve", "--port", "0", *options, stderr=None, **more) for _ in range(count)]
        running.extend(started)
        made = [Node(process) for process in started]
        opened.extend(made)
        return made

    yield launch
    for node in opened:
        node.close()
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


class Forwarder:
    """A way to a server that can be cut: a port on loopback whose connections are passed on."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._sockets: set[socket.socket] = set()
        self._guard = threading.Lock()
        self._listener: socket.socket | None = None
        self.port = 0
        self.open()

    def open(self) -> None:
        """Let connections through, on the same port as before."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        """Refuse new connections and break those that are open, as a server that goes away does."""
        listener, self._listener = self._listener, None
        if listener:
            # A thread that waits in accept() keeps the port until it is woken.
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        with self._guard:
            broken, self._sockets = self._sockets, set()
        for one in broken:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                inside, _ = listener.accept()
                outside = socket.create_connection(self._target)
            except OSError:
                return
            with self._guard:
                self._sockets |= {inside, outside}
            for pair in ((inside, outside), (outside, inside)):
                threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)
        source.close()


@pytest.fixture
def forwarder() -> Iterator[Callable[[Config], tuple[Forwarder, Config]]]:
    """Put a way that can be cut between a configuration and its server: `way, config = forwarder(config)`."""
    made: list[Forwarder] = []

    def between(config: Config) -> tuple[Forwarder, Config]:
        url = make_url(config["database__url"])
        port = url.port or {"postgresql": 5432}.get(url.get_backend_name(), 3306)
        way = Forwarder(url.host or "127.0.0.1", port)
        made.append(way)
        changed = url.set(host="127.0.0.1", port=way.port)
        return way, {**config, "database__url": changed.render_as_string(hide_password=False)}

    yield between
    for way in made:
        way.cut()
