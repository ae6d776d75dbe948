"""clients/python: the handler that docs/sending.md recommends, on a receiver that fails, and on snaglist itself."""

import gzip
import json
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from snaglist.testing import Client

sys.path.insert(0, str(Path(__file__).parents[3] / "clients" / "python"))
from snaglist_client import SnaglistHandler, sending  # type: ignore[import-not-found]


class Receiver:
    """Answers with the given statuses in turn, then with 202; keeps what came."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[list[dict[str, Any]]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.bodies.append(json.loads(gzip.decompress(raw)))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 202)
                self.send_header("Retry-After", "0")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/?api=ingest"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for body in self.bodies for event in body]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receive(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Receiver]]:
    monkeypatch.setattr(sending, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(sending, "GATHER_SECONDS", 0.1)
    made: list[Receiver] = []

    def make(*statuses: int) -> Receiver:
        made.append(Receiver(*statuses))
        return made[-1]

    yield make
    for receiver in made:
        receiver.close()


@pytest.fixture
def logger() -> Iterator[Callable[..., tuple[logging.Logger, Any]]]:
    found = logging.Logger("shop.orders")

    def make(url: str, **options: Any) -> tuple[logging.Logger, Any]:
        handler = SnaglistHandler(url, "svk_key", **options)
        found.addHandler(handler)
        return found, handler

    yield make
    for handler in found.handlers:
        handler.close()


def test_records_become_events(receive: Any, logger: Any) -> None:
    receiver = receive()
    log, handler = logger(receiver.url, release="v1", environment="staging")
    try:
        1 / 0  # noqa: B018
    except ZeroDivisionError:
        log.exception("Order %s failed", 4711, extra={"order": 4711, "odd": object()})
    log.info("below the level")
    log.warning("plain")
    handler.flush()
    first, second = receiver.events
    assert (first["message"], first["level"], first["channel"]) == ("Order 4711 failed", "ERROR", "shop.orders")
    assert (first["exception_class"], first["release"], first["environment"]) == ("ZeroDivisionError", "v1", "staging")
    assert first["stack"].startswith("Traceback") and first["context"]["order"] == 4711
    assert "<object" in first["context"]["odd"]
    assert (second["level"], second["message"]) == ("WARNING", "plain") and first["event_id"] != second["event_id"]


def test_batches(receive: Any, logger: Any) -> None:
    receiver = receive()
    log, handler = logger(receiver.url)
    for n in range(250):
        log.error("event %s", n)
    handler.flush()
    assert [event["message"] for event in receiver.events] == [f"event {n}" for n in range(250)]
    assert len(receiver.bodies) <= 5 and max(map(len, receiver.bodies)) == 100


def test_failures_are_repeated_with_the_same_ids(receive: Any, logger: Any) -> None:
    receiver = receive(500, 429, 503)
    log, handler = logger(receiver.url)
    log.error("boom")
    handler.flush(10)
    assert len(receiver.bodies) == 4 and len({body[0]["event_id"] for body in receiver.bodies}) == 1
    assert handler.dropped == 0


def test_refusals_are_counted_and_nothing_is_raised(receive: Any, logger: Any) -> None:
    receiver = receive(401)
    log, handler = logger(receiver.url)
    log.error("boom")
    handler.flush()
    assert (len(receiver.bodies), handler.dropped) == (1, 1)


def test_no_server_no_wait_no_error(logger: Any, capsys: pytest.CaptureFixture[str]) -> None:
    log, handler = logger("http://127.0.0.1:9/", queue=5)
    begun = time.monotonic()
    for n in range(200):
        log.error("event %s", n)
    assert time.monotonic() - begun < 1
    handler.flush(0.2)
    assert handler.dropped >= 190
    assert len(capsys.readouterr().err.splitlines()) <= 2, "that it is away, and that the queue is full"


def test_what_it_sends_is_stored(sqlite_sender: Any, receive: Any, logger: Any) -> None:
    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    client: Client = sqlite_sender.client
    server = make_server("127.0.0.1", 0, client.app, handler_class=Quiet)  # type: ignore[arg-type]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        log, handler = logger(f"http://127.0.0.1:{server.server_port}/?api=ingest&app=default")
        handler._sender._key = sqlite_sender.key
        try:
            {}["missing"]
        except KeyError:
            log.exception("Order failed")
        handler.flush(10)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    (issue,) = sqlite_sender.issues()
    assert (issue["title"], issue["exception_class"], issue["channel"]) == (
        "KeyError: Order failed",
        "KeyError",
        "shop.orders",
    )
    assert issue["source_frame"].split("/")[-1].startswith("test_python_client.py:")


def test_the_standard_library_is_all_it_needs() -> None:
    import ast

    for module in (Path(__file__).parents[3] / "clients" / "python" / "snaglist_client").glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert all(name.split(".")[0] in {*sys.stdlib_module_names, "snaglist_client"} for name in names), names
