"""docs/sending.md: each recipe is run where its program is at hand, else what it sends is sent."""

import gzip
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "sending.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8787"


def recipe(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


@pytest.fixture
def served(sqlite_sender: Any) -> Iterator[str]:
    """The address of a server for the sender's service."""

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = make_server("127.0.0.1", 0, sqlite_sender.client.app, handler_class=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def fill(text: str, address: str, sender: Any) -> str:
    assert ADDRESS in text and "svk_KEY" in text
    return text.replace(ADDRESS, address).replace("svk_KEY", sender.key)


@pytest.mark.parametrize(("name", "count"), [("curl", 1), ("curl-lines", 2)])
def test_curl(sqlite_sender: Any, served: str, name: str, count: int) -> None:
    if shutil.which("curl") is None:
        pytest.skip("no curl")
    command = fill(recipe(name), served, sqlite_sender).replace("curl ", "curl -sS ")
    ran = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(ran.stdout)["accepted"] == count, ran.stderr
    (issue,) = sqlite_sender.issues()
    assert issue["count"] == count


def test_python(sqlite_sender: Any, served: str) -> None:
    program = fill(recipe("python"), served, sqlite_sender)
    command = [sys.executable, "-c", program]
    subprocess.run(command, env={"PYTHONPATH": str(ROOT / "clients" / "python")}, timeout=60, check=True)
    (issue,) = sqlite_sender.issues()
    assert (issue["title"], issue["channel"]) == ("Order 4711 failed", "root")
    assert json.loads(issue["sample_context"])["order"] == 4711


def test_vector(sqlite_sender: Any) -> None:
    """The `http` sink with the codec `json` sends lists, its own fields included."""
    events = [
        {"channel": "file", "file": "/var/log/app.log", "host": "web-1", "message": f"Order {n} failed",
         "level": "warn", "server_name": "web-1", "source_type": "file", "timestamp": "2026-01-03T10:00:00.123456789Z"}
        for n in range(2)
    ]  # fmt: skip
    assert 'codec = "json"' in recipe("vector") and "gzip" in recipe("vector")
    answer = sqlite_sender.raw(gzip.compress(json.dumps(events).encode()), Content_Encoding="gzip")
    assert (answer.status, answer.json["accepted"]) == (202, 2)
    lines = "\n".join(map(json.dumps, events)).encode()  # with framing.method = "newline_delimited"
    assert sqlite_sender.raw(lines, "application/x-ndjson").json["accepted"] == 2
    (issue,) = sqlite_sender.issues()
    assert (issue["channel"], issue["severity"], issue["last_seen"]) == ("file", "WARNING", "2026-01-03 10:00:00")


def test_fluent_bit(sqlite_sender: Any) -> None:
    """The `http` output with the format `json`; dates as text and, by default, as a number."""
    assert "Format           json\n" in recipe("fluent-bit")
    record = {"message": "Order 1 failed", "stream": "stderr"}
    dates = ("2026-01-03T10:00:00.123456Z", 1767434400.123456)
    body = json.dumps([{"timestamp": date, **record} for date in dates]).encode()
    answer = sqlite_sender.raw(gzip.compress(body), Content_Encoding="gzip")
    assert (answer.status, answer.json["accepted"]) == (202, 2)
    (issue,) = sqlite_sender.issues()
    assert (issue["first_seen"], issue["last_seen"]) == ("2026-01-03 10:00:00", "2026-01-03 10:00:00")


def test_logstash(sqlite_sender: Any) -> None:
    """The `http` output with the format `json_batch` and the mapping of the recipe."""
    assert "json_batch" in recipe("logstash")
    event = {"message": "Order 1 failed", "timestamp": "2026-01-03T10:00:00.123Z", "server_name": "%{[host][name]}"}
    whole = {
        "@timestamp": "2026-01-03T10:00:00.123Z",
        "@version": "1",
        "host": {"name": "web-1"},
        "message": "Order 2 failed",
        "tags": ["_grokparsefailure"],
    }
    answer = sqlite_sender.raw(json.dumps([event, whole]).encode(), "application/json; charset=UTF-8")
    assert (answer.status, answer.json["accepted"]) == (202, 2)
    assert sqlite_sender.issues()[0]["count"] == 2
