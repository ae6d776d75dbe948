"""Clients who hold what they have: connections, unread answers, requests without an end. docs/operating.md."""

import errno
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from waitress.server import TcpWSGIServer

from snaglist.kernel.service import Service
from snaglist.plugins.system import connections
from snaglist.plugins.system.connections import Server

HEAD = b" HTTP/1.1\r\nHost: localhost\r\n"
HEALTH = b"GET /?api=health" + HEAD + b"\r\n"
CROWD = 130
MEBIBYTE = 1024 * 1024

# `snaglist serve` with a plugin: `slow` takes a second, `big` answers MEBIBYTES in parts and notes each call.
WITH_PLUGIN = """
import os, time
from pathlib import Path
from types import ModuleType
from snaglist.kernel import Description, Endpoint, Reply, hookimpl, own, plugins

folder = Path(os.environ["FOLDER"])

def slow(call):
    (folder / "slow").touch()
    time.sleep(3)
    return {}

def big(call):
    with (folder / "calls").open("a") as file:
        file.write("x")
    parts = (bytes([65 + number % 26]) * 65536 for number in range(int(os.environ["MEBIBYTES"]) * 16))
    return Reply(parts, content_type="application/octet-stream")

module = ModuleType("plugin_big")
module.describe = hookimpl(lambda: Description("big", "Big", "", "Tests", "1.0", core=True))
endpoints = [Endpoint(f.__name__, get=own(f, None), schemas=folder, application=False) for f in (slow, big)]
module.register_endpoints = hookimpl(lambda: endpoints)

class Point:
    name, dist = "big", None
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


@pytest.fixture
def crowd() -> Iterator[Callable[..., list[socket.socket]]]:
    """Open connections that each send something; closed at the end."""
    with ExitStack() as stack:

        def enter(server: Any, number: int, data: bytes = b"", **options: int) -> list[socket.socket]:
            return [stack.enter_context(_connected(server, data, **options)) for _ in range(number)]

        yield enter


def _connected(server: Any, data: bytes, *, receive: int = 0) -> socket.socket:
    connection = socket.socket()
    if receive:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
    connection.settimeout(10)
    connection.connect(("127.0.0.1", server.port))
    if data:
        connection.sendall(data)
    return connection


def is_open(connection: socket.socket) -> bool:
    """Tell whether the server still has the connection, reading what it sent."""
    connection.setblocking(False)
    try:
        while connection.recv(MEBIBYTE):
            pass
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    return False


def open_ones(connections: list[socket.socket]) -> int:
    return sum(map(is_open, connections))


def was_cut_off(connection: socket.socket) -> bool:
    """Tell whether the end was a reset rather than a close, reading what was sent before."""
    connection.settimeout(10)
    try:
        while connection.recv(MEBIBYTE):
            pass
    except ConnectionResetError:
        return True
    return False


def is_well(server: Any) -> None:
    """Health answers within a second; a hiccup of the machine is forgiven once."""
    taken = []
    for _ in range(2):
        began = time.monotonic()
        assert server.send(HEALTH).status == 200
        taken.append(time.monotonic() - began)
        if taken[-1] < 1:
            return
    raise AssertionError(f"health took {taken}")


def stays_well(server: Any, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        is_well(server)
        time.sleep(0.05)


def comes_true(condition: Callable[[], bool], server: Any = None, seconds: float = 15) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        if server:
            is_well(server)
        time.sleep(0.05)


def drip(connections: list[socket.socket], data: bytes) -> None:
    """Send a little on each connection that is still there."""
    for connection in connections:
        with suppress(OSError):
            connection.send(data)


def memory(server: Any) -> int:
    """Resident memory of the server in bytes."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii"))
    assert found
    return int(found[1]) * 1024


def sockets(server: Any) -> int:
    """How many sockets the server has."""
    count = 0
    for file in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed just now
            count += os.readlink(file).startswith("socket:")
    return count


def log_of(server: Any) -> list[str]:
    """End the server and return what it logged."""
    server.process.send_signal(signal.SIGTERM)
    _, stderr = server.process.communicate(timeout=30)
    assert server.process.returncode == 0 and "Traceback" not in stderr and "uncaptured" not in stderr, stderr
    return [line for line in stderr.splitlines() if " WARNING " in line or " ERROR " in line]


def largest_file(server: Any) -> bytes:
    """The path of the largest file that needs no key."""
    page = server.send(b"GET /" + HEAD + b"Accept: text/html\r\n\r\n").body
    files = [b"/" + file for file in sorted(set(re.findall(rb'static/[^"]+', page)))]
    return max(files, key=lambda file: len(server.send(b"GET " + file + HEAD + b"\r\n").body))


@contextmanager
def asking(server: Any) -> Iterator[socket.socket]:
    with server.connect() as connection:
        yield connection


PARTS = {
    "idle": (b"", b""),
    "head": (b"GET / HTTP/1.1\r\nX: ", b"x"),
    "blank lines": (b"\r\n\r\n", b"\r\n\r\n"),
    "body": (b"POST /?api=tags" + HEAD + b"Content-Length: 1000\r\n\r\n{", b" "),
    "chunks": (b"POST /?api=tags" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "kept alive": (HEALTH, b""),
}


@pytest.mark.parametrize("kind", PARTS)
def test_more_connections_than_the_limit_shut_nobody_out(
    serve: Serve, crowd: Callable[..., list[socket.socket]], kind: str
) -> None:
    """Whoever waits for nothing gives way, and the log says so once."""
    first, more = PARTS[kind]
    server = serve("--no-jobs", SERVICE_TOKEN="test-key-0123456789abcdef", SERVICE_SERVER_CONNECTION_LIMIT="40")
    held = crowd(server, CROWD, first)
    until = time.monotonic() + 2.5
    while time.monotonic() < until:
        is_well(server)
        if more:
            drip(held, more)
        time.sleep(0.1)
    assert open_ones(held) < 40
    logged = log_of(server)
    assert 1 <= len(logged) <= 2 and all("server.connection_limit" in line for line in logged), logged


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        ("idle", ""), ("kept alive", ""), ("blank lines", ""), ("head", "server.header_timeout"),
        ("body", "server.body_timeout"), ("chunks", "server.body_timeout"), ("body", "server.stall_timeout"),
    ],
)  # fmt: skip
def test_waiting_has_an_end(serve: Serve, crowd: Callable[..., list[socket.socket]], kind: str, setting: str) -> None:
    """However little comes, and however steadily."""
    first, more = PARTS[kind]
    short = {"SERVICE_" + (setting or "server.idle_timeout").upper().replace(".", "_"): "1"}
    server = serve("--no-jobs", **short)
    began = time.monotonic()
    held = crowd(server, CROWD, first)

    def gone() -> bool:
        drip(held, more)
        return open_ones(held) == 0

    comes_true(gone, server)
    assert time.monotonic() - began > 1
    logged = log_of(server)
    assert [line for line in logged if setting not in line] == [] and len(logged) <= (1 if setting else 0), logged


def test_unread_answers_hold_no_handler(serve: Serve, crowd: Callable[..., list[socket.socket]]) -> None:
    """8 clients, 600 requests each, nothing is read: everybody else is served, and they are dropped."""
    server = serve("--no-jobs", SERVICE_TOKEN="test-key-0123456789abcdef", SERVICE_SERVER_STALL_TIMEOUT="2")
    asked = b"GET " + largest_file(server) + HEAD + b"\r\n"
    before = memory(server)
    held = crowd(server, 8, receive=2048)
    for connection in held:
        connection.setblocking(False)
        drip([connection], asked * 600)
    stays_well(server, 2)
    assert memory(server) - before < 32 * MEBIBYTE
    comes_true(lambda: sockets(server) == 1, seconds=30)  # the listener; to look at connections is to read from them
    assert all(map(was_cut_off, held))  # else the operating system would go on offering what waits for them
    logged = log_of(server)
    assert len(logged) == 1 and "server.stall_timeout" in logged[0], logged


def test_the_defaults_last_through_all_of_it_at_once(serve: Serve, crowd: Callable[..., list[socket.socket]]) -> None:
    server = serve("--no-jobs", SERVICE_TOKEN="test-key-0123456789abcdef")
    asked = b"GET " + largest_file(server) + HEAD + b"\r\n"
    before = memory(server)
    for connection in crowd(server, 8, receive=2048):
        connection.setblocking(False)
        drip([connection], asked * 600)
    for first, _ in PARTS.values():
        crowd(server, 100, first)
        is_well(server)
    stays_well(server, 2)
    assert memory(server) - before < 64 * MEBIBYTE
    assert any("server.connection_limit" in line for line in log_of(server))


def test_who_waits_longest_for_nothing_gives_way_first(serve: Serve, crowd: Callable[..., list[socket.socket]]) -> None:
    """Neither a request that is on its way nor one that came lately."""
    server = serve("--no-jobs", SERVICE_SERVER_CONNECTION_LIMIT="10")
    rest = sockets(server)
    [unfinished] = crowd(server, 1, PARTS["body"][0])
    old = crowd(server, 4)
    is_well(server)
    comes_true(lambda: sockets(server) == rest + 5)  # the connection that asked for health would be one too many
    young = crowd(server, 4)
    time.sleep(1.2)  # what began a moment ago gives way last of all
    crowd(server, 2)
    is_well(server)
    comes_true(lambda: open_ones(old) <= 2)
    assert is_open(unfinished) and open_ones(young) == 4


def test_pipelined_requests_are_answered_one_after_another(serve: Serve) -> None:
    server = serve("--no-jobs")
    with asking(server) as connection:
        connection.sendall(HEALTH * 150 + b"\r\n" + HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        received = b""
        while part := connection.recv(65536):
            received += part
    assert received.count(b"HTTP/1.1 200 OK") == 151


def test_a_request_that_comes_in_pieces_behind_another(serve: Serve) -> None:
    """Body and all: what is kept of the second request while the first is answered is not lost."""
    server = serve("--no-jobs")
    body = b'{"name":"' + b"x" * 300_000 + b'"}'
    post = b"POST /?api=tags" + HEAD + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with asking(server) as connection:
        connection.sendall(HEALTH + post + body + HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        received = b""
        while part := connection.recv(65536):
            received += part
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"422", b"200"]


def test_the_next_request_waits_until_the_answer_is_taken(serve: Serve, tmp_path: Path) -> None:
    server = serve("--no-jobs", program=WITH_PLUGIN, FOLDER=str(tmp_path), MEBIBYTES="1")
    calls = tmp_path / "calls"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall((b"GET /?api=big" + HEAD + b"\r\n") * 50)
        comes_true(calls.exists)
        stays_well(server, 1)
        assert calls.stat().st_size == 1


def test_a_handler_does_not_wait_for_a_client_who_does_not_read(serve: Serve, tmp_path: Path) -> None:
    """The answer is larger than what is kept for a client; there is one thread."""
    short = {"SERVICE_SERVER_STALL_TIMEOUT": "1"}
    server = serve("--no-jobs", "--threads", "1", program=WITH_PLUGIN, FOLDER=str(tmp_path), MEBIBYTES="40", **short)
    big = b"GET /?api=big" + HEAD + b"\r\n"
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(big)
        comes_true((tmp_path / "calls").exists)
        assert server.send(b"GET /?api=nope" + HEAD + b"\r\n").status == 404  # once the thread is free


def test_who_reads_slowly_but_steadily_gets_all_of_a_large_answer(serve: Serve, tmp_path: Path) -> None:
    short = {"SERVICE_SERVER_STALL_TIMEOUT": "1", "SERVICE_SERVER_STALL_BYTES": "65536"}
    server = serve("--no-jobs", program=WITH_PLUGIN, FOLDER=str(tmp_path), MEBIBYTES="24", **short)
    began, received = time.monotonic(), 0
    with asking(server) as connection:
        connection.sendall(b"GET /?api=big" + HEAD + b"Connection: close\r\n\r\n")
        while part := connection.recv(65536):
            received += len(part)
            time.sleep(0.01)
            if received < MEBIBYTE:
                time.sleep(0.05)
    assert received > 24 * MEBIBYTE and time.monotonic() - began > 3


@pytest.mark.parametrize("part", ["middle", "end"])
def test_who_takes_little_but_enough_is_not_cut_off(serve: Serve, part: str) -> None:
    """The server's system takes 64 KiB at a time from it: for longer than the limit it takes nothing."""
    server = serve("--no-jobs", SERVICE_SERVER_STALL_TIMEOUT="1", SERVICE_SERVER_STALL_BYTES="16384")
    request = b"GET /?api=openapi" + HEAD + b"\r\n"
    length = len(server.send(request).body)
    assert length > 190_000
    quickly = length - 110_000 if part == "end" else 0
    with _connected(server, request * 2, receive=4096) as connection:
        received = 0
        while received < quickly:
            received += len(connection.recv(65536))
        began = time.monotonic()
        while received < quickly + 80_000:
            received += len(connection.recv(1000))
            time.sleep(max(0, began + (received - quickly) / 20_000 - time.monotonic()))
        assert is_open(connection)
    assert not [line for line in log_of(server) if "stall" in line]


def test_an_end_waits_for_who_takes_an_answer(serve: Serve, tmp_path: Path) -> None:
    """But not for one who takes nothing."""
    server = serve("--no-jobs", program=WITH_PLUGIN, FOLDER=str(tmp_path), MEBIBYTES="8")
    with asking(server) as reader, asking(server) as other:
        for connection in (reader, other):
            connection.sendall(b"GET /?api=big" + HEAD + b"Connection: close\r\n\r\n")
        received = len(reader.recv(65536))
        comes_true(lambda: (tmp_path / "calls").read_text() == "xx")
        server.process.send_signal(signal.SIGTERM)
        while part := reader.recv(65536):
            received += len(part)
            time.sleep(0.01)
        assert received > 8 * MEBIBYTE
        assert server.process.wait(8) == 0


def test_who_sends_slowly_but_steadily_is_answered(serve: Serve) -> None:
    server = serve("--no-jobs", SERVICE_SERVER_STALL_TIMEOUT="1", SERVICE_SERVER_STALL_BYTES="1000")
    body = b'{"name":"' + b"x" * 19_989 + b'"}'
    head = b"POST /?api=tags" + HEAD + b"Content-Type: application/json\r\nContent-Length: 20000\r\n\r\n"
    with asking(server) as connection:
        connection.sendall(head)
        for start in range(0, 20_000, 2000):
            connection.sendall(body[start : start + 2000])
            time.sleep(0.3)
        assert connection.recv(100).startswith(b"HTTP/1.1 422 ")


def test_health_does_not_wait_for_slow_handlers(serve: Serve, tmp_path: Path) -> None:
    server = serve("--no-jobs", "--threads", "2", program=WITH_PLUGIN, FOLDER=str(tmp_path), MEBIBYTES="1")
    with ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(asking(server)).sendall(b"GET /?api=slow" + HEAD + b"\r\n")
        comes_true((tmp_path / "slow").exists)
        stays_well(server, 2)


LOW = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from snaglist.plugins.start import main
main()
"""


def test_the_limit_leaves_files_for_the_rest(serve: Serve, crowd: Callable[..., list[socket.socket]]) -> None:
    """Half of the files that the process may open are for connections."""
    server = serve("--no-jobs", program=LOW)
    held = crowd(server, CROWD)
    stays_well(server, 1)
    assert 0 < open_ones(held) < 64
    assert "server.connection_limit: 64 in place of 500" in log_of(server)[0]


def test_large_bodies_leave_files_to_the_rest(serve: Serve, crowd: Callable[..., list[socket.socket]]) -> None:
    """Only so many bodies on their way wait in files; who stands still gives way, not who began first and goes on."""
    server = serve("--no-jobs", program=LOW)
    is_well(server)
    head = b"POST /?api=tags" + HEAD + b"Content-Type: application/json\r\nContent-Length: 400000\r\n\r\n"
    (moving,) = crowd(server, 1, head + b" " * 150_000)
    held = crowd(server, 15, head + b" " * 150_000)
    time.sleep(1.5)
    for _ in range(12):
        drip([moving], b" " * 20_000)
        held += crowd(server, 4, head + b" " * 150_000)
        time.sleep(0.3)
    stays_well(server, 1)
    assert 0 < open_ones(held) <= 16
    moving.sendall(b" " * 10_000)
    assert moving.recv(65536).startswith(b"HTTP/1.1 400 ")
    lines = log_of(server)
    assert any("large ones on their way wait in files" in line for line in lines)
    assert not any("ERROR" in line or "could not be received" in line for line in lines)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_without_a_free_file_the_next_connection_waits(
    sqlite_service: Service, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """What else has the files: the server does not end, and does not ask again in every round of its loop."""

    def refuse(_: Any) -> Any:
        raise OSError(number, os.strerror(number))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(lambda environ, start: [], listener, sqlite_service.settings, lambda request: False)
        try:
            assert server.readable()
            monkeypatch.setattr(TcpWSGIServer, "accept", refuse)
            assert server.accept() is None
            assert not server.readable()
            monkeypatch.setattr(connections, "monotonic", lambda: time.monotonic() + 1)
            assert server.readable()
        finally:
            server.task_dispatcher.shutdown(timeout=1)
            server.close()
