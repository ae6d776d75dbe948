"""A sender for a service whose application takes pushed events."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.js.errors import NotFoundError
from sqlalchemy import func, select

from snaglist.kernel.columns import metadata
from snaglist.testing import Answer, Client, running_service


class Sender:
    """Sends events to one application with its key."""

    def __init__(self, client: Client, app: str = "default") -> None:
        self.client = client
        self.app = app
        assert client.post("plugins", {"id": "ingest", "enabled": True}, app=app).status == 200
        self.key = str(self.settings()["key"])

    def settings(self) -> dict[str, Any]:
        answer = self.client.get("ingest-settings", app=self.app)
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def raw(self, body: bytes, kind: str | None = "application/json", *, query: str = "", **headers: str) -> Answer:
        """Send bytes; header names with `_` for the dash, an empty value leaves the header out."""
        sent = {"X-Service-Ingest-Key": self.key, **({"Content-Type": kind} if kind is not None else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if value}
        answer = self.client.request("POST", f"/?api=ingest&app={self.app}{query}", body, sent)
        if answer.status == 202:
            body_ = answer.json
            assert body_["received"] == body_["accepted"] + body_["dropped"] + body_["duplicates"]
        return answer

    def send(self, body: Any, **headers: str) -> Answer:
        """Send JSON."""
        return self.raw(json.dumps(body).encode(), **headers)

    def accepted(self, body: Any, **headers: str) -> dict[str, Any]:
        """Send JSON that must be taken, and return the answer."""
        answer = self.send(body, **headers)
        assert answer.status == 202, answer.text
        return dict(answer.json)

    def issues(self, **query: Any) -> list[dict[str, Any]]:
        return list(
            self.client.get("errors", app=self.app, include_context=True, include_stack=True, **query).json["data"]
        )

    def occurrences(self) -> list[dict[str, Any]]:
        """All occurrences as `error` shows them, oldest first."""
        found = []
        for issue in self.issues(limit=200):
            found += self.client.get("error", app=self.app, id=issue["id"], limit=500).json["occurrences"]
        return sorted(found, key=lambda row: row["id"])

    def text(self, occurrence: int) -> dict[str, Any]:
        answer = self.client.get("source", app=self.app, occurrence=occurrence)
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def count(self, table: str) -> int:
        call = self.client.service.call()
        with call.transaction(write=False) as db:
            return int(db.execute(select(func.count()).select_from(metadata.tables[table])).scalar_one())


@pytest.fixture
def sender(client: Client) -> Sender:
    """A sender on each of the three databases."""
    return Sender(client)


@pytest.fixture
def sqlite_sender(sqlite_client: Client) -> Sender:
    """A sender on SQLite."""
    return Sender(sqlite_client)


@pytest.fixture
def sender_with(fresh_data: Path) -> Iterator[Callable[..., Sender]]:
    """Make a sender of a service with a configuration: `sender_with(ingest__rate_max_events=10)`."""
    with ExitStack() as stack:

        def make(**config: Any) -> Sender:
            return Sender(Client(stack.enter_context(running_service(fresh_data, **config))))

        yield make


class Broker:
    """A NATS server with JetStream of this test's own, on a free port of the loopback interface."""

    def __init__(self, program: str, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self.port}"
        self._program, self._folder = program, folder
        self._process: subprocess.Popen[bytes] | None = None
        self._options: list[str] = []

    def start(self, options: str = "") -> None:
        """Start; `options` are lines of its configuration file, kept for the next start."""
        if options:
            written = self._folder / "nats.conf"
            written.write_text(options)
            self._options = ["-c", str(written)]
        place = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self._folder / "store")]
        self._process = subprocess.Popen([self._program, *place, *self._options], stderr=subprocess.DEVNULL)
        for _ in range(500):
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port)) as there:
                if there.recv(4) == b"INFO":
                    return
            time.sleep(0.01)
        raise AssertionError("nats-server does not answer")

    def stop(self) -> None:
        """Kill it; what it acknowledged is in its store."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def waiting(self) -> dict[str, int]:
        """Return how many messages lie in the streams, by the last word of their subjects."""
        return {kind: len(messages) for kind, messages in self.messages().items()}

    def messages(self) -> dict[str, list[Any]]:
        """Return the messages that lie in the streams, by the last word of their subjects."""

        async def ask(client: Any) -> dict[str, list[Any]]:
            found: dict[str, list[Any]] = {}
            for stream in await client.streams_info():
                for number in range(stream.state.first_seq, stream.state.last_seq + 1):
                    with suppress(NotFoundError):
                        message = await client.get_msg(stream.config.name, number)
                        found.setdefault(message.subject.rpartition(".")[2], []).append(message)
            return found

        return dict(self._asked(ask))

    def streams(self) -> list[str]:
        async def ask(client: Any) -> list[str]:
            return [stream.config.name for stream in await client.streams_info()]

        return list(self._asked(ask))

    def publish(self, subject: str, body: bytes) -> None:
        """Add a message as anybody could."""
        self._asked(lambda client: client.publish(subject, body))

    def _asked(self, ask: Callable[[Any], Any]) -> Any:
        async def work() -> Any:
            client = await nats.connect(self.url)
            try:
                return await ask(client.jetstream())
            finally:
                await client.close()

        return asyncio.run(work())


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that runs; skipped without its program, failed when REQUIRE_SERVERS=1."""
    program = shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        required = os.environ.get("REQUIRE_SERVERS") == "1"
        (pytest.fail if required else pytest.skip)("no nats-server: apt-get install nats-server")
    made = Broker(program, tmp_path_factory.mktemp("broker"))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def sender_by(fresh_data: Path, broker: Broker) -> Iterator[Callable[..., Sender]]:
    """Make a sender of a service with this broker: `sender_by(jobs=False, database__url=…)`."""
    with ExitStack() as stack:

        def make(**config: Any) -> Sender:
            given = {"ingest__broker": broker.url, **config}
            return Sender(Client(stack.enter_context(running_service(fresh_data, **given))))

        yield make
