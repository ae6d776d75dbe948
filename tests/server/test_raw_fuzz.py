"""Whatever stands in a request, there is an answer, and no failure in the log."""

import re
import signal
import socket
from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PIECES = [
    b"GET ", b"POST ", b"/", b"/?api=tags", b"/?api=health", b"http://", b"HTTP://x", b"[", b"]", b"a]b", b"//", b"?",
    b"#", b"%", b"%zz", b"%00", b"\xff", b"\0", b" HTTP/1.1", b" HTTP/1.0", b"\r\n", b"\n", b"\r", b" ", b"\t", b":",
    b"*", b"@", b"::1", b"[::1]:80", b"\xe2\x84\x80", b"javascript:", b"1" * 20, b"9" * 5000, b"-1", b"+5", b"\x85",
    b"chunked", b"chunked, chunked", b"gzip", b"f" * 18, b";a=b", b"Host: x", b"Host: localhost", b"X:",
    b"Content-Length: ", b"Transfer-Encoding: ", b"Expect: 100-continue", b"Connection: close", b"Origin: http://[",
    b"X-Forwarded-For: [", b"Authorization: Bearer \xff", b"Accept-Encoding: gzip;q=a", b"If-None-Match: \xff",
    b"Content-Type: application/json;charset=\xff", b"Content-Encoding: gzip", b"Cookie: \xff=;",
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES) | st.binary(max_size=6), max_size=5).map(b"".join)
targets = st.tuples(
    st.sampled_from([b"GET ", b"POST ", b"HEAD ", b"OPTIONS ", b""]),
    pieces,
    st.sampled_from([b" HTTP/1.1", b" HTTP/1.0", b""]),
).map(lambda parts: b"".join(parts) + b"\r\nHost: localhost\r\n\r\n")
headers = st.tuples(
    st.sampled_from([b"GET /?api=tags", b"POST /?api=connectors", b"GET /", b"PUT /?api=health"]),
    st.lists(pieces, min_size=1, max_size=3).map(b"\r\n".join),
).map(lambda parts: parts[0] + b" HTTP/1.1\r\nHost: localhost\r\n" + parts[1] + b"\r\n\r\n")
IN_WAIT = re.compile(rb"content-length: *[+-]?[0-9]|transfer-encoding", re.IGNORECASE)


def answer(server: Any, data: bytes) -> bytes:
    """Send bytes, then nothing more; returns all that comes."""
    received = b""
    with server.connect() as connection:
        with suppress(ConnectionError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        with suppress(ConnectionError):
            while part := connection.recv(65536):
                received += part
    return received


def test_every_request_has_an_answer(serve: Any) -> None:
    server = serve("--no-jobs", SERVICE_LOG_LEVEL="info")

    @settings(max_examples=400, suppress_health_check=[*HealthCheck])
    @given(targets | headers)
    def ask(data: bytes) -> None:
        received = answer(server, data)
        if not received:  # the body that was announced did not come
            assert IN_WAIT.search(data) or not data.strip(), data
            return
        found = re.match(rb"HTTP/1\.[01] ([1-5]\d\d) ", received)
        assert found and (int(found[1]) < 500 or int(found[1]) == 501), (data, received[:200])
        if int(found[1]) >= 400 and not data.startswith(b"HEAD "):
            assert b'{"error":' in received, (data, received)

    ask()
    server.process.send_signal(signal.SIGTERM)
    _, stderr = server.process.communicate(timeout=30)
    assert "Traceback" not in stderr and "uncaptured" not in stderr and " ERROR " not in stderr, stderr[:3000]
