"""Real servers for the checks of the contract: `snaglist serve`, spoken to over HTTP.

Every answer a test gets is looked at for what holds of all answers: the security headers, no cookie, no
`Access-Control-` header, and failures that are the envelope and tell nothing of the inside.
"""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.testing import Contract

SNAGLIST = (sys.executable, "-c", "from snaglist.plugins.start import main; main()")
KEY = "test-key-0123456789abcdef"
EVERYWHERE = (
    "content-security-policy",
    "x-frame-options",
    "referrer-policy",
    "permissions-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
)
INSIDE = re.compile(r"Traceback|\b(?:SELECT|INSERT|UPDATE|DELETE FROM|sqlite3|psycopg|pymysql)\b")


@dataclass(slots=True)
class Answer:
    """What a request got; header names in lower case."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode()

    @property
    def data(self) -> Any:
        """The field `data` of the body."""
        return self.json["data"]

    def ok(self, status: int = 200) -> Any:
        """The body of a success with that status."""
        assert self.status == status, (self.status, self.content[:500])
        return self.json

    def err(self, status: int) -> str:
        """The message of a failure with that status; the body is exactly the envelope."""
        assert self.status == status, (self.status, self.content[:500])
        assert self.headers["content-type"].startswith("application/json"), self.headers
        body = self.json
        assert isinstance(body, dict) and list(body) == ["error"], body
        assert isinstance(body["error"], str) and body["error"].strip(), body
        return body["error"]


@cache
def response_schemas() -> Contract:
    """What the answers of all endpoints have to look like."""
    return Contract(Service(Settings({}, environ={})))  # never started: it touches no data


class Instance:
    """A running server, its data directory, and one application of it; None is the default."""

    def __init__(self, url: str, data: Path, app: str | None = None, process: Any = None) -> None:
        self.url = url
        self.data = data
        self.app = app
        self.process = process
        found = re.fullmatch(r"http://([^/:]+):(\d+)/(.*)", url)
        assert found, url
        self.address = (found[1], int(found[2]))
        self.root = f"/{found[3]}"

    @property
    def folder(self) -> Path:
        """The folder of the application."""
        return self.data / "applications" / (self.app or "default")

    def send(
        self, method: str, target: str, body: bytes | None = None, headers: dict[str, str | bytes] | None = None
    ) -> Answer:
        """Send one request as it is: nothing but `Host` and the length of the body is added."""
        given = dict(headers or {})
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        try:
            connection.putrequest(method, target, skip_host="Host" in given, skip_accept_encoding=True)
            for name, value in given.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            named = [(name.lower(), value) for name, value in answer.getheaders()]
            found = Answer(answer.status, dict(named), answer.read())
        finally:
            connection.close()
        self._holds_of_all(found, [name for name, _ in named])
        response_schemas().check(method, target, found)
        return found

    def call(self, method: str, api: str, body: Any = None, headers: Any = None, **query: Any) -> Answer:
        """Send a JSON request to an endpoint; query values as Python values."""
        asked = {"api": api, **query}
        if self.app:
            asked.setdefault("app", self.app)
        values = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in asked.items()}
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        typed = {} if content is None else {"Content-Type": "application/json"}
        return self.send(method, f"{self.root}?{urlencode(values)}", content, {**typed, **(headers or {})})

    def get(self, api: str, **query: Any) -> Answer:
        """GET an endpoint."""
        return self.call("GET", api, **query)

    def post(self, api: str, body: Any = None, **query: Any) -> Answer:
        """POST to an endpoint."""
        return self.call("POST", api, body, **query)

    def put(self, api: str, body: Any = None, **query: Any) -> Answer:
        """PUT to an endpoint."""
        return self.call("PUT", api, body, **query)

    def patch(self, api: str, body: Any = None, **query: Any) -> Answer:
        """PATCH an endpoint."""
        return self.call("PATCH", api, body, **query)

    def delete(self, api: str, body: Any = None, **query: Any) -> Answer:
        """DELETE at an endpoint."""
        return self.call("DELETE", api, body, **query)

    def drop(self, name: str, text: str | bytes) -> Path:
        """Put a file that was finished a minute ago into the folder `logs`; folders in the name are made."""
        path = self.folder / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        finished = time.time() - 60
        os.utime(path, (finished, finished))
        return path

    def take_in(self, **files: str | bytes) -> Any:
        """Drop files (`app_log` is app.log), import them and return the result."""
        for name, text in files.items():
            self.drop(name.replace("_", "."), text)
        return self.post("import-incoming", wait=1).ok()

    def run(self, *arguments: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a command of `snaglist` on the data directory and the application."""
        chosen = ("--app", self.app) if self.app else ()
        return command(self.data, *chosen, *arguments, stdin=stdin)

    def raw(self, request: bytes) -> bytes:
        """Write bytes to the server's port and return all that comes back until it closes."""
        with socket.create_connection(self.address, timeout=10) as connection:
            connection.sendall(request)
            received = b""
            while part := connection.recv(65536):
                received += part
        return received

    def _holds_of_all(self, answer: Answer, names: list[str]) -> None:
        missing = [name for name in EVERYWHERE if name not in answer.headers]
        assert not missing, missing
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in names
        assert not [name for name in names if name.startswith("access-control-")]
        if answer.headers.get("content-type", "").startswith("application/json"):
            assert answer.headers["cache-control"] == "no-store"
        if answer.status >= 400 and answer.headers.get("content-type", "").startswith("application/json"):
            assert answer.status != 500, answer.content
            assert str(self.data) not in answer.text and not INSIDE.search(answer.text), answer.text


def environment(data: Path, **variables: str) -> dict[str, str]:
    """The environment of the checks: a data directory, no schedule, UTC, nothing else."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    return env | {"SERVICE_DATA": str(data), "SERVICE_INGESTION_INTERVAL_SECONDS": "0", "TZ": "UTC", **variables}


def command(
    data: Path, *arguments: str, stdin: bytes | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of `snaglist` that ends."""
    env = environment(data, **variables)
    return subprocess.run([*SNAGLIST, *arguments], env=env, input=stdin or b"", capture_output=True, timeout=120)


@contextmanager
def started(data: Path, *options: str, **variables: str) -> Iterator[Instance]:
    """Run `snaglist serve` on a free loopback port."""
    arguments = [*SNAGLIST, "serve", "--port", "0", *options]
    with subprocess.Popen(
        arguments, env=environment(data, **variables), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r" on (http://\S+/) ", line)
            assert found, f"the server did not start: {line!r}"
            yield Instance(found[1], data, process=process)
        finally:
            process.terminate()


Server = Callable[..., Any]


@pytest.fixture(scope="session")
def _fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory that was started once."""
    data = tmp_path_factory.mktemp("fresh") / "data"
    assert command(data, "db", "upgrade").returncode == 0
    return data


@pytest.fixture
def data(tmp_path: Path, _fresh: Path) -> Path:
    """A fresh data directory."""
    return Path(shutil.copytree(_fresh, tmp_path / "data"))


@pytest.fixture
def serve(data: Path) -> Iterator[Server]:
    """Start a server on the fresh data directory: `serve(*options, **variables)`; it ends with the test."""
    running: list[Any] = []

    def start(*options: str, **variables: str) -> Instance:
        running.append(started(data, *options, **variables))
        instance: Instance = running[-1].__enter__()
        return instance

    yield start
    for each in reversed(running):
        each.__exit__(None, None, None)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, _fresh: Path) -> Iterator[Instance]:
    """A server without a key that the tests of a module share."""
    with started(Path(shutil.copytree(_fresh, tmp_path_factory.mktemp("shared") / "data"))) as instance:
        yield instance


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory, _fresh: Path) -> Iterator[Instance]:
    """A server with the key of the checks that the tests of a module share."""
    data = Path(shutil.copytree(_fresh, tmp_path_factory.mktemp("keyed") / "data"))
    with started(data, SERVICE_TOKEN=KEY) as instance:
        yield instance


@pytest.fixture
def app(shared: Instance) -> Instance:
    """A new application on the shared server, for this test alone."""
    made = shared.post("applications", {"name": f"app {uuid.uuid4().hex[:8]}"}).ok(201)
    return Instance(shared.url, shared.data, made["id"])


@pytest.fixture
def issue(app: Instance) -> int:
    """The id I: an issue of `app` with two events."""
    taken = app.take_in(known_log=monolog("Order 4711 failed", "Order 4712 failed"))
    assert taken["events"] == 2
    found: int = app.get("errors").data[0]["id"]
    return found


def monolog(*messages: str, level: str = "ERROR", start: float | None = None) -> str:
    """Lines of a framework log, a second apart, the last one now or at `start`."""
    last = time.time() if start is None else start + len(messages) - 1
    stamps = [time.gmtime(last - ago) for ago in reversed(range(len(messages)))]
    return "".join(
        f"[{time.strftime('%Y-%m-%d %H:%M:%S', at)}] production.{level}: {text}\n"
        for at, text in zip(stamps, messages, strict=True)
    )


@pytest.fixture(name="monolog")
def _monolog() -> Callable[..., str]:
    """Write lines of a framework log: `monolog(*messages, level="ERROR", start=None)`."""
    return monolog


@pytest.fixture(name="command")
def _command() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a command: `command(data, *arguments, stdin=None, **variables)`."""
    return command


@dataclass(frozen=True)
class Program:
    """How `snaglist` is run on the fresh data directory by a test that keeps the process in hand."""

    arguments: tuple[str, ...]
    environment: dict[str, str]


@pytest.fixture
def snaglist(data: Path) -> Program:
    """The program on the fresh data directory."""
    return Program(SNAGLIST, environment(data))


@pytest.fixture
def key() -> dict[str, str]:
    """The key as a header."""
    return {"X-Service-Token": KEY}
