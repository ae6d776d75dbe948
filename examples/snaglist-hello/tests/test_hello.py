"""The plugin in a real snaglist, on SQLite and on each server that TEST_POSTGRESQL_URL or TEST_MYSQL_URL names.

`snaglist` is a client that holds every answer against its response schema; see docs/plugins.md for the test kit.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from snaglist.kernel.plugins import Plugins
from snaglist.plugins.system import cli
from snaglist.testing import Client
from snaglist_hello import jobs

ERROR = "@@ 2026-01-03T10:00:00Z ERROR checkout: Gateway timeout\n"


@pytest.fixture
def snaglist_config(tmp_path: Path) -> dict[str, Any]:
    return {"ingestion__allowed_roots": [str(tmp_path)], "outbound__allow_private": ["127.0.0.0/8"]}


@pytest.fixture
def posted() -> Iterator[list[bytes]]:
    """What is posted to the address in its first item."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    got = [f"http://127.0.0.1:{server.server_port}/".encode()]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield got
    server.shutdown()
    thread.join()
    server.server_close()


def test_endpoint(snaglist: Client) -> None:
    assert snaglist.get("hello").status == 404  # until somebody wants it
    snaglist.enable("hello")
    assert snaglist.post("hello", {"word": " "}).error == "word: must be 1-80 characters after trimming"
    assert snaglist.post("hello", {"word": " Timeout "}).json["word"] == "Timeout"
    assert snaglist.post("hello", {"word": "TIMEOUT"}).json["word"] == "Timeout"
    assert [row["count"] for row in snaglist.get("hello").json["data"]] == [0]


def test_parser_and_event_hooks(snaglist: Client) -> None:
    snaglist.enable("hello")
    snaglist.post("hello", {"word": "timeout"})
    assert snaglist.feed(ERROR + "  while paying\n" + ERROR)["by_type"] == {"hello": 2}
    assert [row["count"] for row in snaglist.get("hello").json["data"]] == [2]
    first = snaglist.get("errors").json["data"][0]
    assert (first["severity"], first["channel"]) == ("ERROR", "checkout")
    assert snaglist.post("issue-status", {"id": first["id"], "status": "fixed"}).json["hello"] == {"issues": 1}


def test_job(snaglist: Client) -> None:
    snaglist.enable("hello")
    snaglist.post("hello", {"word": "timeout"})
    call = snaglist.service.call()
    call.now = "2100-01-01 00:00:00"
    with call.transaction(write=False):
        assert jobs.due(call) == {}
    with call.transaction():
        job = call.enqueue(jobs.KIND)
    snaglist.service.jobs.run_queued(call.application)
    shown = snaglist.get("jobs", id=job).json["data"]
    assert (shown["kind"], shown["error"]) == (jobs.KIND, None)


def test_connector_type(snaglist: Client, tmp_path: Path) -> None:
    snaglist.enable("hello")  # its log format takes part where it is on
    (tmp_path / "shop.log").write_text(ERROR)
    body = {"name": "shop", "type": "hello", "config": {"file": str(tmp_path / "gone.log")}}
    assert snaglist.post("connectors", body).error == "config.file: must be an existing file below an allowed root"
    made = snaglist.post("connectors", body | {"config": {"file": str(tmp_path / "shop.log")}}).json
    for events in (1, 0):  # what was read is not read again
        run = snaglist.post("connectors-sync", {"id": made["id"]}, wait=True).json["runs"][0]
        assert (run["status"], run["events_indexed"]) == ("success", events)


def test_alert_channel_type(snaglist: Client, posted: list[bytes]) -> None:
    snaglist.enable("alerting")
    made = snaglist.post("alert-channels", {"name": "x", "type": "hello", "url": posted[0].decode()}).json
    assert made["target_hint"] == "127.0.0.1"
    assert snaglist.post("alert-test", {"id": made["id"]}).json == {"ok": True, "detail": "delivered"}
    assert len(posted) == 2


def test_tracker_provider(snaglist: Client, posted: list[bytes]) -> None:
    area = pytest.importorskip("snaglist.plugins.tracker")
    contract = area.contract
    provider = snaglist.service.plugins.types(contract.register_trackers)["hello"]
    opening = area.Opening(snaglist.service.call(), posted[0].decode(), "", "key", "", area.Wanted())
    tracker = provider.open(opening)
    item = tracker.create(area.Draft("m1", "Order failed", "twice", 0, "open", (), "https://logs.example.com/"))
    tracker.move(item, "fixed", "m2")
    assert [b'"m1"' in posted[1], b'"fixed"' in posted[2]] == [True, True]


def test_command(tmp_path: Path) -> None:
    plugins = Plugins()
    plugins.load()
    for _, made in plugins.commands():
        cli.add_command(made)
    data = ["--data", str(tmp_path / "data")]
    assert CliRunner().invoke(cli, [*data, "plugins", "enable", "hello"]).exit_code == 0
    assert CliRunner().invoke(cli, [*data, "hello"]).stdout.split() == ["WORD", "COUNT", "SEEN"]


def test_dashboard_panel(snaglist: Client) -> None:
    assert "hello.js" in snaglist.request("GET", "/").text
