"""Hosts, origins and proxies."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel.errors import BadRequest, Forbidden
from snaglist.kernel.origin import (
    Host,
    Hosts,
    Peer,
    is_loopback,
    is_url,
    parse_host,
    parse_networks,
    read_peer,
    scheme_of,
)

PROXY = parse_networks(["10.0.0.0/8", "fd00::/8"])


def peer(host: str, forwarded: str = "") -> Peer:
    found = parse_host(host)
    assert found is not None
    return Peer(found, parse_host(forwarded), "http", "127.0.0.1")


def passes(host: str, origin: str | None, *, url: str = "", forwarded: str = "") -> bool:
    hosts = Hosts(["*"], url, open_loopback=False, bound="")
    try:
        hosts.check_origin(peer(host, forwarded), origin)
    except Forbidden:
        return False
    return True


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("logs.example", "https://LOGS.example"), ("logs.example", "https://logs.example:443"),
        ("logs.example", "http://logs.example"), ("logs.example:443", "https://logs.example"),
        ("logs.example:80", "http://logs.example"), ("LOGS.example:8080", "http://logs.example:8080"),
        ("[::1]:8787", "http://[::1]:8787"), ("logs.example.", "https://logs.example"),
        ("logs.example, logs.example", "https://logs.example"), ("logs.example", ""), ("logs.example", None),
    ],
)  # fmt: skip
def test_origins_that_pass(host: str, origin: str | None) -> None:
    assert passes(host, origin)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("logs.example:8080", "https://logs.example"), ("logs.example", "https://logs.example:8443"),
        ("logs.example:443", "http://logs.example"), ("logs.example", "https://logs.example.evil.test"),
        ("logs.example", "https://evil-logs.example"), ("logs.example", "https://logs.example@evil.test"),
        ("logs.example", "https://evil.test/?logs.example"), ("logs.example", "https://evil.test#logs.example"),
        ("logs.example", "https://logs.example%2eevil.test"), ("logs.example", "https://logs.example\\@evil.test"),
        ("logs.example", "null"), ("logs.example", "javascript:0"), ("logs.example", "ftp://logs.example"),
        ("logs.example", "logs.example"), ("logs.example", "//logs.example"), ("logs.example", "https://"),
        ("logs.example", "https://logs.example/"), ("logs.example", " https://logs.example"),
        ("logs.example", "https://logs.example, https://logs.example"), ("logs.example", "https://logs.example:"),
        ("logs.example", "https://logs.example,logs.example"), ("logs.example", "https://logs.example:99999"),
        ("[::1]", "http://[::1"), ("logs.example", "https://user@logs.example"),
    ],
)  # fmt: skip
def test_origins_that_are_refused(host: str, origin: str) -> None:
    assert not passes(host, origin)


def test_origin_of_the_configured_url_and_of_a_proxy() -> None:
    assert passes("backend:8787", "https://logs.example", url="https://logs.example/mount")
    assert not passes("backend:8787", "https://logs.example:8443", url="https://logs.example")
    assert passes("backend:8787", "https://logs.example", forwarded="logs.example")


@given(st.text(st.characters(codec="latin-1"), max_size=60))
def test_any_origin_is_checked_without_an_exception(text: str) -> None:
    assert passes("logs.example", text) in (True, False)
    assert not passes("logs.example", f"https://logs.example{text}.test") or not text.strip()


@given(st.text(st.characters(codec="latin-1"), max_size=60))
def test_any_host_header_is_a_host_or_none(text: str) -> None:
    found = parse_host(text)
    assert found is None or (found.name == found.name.lower() and found.name)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "a b",
        "a,b",
        "a:0",
        "a:65536",
        "a:",
        ":80",
        "a:80:80",
        "a/b",
        "user@a",
        "[::1",
        "é",
        "a%2e",
        "-a",
        "?a",
    ],
)
def test_headers_that_name_no_host(header: str) -> None:
    assert parse_host(header) is None


def test_hosts_are_compared_in_lower_case_and_without_a_final_dot() -> None:
    assert parse_host("Logs.Example.:8080") == Host("logs.example", 8080)
    assert parse_host("logs.example, LOGS.example") == Host("logs.example", None)


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("localhost:8787", True), ("app.localhost", True), ("127.0.0.1", True), ("127.1.2.3", True), ("[::1]", True),
        ("logs.example", True), ("evil.example", False), ("localhost.evil.example", False), ("10.0.0.1", False),
    ],
)  # fmt: skip
def test_open_loopback_instance_serves_its_own_names(host: str, served: bool) -> None:
    hosts = Hosts(["auto"], "https://logs.example", open_loopback=True, bound="127.0.0.1")
    assert _served(hosts, peer(host)) == served


def test_allowed_hosts() -> None:
    listed = Hosts(["Logs.example", "10.0.0.1"], "", open_loopback=True, bound="127.0.0.1")
    assert _served(listed, peer("logs.example:8443"))
    assert _served(listed, peer("10.0.0.1"))
    assert not _served(listed, peer("127.0.0.1"))
    assert _served(Hosts(["*"], "", open_loopback=True, bound=""), peer("evil.example"))
    assert _served(Hosts(["a", "*"], "", open_loopback=True, bound=""), peer("evil.example"))
    assert _served(Hosts(["auto"], "", open_loopback=False, bound="0.0.0.0"), peer("evil.example"))


def test_forwarded_host_must_be_allowed_too() -> None:
    hosts = Hosts(["logs.example"], "", open_loopback=False, bound="")
    assert not _served(hosts, peer("logs.example", "evil.example"))


def _served(hosts: Hosts, asked: Peer) -> bool:
    try:
        hosts.check_host(asked)
    except Forbidden:
        return False
    return True


def request(**variables: str) -> dict[str, Any]:
    return {"HTTP_HOST": "backend", "wsgi.url_scheme": "http", "REMOTE_ADDR": "10.0.0.9"} | variables


def test_forwarded_headers_count_from_trusted_proxies_only() -> None:
    headers = {"HTTP_X_FORWARDED_FOR": "6.6.6.6, 203.0.113.7, 10.1.1.1", "HTTP_X_FORWARDED_HOST": "logs.example"}
    headers["HTTP_X_FORWARDED_PROTO"] = "https"
    trusted = read_peer(request(**headers), PROXY)
    assert (trusted.address, trusted.scheme, trusted.shown.name) == ("203.0.113.7", "https", "logs.example")
    stranger = read_peer(request(**headers, REMOTE_ADDR="203.0.113.9"), PROXY)
    assert (stranger.address, stranger.scheme, stranger.shown.name) == ("203.0.113.9", "http", "backend")
    mapped = read_peer(request(**headers, REMOTE_ADDR="::ffff:10.0.0.9"), PROXY)
    assert mapped.address == "203.0.113.7"
    assert scheme_of(request(HTTP_X_FORWARDED_PROTO="gopher"), PROXY) == "http"


def test_request_without_a_host() -> None:
    with pytest.raises(BadRequest):
        read_peer({"SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "::1"}, [])
    with pytest.raises(BadRequest):
        read_peer(request(HTTP_HOST="a, b"), [])
    old = {"SERVER_PROTOCOL": "HTTP/1.0", "SERVER_NAME": "box", "SERVER_PORT": "80", "REMOTE_ADDR": "::1"}
    assert read_peer(old, []).host == Host("box", 80)


def test_loopback_names() -> None:
    assert all(map(is_loopback, ("localhost", "a.localhost", "127.9.9.9", "::1", "[::1]")))
    assert not any(map(is_loopback, ("localhost.example", "0.0.0.0", "::", "128.0.0.1", "")))


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("http://logs.example", True), ("HTTPS://logs.example:8443/mount?a=b#c", True), ("https://[::1]/", True),
        ("https://", False), ("logs.example", False), ("ftp://logs.example", False), ("", False),
        ("https://user@logs.example", False), ("https://logs.example:0", False), ("https://logs.example:65536", False),
        ("https://logs.example\\mount", False), ("https://a,b", False), ("https://logs.example mount", False),
    ],
)  # fmt: skip
def test_urls_of_a_host(text: str, valid: bool) -> None:
    assert is_url(text) is valid


@pytest.mark.parametrize(("header", "port"), [("a", None), ("a:1", 1), ("a:80", 80), ("a:65535", 65_535)])
def test_ports(header: str, port: int | None) -> None:
    assert parse_host(header) == Host("a", port)
    assert str(parse_host(header)) == header


def test_a_network_may_be_given_by_any_of_its_addresses() -> None:
    assert [str(network) for network in parse_networks(["10.1.2.3/8", "::1", "192.0.2.7"])] == [
        "10.0.0.0/8", "::1/128", "192.0.2.7/32",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"10\.0\.0"):
        parse_networks(["10.0.0"])


def test_a_chain_of_proxies_alone_is_its_own_client() -> None:
    assert read_peer(request(HTTP_X_FORWARDED_FOR="10.1.1.1, 10.1.1.2"), PROXY).address == "10.0.0.9"
    assert read_peer(request(HTTP_X_FORWARDED_FOR=" , "), PROXY).address == "10.0.0.9"
    assert read_peer(request(HTTP_X_FORWARDED_FOR="no address, 10.1.1.1"), PROXY).address == "no address"
    nameless = {name: value for name, value in request().items() if name != "REMOTE_ADDR"}
    assert (read_peer(nameless, PROXY).address, read_peer(nameless, PROXY).scheme) == ("unknown", "http")


def test_the_scheme_is_that_of_the_connection_unless_a_proxy_tells_another() -> None:
    direct = request(**{"wsgi.url_scheme": "https"})
    assert scheme_of(direct, PROXY) == "https"
    assert scheme_of({**direct, "HTTP_X_FORWARDED_PROTO": " HTTP "}, PROXY) == "http"
    assert scheme_of({**direct, "HTTP_X_FORWARDED_PROTO": "http"}, []) == "https"
    assert scheme_of({}, PROXY) == "http"


def test_a_machine_serves_the_name_it_is_bound_to() -> None:
    hosts = Hosts(["auto", "LOGS.example."], "", open_loopback=True, bound="Box.local")
    assert _served(hosts, peer("box.local:8787")) and _served(hosts, peer("logs.example"))
    assert not _served(Hosts(["logs.example"], "", open_loopback=True, bound="box.local"), peer("box.local"))
    assert not _served(Hosts(["logs.example"], "", open_loopback=False, bound=""), peer("localhost"))
    assert _served(Hosts(["::2"], "", open_loopback=True, bound=""), peer("[::2]:80"))
