"""clients/python where events cannot arrive: it says so once, keeps the key to itself, and holds nobody up."""

import logging
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "clients" / "python"
sys.path.insert(0, str(FOLDER))
from snaglist_client import SnaglistHandler, saying, sending  # type: ignore[import-not-found]  # noqa: E402


class Server:
    """A socket that answers each connection with bytes, or hangs; `requests` holds what came."""

    def __init__(self, answer: bytes | None) -> None:
        self.requests: list[bytes] = []
        self.answer = answer
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/?api=ingest"
        self.held: list[socket.socket] = []
        self.closed = False
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        try:
            while True:
                connection, _ = self.socket.accept()
                connection.settimeout(10)
                self.held.append(connection)
                if self.answer is not None:
                    self.requests.append(_request(connection))
                    connection.sendall(self.answer)
                    connection.close()
        except OSError:
            if not self.closed:  # otherwise the test ended, perhaps in the middle of a request
                raise

    def close(self) -> None:
        self.closed = True
        for one in (self.socket, *self.held):
            one.close()


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += _more(connection)
    return head + b"\r\n\r\n" + body


def _more(connection: socket.socket) -> bytes:
    more = connection.recv(65536)
    if not more:
        raise ConnectionResetError("it hung up in the middle of a request")
    return more


def status(code: int, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {code} X", "Content-Length: 0", "Connection: close", *headers]
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes | None], Server]]:
    monkeypatch.setattr(sending, "FIRST_PAUSE", 0.05)
    monkeypatch.setattr(sending, "GATHER_SECONDS", 0.01)
    made: list[Server] = []

    def make(answer: bytes | None) -> Server:
        made.append(Server(answer))
        return made[-1]

    yield make
    for one in made:
        one.close()


@contextmanager
def logging_to(url: str, **options: Any) -> Iterator[tuple[logging.Logger, Any]]:
    log, handler = logging.Logger("shop"), SnaglistHandler(url, "svk_secret", **options)
    log.addHandler(handler)
    try:
        yield log, handler
    finally:
        handler._sender._wait(0)  # what waits is given up at once
        handler._sender.close(0.0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (401, "refuses the key or the application (401): see the page Sending events"),
        (403, "refuses the key or the application (403)"),
        (404, "takes no events (404): is it the address on the page Sending events, is the plugin on?"),
        (413, "takes no request of this size (413)"),
        (422, "refuses events (422)"),
    ],
)
def test_a_refusal_is_said_once(server: Any, capsys: pytest.CaptureFixture[str], code: int, said: str) -> None:
    receiver = server(status(code))
    with logging_to(receiver.url) as (log, handler):
        for _ in range(3):
            log.error("boom")
            assert handler.flush(10) is None
        assert handler.dropped == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line and f"http://127.0.0.1:{receiver.port}/" in line and "dropped" in line
    assert "svk_secret" not in line and "api=" not in line
    assert len(receiver.requests) == 3


def test_each_reason_is_said(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    receiver = server(status(401))
    with logging_to(receiver.url) as (log, handler):
        for code in (401, 404, 401, 302, 404):
            receiver.answer = status(code)
            log.error("boom")
            handler.flush(10)
    assert re.findall(r"\((\d+)\)", capsys.readouterr().err) == ["401", "404", "302"]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:{port}/elsewhere?key=1", "/elsewhere", "http://[bad/", "\x1b[31m"]
)
def test_a_redirect_is_not_followed(server: Any, capsys: pytest.CaptureFixture[str], code: int, target: str) -> None:
    """The key would go to another host, and as a GET the events would be lost with a 200."""
    other = server(status(200))
    receiver = server(status(code, f"Location: {target.format(port=other.port)}"))
    with logging_to(receiver.url) as (log, handler):
        log.error("boom")
        handler.flush(10)
        assert handler.dropped == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"({code}), which is not followed: give the final address" in line
    assert "key=1" not in line and "\x1b" not in line
    assert (other.requests, len(receiver.requests)) == ([], 1)


def test_an_unknown_host_is_said_once_and_events_wait(
    server: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def resolve(host: str, *_: Any, **__: Any) -> Any:
        tries.append(host)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with logging_to("http://logs.invalid/?api=ingest&token=1") as (log, handler):
        log.error("boom")
        handler.flush(1)
        assert len(tries) > 1 and handler.dropped == 0
        (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("snaglist_client: http://logs.invalid/ cannot be reached: its host name is not known")
    assert "token" not in line
    assert saying.shown("https://user:pass@logs.example.com/a?token=1#x") == "https://logs.example.com/a"
    assert saying.shown("http://[bad/") == "an address that is none"


def test_what_else_keeps_a_connection_from_being_made(capsys: pytest.CaptureFixture[str]) -> None:
    voice = saying.Voice("https://logs.example.com/")
    causes = (ConnectionRefusedError(111, "Connection refused"), TimeoutError(), ssl.SSLError(1, "wrong version"))
    for error in (*causes, *causes, ValueError()):
        voice.unreachable(error)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("reached: ")[1].split(":")[0].split(";")[0] for line in lines] == [
        "Connection refused", "no answer in time", "no trusted connection",
    ]  # fmt: skip


def test_a_full_queue_is_said_once_and_counted(server: Any, capsys: pytest.CaptureFixture[str]) -> None:
    receiver = server(status(503))
    with logging_to(receiver.url, queue=10) as (log, handler):
        for n in range(50):
            log.error("event %s", n)
        assert handler.dropped >= 39
        for _ in range(3):
            handler.flush(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert sum("is full: events are dropped, and counted" in line for line in lines) == 1
    assert sum("could not be sent" in line for line in lines) == 1
    assert handler.dropped == 50


def test_the_queue_is_bounded_in_characters_too(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "QUEUE_BYTES", 10_000)
    with logging_to(server(None).url) as (log, handler):
        for _ in range(20):
            log.error("x" * 2_000)
        assert handler.dropped >= 14


def test_nothing_is_said_where_logging_is_silent(
    server: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    with logging_to(server(status(401)).url) as (log, handler):
        log.error("boom")
        handler.flush(10)
        assert handler.dropped == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("after", ["9" * 400, "²", "-1", "soon", "99999999"])
def test_no_answer_ends_the_thread(server: Any, after: str) -> None:
    receiver = server(status(503, f"Retry-After: {after}"))
    with logging_to(receiver.url) as (log, handler):
        log.error("boom")
        handler.flush(0.5)
        assert handler._sender._thread.is_alive()


@pytest.mark.parametrize("key", ["svk_ä", "svk\nX-Other: 1", "svk\x00"])
def test_a_key_that_is_none(key: str) -> None:
    with pytest.raises(ValueError, match="key: must be visible ASCII characters"):
        SnaglistHandler("http://127.0.0.1:9/", key)
    SnaglistHandler("http://127.0.0.1:9/", "svk_from_a_file\n").close()


def test_logging_goes_on_while_the_end_waits(server: Any) -> None:
    """`logging.shutdown` holds the handler's lock while it flushes and closes."""
    with logging_to(server(None).url) as (log, handler):
        log.error("hangs")
        handler.acquire()
        try:
            worker = threading.Thread(target=lambda: log.error("second"))
            worker.start()
            worker.join(5)
            assert not worker.is_alive()
        finally:
            handler.release()


# -- programs that end

PROGRAM = """
import logging, sys, time
sys.path.insert(0, {folder!r})
from snaglist_client import SnaglistHandler
for url in {urls!r}:
    logging.getLogger().addHandler(SnaglistHandler(url, "svk_secret", level=logging.ERROR))
logging.error("boom")
{more}
print(time.monotonic())
"""


def ended(*urls: str, more: str = "") -> tuple[float, str]:
    """Run a program that logs and ends; returns the seconds that its end took, and its stderr."""
    program = PROGRAM.format(folder=str(FOLDER), urls=urls, more=more)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return time.monotonic() - float(done.stdout), done.stderr


@pytest.mark.whole
@pytest.mark.parametrize("handlers", [1, 3])
def test_the_end_waits_five_seconds_in_all(server: Any, handlers: int) -> None:
    """Programs that end at the same time: they wait, and need no processor meanwhile."""
    away, hanging, unavailable = server(b""), server(None), server(status(503))
    away.close()
    with ThreadPoolExecutor() as pool:
        waits = [pool.submit(ended, *[one.url] * handlers) for one in (away, hanging, unavailable)]
        for kind, wait in zip(("away", "hanging", "unavailable"), waits, strict=True):
            waited, err = wait.result()
            assert 4 < waited < 8, f"{kind}: 5 seconds, and what the end of a program takes on a busy machine"
            assert err.count("1 events could not be sent to") == handlers, kind


@pytest.mark.whole
def test_the_end_does_not_wait_where_all_is_sent_or_refused(server: Any) -> None:
    for code in (202, 401):
        waited, err = ended(server(status(code)).url)
        assert waited < 4
        assert err.count("\n") == (1 if code == 401 else 0)


@pytest.mark.whole
def test_shutdown_waits_five_seconds_in_all(server: Any) -> None:
    """It flushes, then closes; a program that calls it does not wait again at its end."""
    more = "begun = time.monotonic(); logging.shutdown(); print(time.monotonic() - begun, file=sys.stderr)"
    waited, err = ended(server(None).url, more=more)
    assert 4 < float(err.splitlines()[-1]) < 8
    assert waited < 4


@pytest.mark.whole
def test_what_waited_for_a_pause_is_tried_once_more_at_the_end(server: Any) -> None:
    """The server is back: the pause that its failure asked for is not waited for."""
    receiver = server(status(503, "Retry-After: 3000"))
    more = "time.sleep(2)"
    program = PROGRAM.format(folder=str(FOLDER), urls=(receiver.url,), more=more)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while not receiver.requests and time.monotonic() < until:
            time.sleep(0.05)
        receiver.answer = status(202)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert len(receiver.requests) == 2


@pytest.mark.whole
def test_a_log_call_at_the_very_end_is_counted(server: Any) -> None:
    """No thread can be started there any more."""
    more = "import atexit; atexit.register(lambda: logging.error('late'))"
    _, err = ended(server(status(202)).url, more=more)
    assert "Traceback" not in err
