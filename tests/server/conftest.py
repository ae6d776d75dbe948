"""Real processes: `snaglist serve` on a free port, and commands that end."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SNAGLIST = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]


def environment(data: Path, variables: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    return kept | {"SERVICE_DATA": str(data), "SERVICE_INGESTION_INTERVAL_SECONDS": "0"} | variables


@dataclass
class Raw:
    """What came back on the wire, taken apart."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        """The message; fails when the answer is not the envelope with the headers of every answer."""
        assert self.headers["content-type"] == "application/json; charset=utf-8", self
        assert self.headers["x-content-type-options"] == "nosniff"
        assert "content-security-policy" in self.headers
        assert self.headers["cache-control"] == "no-store"
        assert "set-cookie" not in self.headers
        assert int(self.headers["content-length"]) == len(self.body)
        found = json.loads(self.body)
        assert list(found) == ["error"] and found["error"], found
        return str(found["error"])


class Running:
    """A server process."""

    def __init__(self, process: "subprocess.Popen[str]", line: str) -> None:
        self.process = process
        self.line = line
        found = re.search(r" on http://[\d.]+:(\d+)/ ", line)
        assert found, f"no ready line: {line!r}"
        self.port = int(found[1])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def send(self, request: bytes, *, half_close: bool = False) -> Raw:
        """Send bytes and take the answer apart."""
        with self.connect() as connection:
            try:
                connection.sendall(request)
                if half_close:
                    connection.shutdown(socket.SHUT_WR)
            except ConnectionError:
                pass  # the server answered before it had read all; the answer is what counts
            return read_answer(connection, bodiless=request.startswith(b"HEAD "))


def read_answer(connection: socket.socket, *, bodiless: bool = False) -> Raw:
    received = b""
    while b"\r\n\r\n" not in received:
        part = connection.recv(65536)
        assert part, received
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while not bodiless and len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return Raw(int(first.split(" ")[1]), headers, body)


@pytest.fixture
def serve(fresh_data: Path) -> Iterator[Callable[..., Running]]:
    """Start `snaglist serve`: `serve("--no-jobs", SERVICE_TOKEN="…")`; killed by its process id at the end."""
    running: list[subprocess.Popen[str]] = []

    def start(*options: str, program: str = "", **variables: str) -> Running:
        command = [sys.executable, "-c", program] if program else SNAGLIST
        process = subprocess.Popen(
            [*command, "serve", "--port", "0", *options],
            env=environment(fresh_data, variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        return Running(process, process.stdout.readline())

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for the tests of a module that only ask."""
    process = subprocess.Popen(
        [*SNAGLIST, "serve", "--port", "0", "--no-jobs"],
        env=environment(tmp_path_factory.mktemp("shared") / "data", {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Running(process, process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=30)


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(fresh_data: Path) -> Run:
    """Run a command on a fresh instance: `run("apps", "list", "--json")`."""

    def command(*arguments: str, **variables: Any) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*SNAGLIST, *arguments],
            env=environment(fresh_data, variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return command
