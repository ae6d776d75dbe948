"""What the tests of alerting share: receivers on loopback, and a client that makes channels, rules and events."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from snaglist.kernel import times
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.service import Service
from snaglist.plugins.alerting.evaluating import job as evaluating
from snaglist.plugins.alerting.outbox import JOB
from snaglist.plugins.issues import Event, EventSource, store_events
from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import Client, running_service

LOOPBACK = "127.0.0.0/8"
SECRET = "a-signing-key"


@dataclass
class Got:
    """A request that a receiver got; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """A web server on loopback that answers with the next of `answers`, the last of them for good.

    An answer is a status, or a function that is given the handler.
    """

    port: int = 0
    host: str = "127.0.0.1"
    answers: list[int | Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=lambda: [200])
    got: list[Got] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/hook/s3cret-path"

    def wait(self, number: int = 1, seconds: float = 10) -> list[Got]:
        """Wait until so many requests came."""
        until = time.monotonic() + seconds
        while len(self.got) < number:
            assert time.monotonic() < until, f"{len(self.got)} of {number} requests came"
            time.sleep(0.01)
        return self.got


@contextmanager
def receiving(host: str = "127.0.0.1") -> Iterator[Receiver]:
    receiver = Receiver(host=host)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.got.append(Got(self.path, headers, body))
            answer = receiver.answers.pop(0) if len(receiver.answers) > 1 else receiver.answers[0]
            if callable(answer):
                answer(self)
                return
            self.send_response(answer)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            pass  # clients may hang up

    server = Server((host, 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Site:
    """A service with the area on, whose jobs run when a test says so."""

    client: Client
    receiver: Receiver
    _bytes: int = 0

    @property
    def service(self) -> Service:
        return self.client.service

    def channel(self, name: str = "Ops", type: str = "webhook", **fields: Any) -> dict[str, Any]:
        given = fields or {"url": self.receiver.url, "secret": SECRET}
        answer = self.client.post("alert-channels", {"name": name, "type": type, **given})
        assert answer.status == 201, answer.text
        return dict(answer.json)

    def rule(self, trigger_type: str = "new_error", channel: int | None = None, **fields: Any) -> dict[str, Any]:
        channel = channel or self.channel()["id"]
        body = {"name": "New errors", "channel_id": channel, "trigger_type": trigger_type, **fields}
        answer = self.client.post("alert-rules", body)
        assert answer.status == 201, answer.text
        return dict(answer.json)

    def store(self, *messages: str, at: str | None = None, channel: str = "app.log", path: str = "x/app.log",
              reoccur: bool = True, **fields: Any) -> list[int]:  # fmt: skip
        """Store an event for each message in one batch; returns the ids of their issues."""
        events = []
        for message in messages:
            self._bytes += 10
            event = Event(message, occurred_at=at or times.now(), channel=channel, byte_start=self._bytes, **fields)
            events.append(event)
        call = self.service.call(actor=None)
        with call.transaction() as db:
            wanted = select(log_tables.sources.c.id).where(log_tables.sources.c.path == path)
            source_id = db.execute(wanted).scalar()
            if source_id is None:
                source_id = make_source(db, path)
            batch = store_events(call, EventSource(source_id, None, path), events, reoccur=reoccur)
        return [stored.issue_id for stored in batch.stored]

    def deliver(self) -> dict[str, Any]:
        """Send what is due, and return what became of it."""
        return self.run(JOB)

    def evaluate(self) -> dict[str, Any]:
        """Do what is due without new events."""
        return self.run(evaluating.JOB)

    def due(self) -> bool:
        call = self.service.call(actor=None)
        with call.transaction(write=False):
            return evaluating.due(call) is not None

    def run(self, kind: str) -> dict[str, Any]:
        """Run a job of a kind here, and return its result."""
        call = self.service.call(actor=None)
        with call.transaction():
            job_id = call.enqueue(kind)
        self.service.jobs.run_next(call.application, "test", job_id)
        with call.transaction(write=False):
            row = self.service.jobs.find(call, job_id)
        assert row["status"] == "succeeded", row["error"]
        return dict(row["result"])

    def events(self, **query: Any) -> list[dict[str, Any]]:
        """The messages, the oldest first."""
        answer = self.client.get("alert-events", **query)
        assert answer.status == 200, answer.text
        return list(answer.json["data"])[::-1]

    def change(self, table: Any, **values: Any) -> None:
        """Change a column of all rows, where a test cannot wait."""
        with self.service.call().transaction() as db:
            db.execute(update(table).values(**values))

    def rows(self, table: Any) -> list[Any]:
        with self.service.call().transaction(write=False) as db:
            return list(db.execute(select(table).order_by(*table.primary_key.columns)).all())


def make_source(db: Any, path: str) -> int:
    now = times.now()
    row = {
        "path": path, "path_hash": path, "generation": 1, "node": "", "size": 0, "offset": 0, "prefix_hash": "",
        "prefix_length": 0, "block_hash": "", "content_hash": path, "log_type": "console", "channel": "app.log",
        "family": "app", "encoding": "utf-8", "timezone": "UTC", "parser_version": 1, "status": "ok",
        "occurrence_count": 0, "imported_at": now, "created_at": now,
    }  # fmt: skip
    return int(db.execute(log_tables.sources.insert().values(row)).inserted_primary_key[0])


def site_of(service: Service, receiver: Receiver) -> Site:
    client = Client(service)
    assert client.post("plugins", {"id": "alerting", "enabled": True}).status == 200
    return Site(client, receiver)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver on 127.0.0.1."""
    with receiving() as made:
        yield made


@pytest.fixture
def receivers() -> Iterator[Callable[..., Receiver]]:
    """Make receivers: `receivers("127.0.0.2")`."""
    with ExitStack() as stack:
        yield lambda host="127.0.0.1": stack.enter_context(receiving(host))


@pytest.fixture
def site_with(fresh_data: Path, receiver: Receiver, installed: Plugins) -> Iterator[Callable[..., Site]]:
    """Make a site on SQLite with a configuration: `site_with(alerts__max_per_hour=2)`."""
    with ExitStack() as stack:

        def make(*, jobs: bool = False, **config: Any) -> Site:
            config.setdefault("outbound__allow_private", [LOOPBACK])
            service = stack.enter_context(running_service(fresh_data, jobs=jobs, plugins=installed, **config))
            return site_of(service, receiver)

        yield make


@pytest.fixture
def sqlite_site(site_with: Callable[..., Site]) -> Site:
    """A site on SQLite."""
    return site_with()


@pytest.fixture
def site(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    database_config: dict[str, str],
    receiver: Receiver,
    installed: Plugins,
) -> Iterator[Site]:
    """A site on each of the three databases."""
    data = tmp_path / "data" if database_config else request.getfixturevalue("fresh_data")
    config = {"outbound__allow_private": [LOOPBACK], **database_config}
    with running_service(data, jobs=False, plugins=installed, **config) as service:
        yield site_of(service, receiver)
