"""A server that is killed between the commit of a message and its delivery, on real processes."""

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.whole

SNAGLIST = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]


class Server:
    """`snaglist serve` on a free port."""

    def __init__(self, data: Path, *options: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        mine = {"SERVICE_PLUGINS": "alerting,ingest", "SERVICE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8"}
        self.process = subprocess.Popen(
            [*SNAGLIST, "--data", str(data), "serve", "--port", "0", *options],
            env=kept | mine,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().split("http://127.0.0.1:")[1].split("/")[0])

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=30)

    def ask(self, method: str, api: str, body: Any = None, **headers: str) -> Any:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            sent = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
            connection.request(method, f"/?api={api}", json.dumps(body) if body is not None else None, sent)
            answer = connection.getresponse()
            content = json.load(answer)
            assert answer.status < 300, content
            return content

    def prepare(self, url: str) -> None:
        made = self.ask("POST", "alert-channels", {"name": "x", "type": "webhook", "url": url})
        self.ask("POST", "alert-rules", {"name": "x", "channel_id": made["id"], "trigger_type": "new_error"})

    def push(self, message: str) -> None:
        key = self.ask("GET", "ingest-settings")["key"]
        self.ask("POST", "ingest", {"message": message}, X_Service_Ingest_Key=key)

    def wait_for(self, status: str) -> dict[str, Any]:
        until = time.monotonic() + 20
        while True:
            [event] = self.ask("GET", "alert-events")["data"]
            if event["status"] == status:
                return dict(event)
            assert time.monotonic() < until, event
            time.sleep(0.05)


def test_killed_before_the_message_was_tried(tmp_path: Path, receiver: Any) -> None:
    with Server(tmp_path / "data", "--no-jobs") as server:
        server.prepare(receiver.url)
        server.push("Disk is full")
        server.kill()
    assert receiver.got == []
    with Server(tmp_path / "data") as server:
        server.wait_for("sent")
    assert len(receiver.got) == 1


def test_killed_while_the_message_was_sent(tmp_path: Path, receiver: Any) -> None:
    """At least once: the receiver gets it again, and can tell by the delivery id."""
    receiver.answers = [lambda handler: time.sleep(3), 200]
    with Server(tmp_path / "data") as server:
        server.prepare(receiver.url)
        server.push("Disk is full")
        receiver.wait(1)
        server.kill()
    with Server(tmp_path / "data") as server:
        server.wait_for("sent")
    assert len(receiver.got) == 2
    assert len({got.headers["x-service-delivery"] for got in receiver.got}) == 1


@pytest.mark.long
def test_killed_ten_times(tmp_path: Path, receiver: Any) -> None:
    """However often the job dies, it is taken up again at once."""
    receiver.answers = [*[lambda handler: time.sleep(3)] * 10, 200]
    with Server(tmp_path / "data", "--no-jobs") as server:
        server.prepare(receiver.url)
        server.push("Disk is full")
    for turn in range(10):
        with Server(tmp_path / "data"):
            receiver.wait(turn + 1, 30)
    with Server(tmp_path / "data") as server:
        server.wait_for("sent")
    assert len({got.headers["x-service-delivery"] for got in receiver.got}) == 1
