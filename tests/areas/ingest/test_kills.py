"""202 means durable: servers that are killed under load, and several servers on one database, on real processes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from snaglist.testing import Client, running_service

pytestmark = pytest.mark.whole

SNAGLIST = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]


def start(data: Path, variables: dict[str, str]) -> "tuple[subprocess.Popen[str], int]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    process = subprocess.Popen(
        [*SNAGLIST, "--data", str(data), "serve", "--port", "0", "--no-jobs"],
        env=kept | {"SERVICE_PLUGINS": "ingest", "SERVICE_INGEST_RATE_MAX_EVENTS": "1000000"} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    return process, int(line.split("http://127.0.0.1:")[1].split("/")[0])


@contextmanager
def served(data: Path, variables: dict[str, str]) -> Iterator[int]:
    process, port = start(data, variables)
    try:
        yield port
    finally:
        process.kill()
        process.communicate(timeout=30)


def key_of(port: int) -> str:
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", "/?api=ingest-settings")
        return str(json.load(connection.getresponse())["key"])


class Pusher(threading.Thread):
    """A client that sends until the server is gone, and remembers what was acknowledged and what is not known."""

    def __init__(self, port: int, key: str) -> None:
        super().__init__()
        self.port, self.key = port, key
        self.acknowledged: list[str] = []
        self.unknown: list[str] = []

    def run(self) -> None:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            self._push(connection)

    def _push(self, connection: HTTPConnection) -> None:
        while True:
            ids = [uuid.uuid4().hex for _ in range(3)]
            events = [{"message": f"Order {one} failed", "event_id": one, "context": {"id": one}} for one in ids]
            headers = {"Content-Type": "application/json", "X-Service-Ingest-Key": self.key}
            try:
                connection.request("POST", "/?api=ingest", json.dumps(events), headers)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 202
                self.acknowledged += ids
            except (OSError, HTTPException):
                self.unknown += ids
                return


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.long)])
def test_what_was_acknowledged_is_stored_once(tmp_path: Path, kills: int) -> None:
    data = tmp_path / "data"
    acknowledged: list[str] = []
    unknown: list[str] = []
    for turn in range(kills):
        process, port = start(data, {})
        try:
            key = key_of(port)
            pushers = [Pusher(port, key) for _ in range(4)]
            for pusher in pushers:
                pusher.start()
            time.sleep(0.3 + 0.05 * (turn % 7))
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=30)
        for pusher in pushers:
            pusher.join()
            acknowledged += pusher.acknowledged
            unknown += pusher.unknown
    assert len(acknowledged) > 20 * kills
    with running_service(data, jobs=False) as service:
        stored = stored_ids(Client(service))
    assert len(stored) == len(set(stored))
    assert set(acknowledged) <= set(stored) <= {*acknowledged, *unknown}


@pytest.mark.parametrize("engine", ["sqlite", "postgresql", "mariadb"])
def test_eight_clients_and_two_servers_with_the_same_ids(tmp_path: Path, database_on: Any, engine: str) -> None:
    config = database_on(engine)
    variables = {f"SERVICE_{name.upper().replace('__', '_')}": value for name, value in config.items()}
    ids = [f"id-{n}" for n in range(60)]
    accepted: list[int] = []
    duplicates: list[int] = []

    def push(port: int, key: str) -> None:
        headers = {"Content-Type": "application/json", "X-Service-Ingest-Key": key}
        with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            for first in range(0, len(ids), 4):
                events = [{"message": "boom", "event_id": one, "tags": ["a", "b"]} for one in ids[first : first + 4]]
                connection.request("POST", "/?api=ingest", json.dumps(events), headers)
                answer = connection.getresponse()
                body = json.loads(answer.read())
                assert answer.status == 202, body
                accepted.append(body["accepted"])
                duplicates.append(body["duplicates"])

    data = tmp_path / "data"
    with served(data, variables) as one, served(data, variables) as two:
        key = key_of(one)
        assert key_of(two) == key
        threads = [threading.Thread(target=push, args=(port, key)) for port in (one, two) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (sum(accepted), sum(duplicates)) == (60, 15 * 60)
    with running_service(data, jobs=False, **config) as service:
        client = Client(service)
        assert sorted(stored_ids(client)) == sorted(ids)
        (issue,) = client.get("errors").json["data"]
        assert issue["count"] == 60


def stored_ids(client: Client) -> list[str]:
    """The ids of all stored events, each with its own text."""
    found = []
    for issue in client.get("errors", limit=200).json["data"]:
        cursor: dict[str, Any] = {}
        while True:
            page = client.get("error", id=issue["id"], limit=500, **cursor).json
            found += [row["event_id"] for row in page["occurrences"]]
            if page["meta"]["next_cursor"] is None:
                break
            cursor = {"cursor": page["meta"]["next_cursor"]}
        counted = client.get("error", id=issue["id"], limit=1).json["data"]
        assert counted["count"] == counted["stored_occurrences"]
    return found
