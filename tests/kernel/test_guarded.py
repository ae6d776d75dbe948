"""Clients of others in a child process whose every connection is checked."""

import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.errors import BadGateway
from snaglist.kernel.origin import parse_networks
from snaglist.plugins.system import GuardedChild

pytestmark = pytest.mark.whole

LOOPBACK = parse_networks(["127.0.0.0/8"])
PROBE = """
import asyncio, os, socket, subprocess, time, urllib.request

class Probe:
    def __init__(self, greeting=""):
        self.greeting = greeting
    def greet(self, name):
        return self.greeting + name
    def data(self, size):
        return b"x" * size
    def fail(self):
        raise ValueError("it\\nbroke")
    def odd(self):
        return object()
    def say(self):
        print("this must not reach the parent")
        return "said"
    def sleep(self):
        time.sleep(60)
    def end(self):
        os._exit(3)
    def fetch(self, url):
        return urllib.request.urlopen(url, timeout=5).read().decode()
    def connect(self, host, port):
        with socket.socket() as plain:
            plain.settimeout(5)
            plain.connect((host, port))
    def low_level(self, host, port):
        import _socket
        plain = _socket.socket()
        plain.settimeout(5)
        plain.connect_ex((host, port))
    def loop(self, host, port):
        asyncio.run(asyncio.open_connection(host, port))
    def datagram(self, host):
        with socket.socket(type=socket.SOCK_DGRAM) as plain:
            plain.sendto(b"x", (host, 9))
    def local(self, path):
        with socket.socket(socket.AF_UNIX) as plain:
            plain.connect(path)
    def spawn(self):
        subprocess.run(["true"])
    def system(self):
        os.system("true")
    def fork(self):
        os.fork()
    def environment(self):
        return sorted(os.environ)
"""


@pytest.fixture
def factory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "probe_of_guard.py").write_text(PROBE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SERVICE_SECRET", "x")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    return "probe_of_guard:Probe"


@pytest.fixture
def guarded(factory: str) -> Iterator[GuardedChild]:
    with GuardedChild(factory, [], greeting="hello ") as child:
        yield child


@pytest.fixture
def server() -> Iterator[str]:
    """A server on loopback that redirects to itself under another name."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302 if self.path == "/away" else 200)
            if self.path == "/away":
                self.send_header("Location", "http://[::1]:9/")
            self.end_headers()
            self.wfile.write(b"here")

        def log_message(self, *_: Any) -> None:
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()
    yield f"127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


def test_methods_answer_with_values_bytes_and_failures(guarded: GuardedChild) -> None:
    assert guarded.call("greet", name="you", timeout=10) == "hello you"
    for size in (0, 1, 3_000_000):
        assert guarded.call("data", size=size, timeout=10) == b"x" * size
    with pytest.raises(BadGateway, match=r"^it broke$"):
        guarded.call("fail", timeout=10)
    with pytest.raises(BadGateway, match="not JSON serializable"):
        guarded.call("odd", timeout=10)
    assert guarded.call("say", timeout=10) == "said"


def test_connections_that_are_not_public_are_refused_however_they_are_made(guarded: GuardedChild, server: str) -> None:
    port = int(server.rpartition(":")[2])
    for method in ("connect", "low_level", "loop"):
        with pytest.raises(BadGateway, match="not on the public internet"):
            guarded.call(method, host="127.0.0.1", port=port, timeout=10)
    for host in ("2130706433", "0x7f.1", "localhost"):
        with pytest.raises(BadGateway, match="by name"):
            guarded.call("connect", host=host, port=port, timeout=10)
    for host in ("127.0.0.1", "localhost", "0x7f000001"):
        with pytest.raises(BadGateway, match="not on the public internet"):
            guarded.call("fetch", url=f"http://{host}:{port}/", timeout=10)
    with pytest.raises(BadGateway, match="not on the public internet"):
        guarded.call("datagram", host="127.0.0.1", timeout=10)
    with pytest.raises(BadGateway, match="over IP"):
        guarded.call("local", path="/run/none.sock", timeout=10)


def test_what_is_let_through_and_what_its_redirects_lead_to(factory: str, server: str) -> None:
    with GuardedChild(factory, LOOPBACK) as child:
        assert child.call("fetch", url=f"http://{server}/", timeout=10) == "here"
        with pytest.raises(BadGateway, match="not on the public internet"):
            child.call("fetch", url=f"http://{server}/away", timeout=10)


@pytest.mark.parametrize("method", ["spawn", "system", "fork"])
def test_no_other_process_is_started(guarded: GuardedChild, method: str) -> None:
    with pytest.raises(BadGateway, match="not allowed here"):
        guarded.call(method, timeout=10)


def test_the_child_knows_neither_secrets_nor_proxies(guarded: GuardedChild) -> None:
    names = guarded.call("environment", timeout=10)
    assert "PATH" in names and not [n for n in names if n.startswith("SERVICE_") or n.lower().endswith("_proxy")]


def test_a_child_that_does_not_answer_is_ended(guarded: GuardedChild) -> None:
    started = time.monotonic()
    with pytest.raises(BadGateway, match="No answer in time"):
        guarded.call("sleep", timeout=0.3)
    assert time.monotonic() - started < 5
    with pytest.raises(BadGateway, match="ended"):
        guarded.call("greet", name="you", timeout=10)


def test_a_child_that_ends(guarded: GuardedChild) -> None:
    with pytest.raises(BadGateway, match="ended"):
        guarded.call("end", timeout=10)


def test_a_client_that_cannot_be_made(factory: str) -> None:
    with pytest.raises(BadGateway, match="nowhere"):
        GuardedChild("nowhere:Probe", [])
