"""What arrives on the wire: the server's own refusals are the envelope too."""

from typing import Any

import pytest

HEAD = b" HTTP/1.1\r\nHost: localhost\r\n"
BIG = 40 * 1024 * 1024


def get(url: bytes, *headers: bytes) -> bytes:
    return b"GET " + url + HEAD + b"".join(header + b"\r\n" for header in headers) + b"\r\n"


def post(*headers: bytes, body: bytes = b"") -> bytes:
    return b"POST /?api=tags" + HEAD + b"".join(header + b"\r\n" for header in headers) + b"\r\n" + body


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (get(b"/?api=tags&q=" + b"x" * 17_000), 414), (get(b"/?api=tags&q=" + b"x" * 100_000), 414),
        (get(b"/?api=tags&q=" + b"x" * 2_000_000), 414), (get(b"/" + b"x" * 200_000), 414),
        (get(b"/?api=tags", b"X-Long: " + b"x" * 70_000), 431), (get(b"/?api=tags", b"X-Long: " + b"x" * 200_000), 431),
        (get(b"/?api=tags", *(b"X-%d: 1" % number for number in range(20_000))), 431),
        (b"GET /?api=tags HTTP/1.1\r\n\r\n", 400), (b"GET /?api=tags HTTP/1.1\r\nHost:\r\n\r\n", 400),
        (b"GET /?api=tags HTTP/1.1\r\nHost: localhost\r\nHost: other\r\n\r\n", 400),
        (b"GET /?api=tags HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
        (b"GARBAGE\r\n\r\n", 400), (b"GET\r\n\r\n", 400), (b"GET /?api=tags HTTP/9.x\r\nHost: localhost\r\n\r\n", 400),
        (b"get /?api=tags HTTP/1.1\r\nHost: localhost\r\n\r\n", 400), (get(b"/?api=tags", b"no colon"), 400),
        (get(b"/?api=tags", b"Bad Name: x"), 400), (get(b"/?api=tags", b"X: a\nb"), 400),
        (post(b"Content-Length: abc"), 400), (post(b"Content-Length: -1"), 400), (post(b"Content-Length: 1, 1"), 400),
        (post(b"Content-Length: 1", b"Content-Length: 2", body=b"x"), 400), (post(b"Content-Length: \xb2"), 400),
        (post(b"Content-Length: " + b"9" * 30), 413), (post(b"Content-Length: %d" % (BIG * 10)), 413),
        (post(b"Transfer-Encoding: chunked", body=b"zz\r\nabc\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", b"Content-Type: application/json", body=b"2\r\n{}\r\n0\r\n\r\n"), 422),
        (get(b"/?api=nope"), 404), (get(b"/?api=tags&app=nope"), 422), (get(b"/\xff"), 400), (get(b"/?q=\xff"), 400),
        (get(b"/?api=tags%00"), 400), (get(b"http://localhost/?api=nope"), 404),
        (post(b"Origin: http://localhost", b"Origin: http://localhost"), 403),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 404), (b"CONNECT evil.example:443" + HEAD + b"\r\n", 404),
        (b"OPTIONS *" + HEAD + b"\r\n", 404), (b"FROB /?api=tags" + HEAD + b"\r\n", 405),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400), (get(b"/?api=tags", b"X: a\0b"), 400), (get(b"/?q=\0"), 400),
        (b"GET /?api=tags HTTP/1.1\r\nHost: a@localhost\r\n\r\n", 400),
        (b"GET /?api=tags HTTP/1.1\r\nHost: localhost/x\r\n\r\n", 400),
        (b"GET /?api=tags HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 403),
        (b"GET /?api=tags HTTP/1.0\r\nHost: evil.example\r\n\r\n", 403),
        (get(b"http://[bad/?x"), 400), (b"POST http://[/" + HEAD + b"\r\n", 400), (get(b"http://a]b/"), 400),
        (post(b"Content-Length: " + b"9" * 5000), 400), (post(b"Transfer-Encoding:"), 400),
        (post(b"Transfer-Encoding: chunked,chunked", body=b"0\r\n\r\n"), 400), (post(b"Transfer-Encoding: ,"), 400),
        (post(b"Transfer-Encoding: chunked", b"transfer-encoding: chunked", body=b"0\r\n\r\n"), 400),
        (post(b"Transfer-Encoding: chunked", body=b"%x\r\n" % 2**72), 413),
        (post(b"Transfer-Encoding: chunked", body=b"%x\r\n" % (BIG * 10)), 413),
        (post(b"Transfer-Encoding: chunked", body=b"1;" + b"x" * 100_000), 400),
        (post(b"Transfer-Encoding: chunked", body=b"0\r\nX: " + b"x" * 100_000), 400),
        (post(b"Expect: 100-continue", b"Content-Length: 1", b"Transfer-Encoding: chunked"), 400),
        (post(b"Expect: 100-continue", b"Content-Length: %d" % (BIG * 10)), 413),
        (get(b"/?api=nope", b"Expect: 100-continue"), 404),
        (get(b"/static/000000000000/dashboard/../../../cli.py"), 404),
        (get(b"/static/000000000000/dashboard/%2e%2e/%2e%2e/cli.py"), 404),
    ],
    ids=lambda value: value[:40].decode("latin-1") + "…" if isinstance(value, bytes) else str(value),
)  # fmt: skip
def test_every_refusal_is_the_envelope(shared: Any, request_bytes: bytes, status: int) -> None:
    answer = shared.send(request_bytes)
    assert answer.status == status, answer
    assert answer.error


def test_a_transfer_coding_that_is_not_known(shared: Any) -> None:
    answer = shared.send(post(b"Transfer-Encoding: gzip, chunked"))
    assert answer.status in (400, 501) and answer.error


@pytest.mark.parametrize("size", [1024 * 1024 + 1, 6 * 1024 * 1024])
def test_a_body_over_the_limit(shared: Any, size: int) -> None:
    """By its Content-Length, before and after it was sent, and when it comes in chunks."""
    body = b'{"name":"' + b"x" * (size - 11) + b'"}'
    plain = post(b"Content-Type: application/json", b"Content-Length: %d" % size, body=body)
    chunked = b"%x\r\n" % size + body + b"\r\n0\r\n\r\n"
    for request in (plain, post(b"Content-Type: application/json", b"Transfer-Encoding: chunked", body=chunked)):
        answer = shared.send(request)
        assert answer.status == 413 and answer.error


def test_a_body_of_exactly_the_limit_is_read(shared: Any) -> None:
    size = 1024 * 1024
    body = b'{"name":"' + b"x" * (size - 11) + b'"}'
    answer = shared.send(post(b"Content-Type: application/json", b"Content-Length: %d" % size, body=body))
    assert answer.status == 422 and answer.error.startswith("name: ")


def test_http_1_0_without_a_host(shared: Any) -> None:
    answer = shared.send(b"GET /?api=health HTTP/1.0\r\n\r\n")
    assert answer.status == 200


def test_head_has_the_headers_of_get_and_no_body(shared: Any) -> None:
    head, got = (shared.send(method + b" /?api=tags" + HEAD + b"\r\n") for method in (b"HEAD", b"GET"))
    assert (head.status, got.status) == (200, 200)
    different = {"date"}
    assert {k: v for k, v in head.headers.items() if k not in different} == {
        k: v for k, v in got.headers.items() if k not in different
    }


def test_the_server_header_shows_no_version(shared: Any) -> None:
    for request in (get(b"/?api=health"), b"GARBAGE\r\n\r\n"):
        assert shared.send(request).headers["server"] == "snaglist"


def test_gzip_on_the_wire(shared: Any) -> None:
    plain = shared.send(get(b"/?api=openapi"))
    packed = shared.send(get(b"/?api=openapi", b"Accept-Encoding: gzip"))
    assert "content-encoding" not in plain.headers and plain.headers["vary"] == "Accept-Encoding"
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < len(plain.body) / 3


def test_keep_alive_and_pipelining(shared: Any) -> None:
    """Two requests on one connection get two answers, in order."""
    with shared.connect() as connection:
        connection.sendall(get(b"/?api=nope") + get(b"/?api=health", b"Connection: close"))
        received = b""
        while part := connection.recv(65536):
            received += part
    assert received.count(b"HTTP/1.1 ") == 2
    assert received.index(b"404") < received.index(b'"status"')


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_a_smuggled_request_is_not_answered(shared: Any, version: bytes) -> None:
    """Where a body ends must not be a matter of opinion: a proxy in front may hold another one."""
    head = b"POST /?api=tags HTTP/" + version + b"\r\nHost: localhost\r\nConnection: keep-alive\r\n"
    length = b"Content-Length: 4\r\n" if version == b"1.1" else b""
    with shared.connect() as connection:
        connection.sendall(head + length + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get(b"/?api=health"))
        received = b""
        while part := connection.recv(65536):
            received += part
    assert received.count(b"HTTP/1.") == 1
    assert b" 400 Bad Request" in received.partition(b"\r\n")[0]


def test_a_client_that_stops_sending_is_answered(shared: Any) -> None:
    """The sending half of the connection may be closed before the answer comes."""
    assert shared.send(get(b"/?api=health"), half_close=True).status == 200


LARGE = 60 * 1024 * 1024


def test_only_clients_with_the_key_may_send_large_bodies(serve: Any) -> None:
    """Nobody has to receive 96 MiB of source map before it is known who sends them."""
    key = "a-key-of-the-tests-0123456789"
    server = serve("--no-jobs", SERVICE_TOKEN=key)
    switch = b'{"id":"releases","enabled":true}'
    headers = (b"X-Service-Token: " + key.encode(), b"Content-Type: application/json", b"Content-Length: 32")
    assert server.send(post(*headers, body=switch).replace(b"api=tags", b"api=plugins")).status == 200

    def head(*headers: bytes) -> bytes:
        lines = (b"Content-Type: application/json", b"Expect: 100-continue", *headers)
        return b"POST /?api=source-maps" + HEAD + b"".join(line + b"\r\n" for line in lines) + b"\r\n"

    length = b"Content-Length: %d" % LARGE
    for presented in ((), (b"X-Service-Token: wrong-key-0123456789",)):
        refused = server.send(head(length, *presented))  # answered although no byte of the body was sent
        assert refused.status == 401 and refused.error == "A valid key is required."
        assert refused.headers["www-authenticate"] == "Bearer"
        endless = (
            head(b"Transfer-Encoding: chunked", *presented).replace(b"Expect: 100-continue\r\n", b"")
            + b"1000000\r\n"
            + b" " * 0x1000000
        )
        assert server.send(endless).status == 401
    with server.connect() as connection:
        connection.sendall(head(length, b"X-Service-Token: " + key.encode()))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(b" " * LARGE)
        assert b" 400 " in connection.recv(100)  # read as a whole, and no JSON


def test_what_the_server_refuses_of_a_sender_is_told_as_by_the_endpoint(serve: Any) -> None:
    """Pages of every origin read the refusal, and the key of others is not asked for."""
    server = serve("--no-jobs", SERVICE_TOKEN="test-key-0123456789abcdef", SERVICE_PLUGINS="ingest")
    start = b"POST /?api=ingest" + HEAD + b"Origin: https://shop.example\r\n"
    large = b"Content-Length: 30000000\r\n\r\n"
    answer = server.send(start + large)
    assert (answer.status, answer.error) == (413, "The body is over the limit of 5242880 bytes.")
    assert "www-authenticate" not in answer.headers
    broken = server.send(start + b"Content-Length: abc\r\n\r\n")
    assert broken.status == 400 and broken.error
    for refused in (answer, broken):
        assert refused.headers["access-control-allow-origin"] == "*"
        assert refused.headers["cross-origin-resource-policy"] == "cross-origin"
    other = server.send((start + large).replace(b"ingest", b"tags"))
    assert (other.status, other.error) == (401, "A valid key is required.")
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    ("url", "status"),
    [
        (b"/?api=tags&q=" + b"x" * (16 * 1024 - 13), 200), (b"/?api=tags&q=" + b"x" * (16 * 1024 - 12), 414),
        (b"/" + b"a" * (16 * 1024 - 1), 404), (b"/" + b"a" * 16 * 1024, 414),
    ],
    ids=["most", "more", "most of a path", "more of a path"],
)  # fmt: skip
def test_the_length_of_a_url_is_what_is_sent(shared: Any, url: bytes, status: int) -> None:
    assert (len(url) > 16 * 1024) == (status == 414)
    assert shared.send(get(url)).status == status


def test_the_header_of_the_content_counts_too(shared: Any) -> None:
    assert shared.send(post(b"Content-Type: " + b"x" * 66_000, b"Content-Length: 0")).status == 431
