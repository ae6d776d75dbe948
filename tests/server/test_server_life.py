"""Start and end of `snaglist serve`."""

import json
import re
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# `snaglist serve` with a plugin whose endpoint takes its time.
SLOW = """
import os, sys, time
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType
from snaglist.kernel import Description, Endpoint, hookimpl, own, plugins

def slow(call):
    Path(os.environ["SLOW_FOLDER"], "started").touch()
    time.sleep(2)
    return {"slow": True}

module = ModuleType("plugin_slow")
module.describe = hookimpl(lambda: Description("slow", "Slow", "", "Tests", "1.0", core=True))
endpoint = Endpoint("slow", get=own(slow, None), schemas=Path(os.environ["SLOW_FOLDER"]))
module.register_endpoints = hookimpl(lambda: [endpoint])

class Point:
    name, dist = "slow", None
    def load(self):
        return module

class System:
    name, dist = "system", None
    def load(self):
        from snaglist.plugins import system
        return system

plugins.entry_points = lambda group: [System(), Point()]
from snaglist.plugins.start import main
main()
"""

Serve = Callable[..., Any]


def test_ready_line(serve: Serve, fresh_data: Path) -> None:
    server = serve(SERVICE_TOKEN="test-key-0123456789abcdef")
    shown = re.escape(str(fresh_data))
    form = rf"snaglist \S+ on http://127\.0\.0\.1:\d+/ \(data {shown}, sqlite, key set\)\n"
    assert re.fullmatch(form, server.line), server.line
    assert "(data" in server.line and "0123456789" not in server.line


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_running_requests_finish(serve: Serve, tmp_path: Path, number: int) -> None:
    """Exit code 0, and the answer arrives whole."""
    server = serve(program=SLOW, SLOW_FOLDER=str(tmp_path))
    answers: list[Any] = []

    def ask() -> None:
        answers.append(server.send(b"GET /?api=slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))

    thread = threading.Thread(target=ask)
    thread.start()
    deadline = time.monotonic() + 20
    while not (tmp_path / "started").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    server.process.send_signal(number)
    thread.join(20)
    assert json.loads(answers[0].body) == {"slow": True}
    assert server.process.wait(20) == 0


def test_an_idle_server_ends_at_once(serve: Serve) -> None:
    server = serve()
    idle = server.connect()  # a client that holds its connection open must not delay the end
    started = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(20) == 0
    assert time.monotonic() - started < 8
    idle.close()


def test_a_port_that_is_taken(run: Callable[..., Any]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = run("serve", "--port", port)
    assert refused.returncode == 1
    assert f"port {port}" in refused.stderr and "Traceback" not in refused.stderr
    assert refused.stdout == ""


@pytest.mark.parametrize("token", ["   ", "two words", "schlüssel"])
def test_a_key_that_cannot_be_used(run: Callable[..., Any], token: str) -> None:
    """Never open by mistake."""
    refused = run("serve", "--port", "0", SERVICE_TOKEN=token)
    assert refused.returncode == 1
    assert "auth.token" in refused.stderr and token not in refused.stderr
    assert refused.stdout == ""


def test_a_key_under_a_wrong_name(run: Callable[..., Any], tmp_path: Path) -> None:
    """Never open by mistake."""
    file = tmp_path / "own.toml"
    file.write_text('[server]\nport = 0\n[auth]\nkey = "s3cret-s3cret-s3cret"\n', encoding="utf-8")
    named = f"auth.key ({file} line 4): no such setting"
    for variables, name in (
        ({"SERVICE_TOKENS": "s3cret-s3cret-s3cret"}, "SERVICE_TOKENS: no such setting"),
        ({"SERVICE_CONFIG": str(file)}, named),
    ):
        refused = run("serve", "--port", "0", **variables)
        assert refused.returncode == 1 and refused.stdout == ""
        assert refused.stderr.startswith(f"snaglist: {name}; and no key is set")
        assert "SERVICE_TOKEN," in refused.stderr and "s3cret" not in refused.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"SERVICE_DATABASE_URL": "postgresql+psycopg://nobody:s3cret@127.0.0.1:1/none"},
        {"SERVICE_DATABASE_URL": "mysql+pymysql://nobody:s3cret@127.0.0.1:1"},
        {"SERVICE_DATABASE_URL": "oracle://x"}, {"SERVICE_DATABASE_URL": "not a url s3cret"},
        {"SERVICE_CONFIG": "/nonexistent/snaglist.toml"}, {"SERVICE_DATABASE_PREFIX": "No-"},
        {"SERVICE_DATA": "/dev/null/x"},
    ],
    ids=lambda variables: next(iter(variables.items()))[1][:24],
)  # fmt: skip
def test_starts_that_fail(run: Callable[..., Any], variables: dict[str, str]) -> None:
    """One line that says what is wrong, exit code 1, no trace, no secret."""
    refused = run("serve", "--port", "0", **variables)
    assert refused.returncode == 1
    assert refused.stderr.strip().splitlines()[-1].startswith("snaglist: ")
    assert "Traceback" not in refused.stderr and "s3cret" not in refused.stderr
    assert refused.stdout == ""


def test_host_header_of_an_open_loopback_instance(serve: Serve) -> None:
    """What a list of hosts lets in, and what it keeps out."""

    def status(server: Any, host: bytes) -> int:
        found: int = server.send(b"GET /?api=tags HTTP/1.1\r\nHost: " + host + b"\r\n\r\n").status
        return found

    closed = serve()
    assert [status(closed, host) for host in (b"evil.example", b"localhost", b"a.localhost:1", b"127.0.0.1")] == [
        403, 200, 200, 200,
    ]  # fmt: skip
    any_host = serve(SERVICE_ALLOWED_HOSTS="*")
    assert status(any_host, b"evil.example") == 200
    listed = serve(SERVICE_ALLOWED_HOSTS="logs.example, other.example")
    assert [status(listed, host) for host in (b"logs.example", b"OTHER.example:99", b"localhost")] == [200, 200, 403]
    keyed = serve(SERVICE_TOKEN="test-key-0123456789abcdef")
    assert status(keyed, b"evil.example") == 401


def test_an_open_instance_for_everybody_is_warned_about(serve: Serve) -> None:
    """At start and in health."""
    server = serve("--host", "0.0.0.0")
    health = server.send(b"GET /?api=health HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\n\r\n")
    warnings = json.loads(health.body)["config_warnings"]
    assert any(warning.startswith("auth.token") for warning in warnings)
    server.process.send_signal(signal.SIGTERM)
    _, stderr = server.process.communicate(timeout=20)
    assert "warning: auth.token" in stderr


def test_a_wrong_setting_is_named_and_the_server_starts(serve: Serve) -> None:
    server = serve(SERVICE_JOBS_KEEP_DAYS="abc", SERVICE_TYPO="1")
    health = server.send(b"GET /?api=health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    warnings = {warning.split(":")[0] for warning in json.loads(health.body)["config_warnings"]}
    assert health.status == 200 and warnings == {"jobs.keep_days", "SERVICE_TYPO"}


def test_jobs_run_beside_the_server_or_not_at_all(serve: Serve, fresh_data: Path) -> None:
    """`--no-jobs`: nothing of this process gives a sign of life."""
    import sqlite3

    def workers() -> list[str]:
        with sqlite3.connect(fresh_data / "registry.sqlite") as registry:
            kinds = [kind for (kind,) in registry.execute("SELECT kind FROM workers")]
        registry.close()
        return kinds

    serve("--no-jobs")
    time.sleep(0.5)
    assert workers() == []
    serve()
    deadline = time.monotonic() + 20
    while workers() != ["serve"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
