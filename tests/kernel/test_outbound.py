"""Which addresses are public, and requests that go to checked addresses only."""

import http.server
import ipaddress
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel.errors import BadGateway
from snaglist.kernel.origin import parse_networks
from snaglist.plugins.system.outbound.addresses import Refused, check_address, is_public
from snaglist.plugins.system.outbound.guard import Guard

LOOPBACK = parse_networks(["127.0.0.0/8"])
NOT_PUBLIC = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "2001:db8::1", "2001:10::1",
    "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "3fff::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1",
    "fec0::1", "ff02::1", "4000::1",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "198.17.255.255", "198.20.0.0",
    "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_an_address_that_is_not_public(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))
    with pytest.raises(Refused, match="not on the public internet"):
        check_address(text, [])


@pytest.mark.parametrize("text", PUBLIC)
def test_an_address_that_is_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))
    check_address(text, [])


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_as_public_as_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for wrapped in ((0xFFFF << 32) + number, (0x64FF9B << 96) + number, (0x2002 << 112) + (number << 80) + 1):
        assert is_public(ipaddress.IPv6Address(wrapped)) == is_public(address)


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_what_python_calls_private_is_never_public(address: Any) -> None:
    if address.is_private or address.is_loopback or address.is_link_local or address.is_multicast:
        inner = getattr(address, "ipv4_mapped", None)
        assert not is_public(address) or (inner is not None and is_public(inner))


def test_networks_that_are_let_through() -> None:
    networks = parse_networks(["10.0.0.0/8", "fd00::/8"])
    for text in ("10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "fd00::7"):
        check_address(text, networks)
    for text in ("11.0.0.1", "8.8.8.8"):
        check_address(text, networks)
    for text in ("127.0.0.1", "192.168.1.1", "::ffff:127.0.0.1", "fc00::1"):
        with pytest.raises(Refused):
            check_address(text, networks)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.1", "[::1]", "localhost",
     "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.0.0.1.", "１２７.0.0.1"],
)  # fmt: skip
def test_105_every_spelling_of_an_own_address_is_refused(host: str) -> None:
    """Whatever the system's resolver makes of it decides."""
    with pytest.raises(Refused):
        Guard([]).check_url(f"https://{host}/")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://8.8.8.8/", "https://"),
        ("ftp://8.8.8.8/", "begins with https://"),
        ("https://user@8.8.8.8/", "user name"),
        ("https://user:password@8.8.8.8/", "user name"),
        ("https:///path", "begins with"),
        ("8.8.8.8", "begins with"),
        ("https://8.8.8.8:99999/", "URL like"),
        ("https://[::1/", "URL like"),
        ("https://8.8.8.8/a b", "characters"),
        ("https://8.8.8.8\\@10.0.0.1/", "characters"),
        ("https://8.8.8.8/\r\nHost: x", "characters"),
        ("https://8.8.8.8/" + "a" * 2000, "characters"),
        ("https://nowhere.invalid/", "cannot be resolved"),
    ],
)
def test_a_url_that_may_not_be_asked(url: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        Guard([]).check_url(url)


def test_every_address_of_a_name_must_be_public(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, 443)) for a in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: answers)
    with pytest.raises(Refused):
        Guard([]).check_url("https://two-faced.example/")
    assert Guard(parse_networks(["10.0.0.0/8"])).check_url("https://two-faced.example/").addresses == (
        "8.8.8.8",
        "10.0.0.1",
    )


# -- requests to a real server


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        self.server.seen.append((self.path, self.headers["Host"], self.headers.get("X-Mine"), self.rfile.read(size)))  # type: ignore[attr-defined]
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/large":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 3_000_000)
        elif self.path == "/drip":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            for _ in range(50):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.1)
        elif self.path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"x")
        else:
            self.send_response(201)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"done")
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:  # clients that hang up are part of the tests
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start a server on loopback, with TLS when it gets a certificate."""
    started: list[Server] = []

    def start(certificate: Path | None = None) -> Server:
        server = Server(("127.0.0.1", 0), Handler)
        server.seen = []  # type: ignore[attr-defined]
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def test_a_request_and_its_answer(serve: Callable[..., Server]) -> None:
    server = serve()
    url = f"http://127.0.0.1:{server.server_port}"
    answer = Guard(LOOPBACK).request("POST", f"{url}/hook?a=1", headers={"X-Mine": "1"}, body=b"{}")
    assert (answer.status, answer.headers["content-length"], answer.body) == (201, "4", b"done")
    assert server.seen == [("/hook?a=1", f"127.0.0.1:{server.server_port}", "1", b"{}")]  # type: ignore[attr-defined]


def test_a_host_that_is_not_let_through_is_not_connected_to(serve: Callable[..., Server]) -> None:
    server = serve()
    with pytest.raises(BadGateway, match="not on the public internet"):
        Guard([]).request("POST", f"https://127.0.0.1:{server.server_port}/")
    assert server.seen == []  # type: ignore[attr-defined]


def test_redirects_are_answers(serve: Callable[..., Server]) -> None:
    server = serve()
    answer = Guard(LOOPBACK).request("POST", f"http://127.0.0.1:{server.server_port}/redirect")
    assert answer.status == 302
    assert [path for path, *_ in server.seen] == ["/redirect"]  # type: ignore[attr-defined]


def test_answers_are_bounded(serve: Callable[..., Server]) -> None:
    answer = Guard(LOOPBACK).request("POST", f"http://127.0.0.1:{serve().server_port}/large")
    assert len(answer.body) == 1024 * 1024


def test_a_server_that_drips_is_stopped_by_the_clock(serve: Callable[..., Server]) -> None:
    started = time.monotonic()
    with pytest.raises(BadGateway, match="no answer in time"):
        Guard(LOOPBACK).request("POST", f"http://127.0.0.1:{serve().server_port}/drip", timeout=0.5)
    assert time.monotonic() - started < 3


def test_an_answer_that_ends_early_is_no_answer(serve: Callable[..., Server]) -> None:
    with pytest.raises(BadGateway):
        Guard(LOOPBACK).request("POST", f"http://127.0.0.1:{serve().server_port}/cut")


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(BadGateway, match=rf"Could not connect to 127\.0\.0\.1:{port}: connection refused"):
        Guard(LOOPBACK).request("POST", f"http://127.0.0.1:{port}/")


def test_the_name_is_resolved_once_and_is_the_one_for_tls(
    serve: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: what the name means a moment later does not matter."""
    certificate = tmp_path / "certificate.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    command += ["-subj", "/CN=hooks.example", "-addext", "subjectAltName=DNS:hooks.example"]
    subprocess.run([*command, "-keyout", certificate, "-out", tmp_path / "c"], check=True, capture_output=True)
    certificate.write_text(certificate.read_text() + (tmp_path / "c").read_text())
    server = serve(certificate)
    asked: list[str] = []

    def resolve(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if host != "127.0.0.1":
            asked.append(host)
        address = "127.0.0.1" if len(asked) <= 1 else "192.0.2.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    url = f"https://hooks.example:{server.server_port}/"
    with pytest.raises(BadGateway, match="certificate is not valid"):
        Guard(LOOPBACK).request("POST", url)
    asked.clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert Guard(LOOPBACK).request("POST", url).status == 201
    assert asked == ["hooks.example"]
    assert server.seen[-1][1] == f"hooks.example:{server.server_port}"  # type: ignore[attr-defined]
