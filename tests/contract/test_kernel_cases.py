"""What people reported against tools of this kind: the cases of area `api` in tests/cases/api.jsonl, each a test."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.plugins import Plugins
from snaglist.testing import Answer, Client, running_service

KEY = "test-key-0123456789abcdef"
CASES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "cases" / "api.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture
def opened(fresh_data: Path, installed: Plugins) -> Iterator[Client]:
    with running_service(fresh_data, jobs=False, plugins=installed) as service:
        yield Client(service)


@pytest.fixture
def keyed(fresh_data: Path, installed: Plugins) -> Iterator[Client]:
    with running_service(fresh_data, jobs=False, plugins=installed, auth__token=KEY) as service:
        yield Client(service)


def send(client: Client, text: str) -> Answer:
    """Send a request as a case writes it."""
    head, _, body = text.partition("\n\n")
    first, *lines = head.splitlines()
    method, url, _ = first.split(" ")
    return client.request(method, url, body.encode(), dict(line.split(": ", 1) for line in lines))


def create(client: Client, host: str, origin: str, name: str) -> int:
    headers = {"Host": host, "Origin": origin, "Content-Type": "application/json"}
    return client.request("POST", "/?api=tags", json.dumps({"name": name}).encode(), headers).status


@pytest.mark.parametrize(
    "case", [case for case in CASES if "status" in case.get("checks", {})], ids=lambda case: case["id"]
)
def test_the_request_of_the_case(case: dict[str, Any], fresh_data: Path, installed: Plugins) -> None:
    """Its own input gives the status its checks name, in the envelope when it is a failure."""
    config = {"auth__token": KEY} if "a service key is configured" in case["expect"].split(".")[0] else {}
    with running_service(fresh_data, jobs=False, plugins=installed, **config) as service:
        answer = send(Client(service), case["input"])
    assert answer.status == case["checks"]["status"]
    if answer.status >= 400:
        assert answer.error


def test_ap_02_default_ports(opened: Client) -> None:
    pairs = [("logs.example", "https://logs.example:443"), ("logs.example:443", "https://logs.example")]
    assert [create(opened, *pair, name=f"n{n}") for n, pair in enumerate(pairs)] == [201, 201]
    pairs = [("logs.example", "https://logs.example:8443"), ("logs.example:8080", "https://logs.example")]
    pairs += [("logs.example:443", "http://logs.example")]
    assert [create(opened, *pair, name="never") for pair in pairs] == [403, 403, 403]


def test_ap_05_look_alike_origins(opened: Client) -> None:
    refused = [
        "https://logs.example.evil.test", "https://evil-logs.example", "https://logs.example@evil.test",
        "https://evil.test/?logs.example", "https://logs.example%2eevil.test", "javascript:0",
    ]  # fmt: skip
    assert {create(opened, "logs.example", origin, "never") for origin in refused} == {403}
    assert create(opened, "logs.example", "https://LOGS.EXAMPLE", "upper") == 201
    assert create(opened, "logs.example", "https://logs.example.", "final dot, by rule the same host") == 201


def test_ap_06_folded_duplicate_host(opened: Client) -> None:
    assert create(opened, "logs.example, logs.example", "https://logs.example", "twice the same") == 201
    assert create(opened, "logs.example, evil.example", "https://logs.example", "never") == 400
    empty = opened.request("GET", "/?api=tags", HTTP_HOST="")
    assert empty.status == 400 and empty.error


def test_ap_07_head(keyed: Client) -> None:
    evil = {"Origin": "https://evil.example"}
    assert keyed.request("HEAD", "/?api=tags", b"", evil).status == 401
    with_key = {**evil, "X-Service-Token": KEY}
    head, got = (keyed.request(method, "/?api=tags", b"", with_key) for method in ("HEAD", "GET"))
    assert (head.status, head.content, head.headers) == (200, b"", got.headers)
    assert keyed.request("HEAD", "/?api=health").status == 200
    options = keyed.request("OPTIONS", "/?api=tags", b"", with_key)
    assert options.status == 204 and "GET" in options.headers["allow"] and options.content == b""


@pytest.mark.parametrize(
    "query",
    ["api=health&api=tags", "api=tags&api=health", "API=tags", "api[]=tags", "api=tags%00health", "api=health%00",
     "api=health;api=tags", "api=health&%61pi=tags", "api=ingest&api=tags"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_ap_08_the_api_parameter_twice(keyed: Client, query: str, method: str) -> None:
    """What is routed is what was checked: no tag list without the key."""
    body = json.dumps({"api": "tags", "name": "x"}).encode() if method == "POST" else b""
    answer = keyed.request(method, f"/?{query}", body, {"Content-Type": "application/json"})
    assert answer.status == 401
    assert "data" not in answer.text
    signed = {"Content-Type": "application/json", "X-Service-Token": KEY}
    made = keyed.request("GET", "/?api=tags", b"", signed).json
    assert made == {"data": []}


IDS_REFUSED: list[Any] = [0, -1, 1.5, "1_0", " 1", "+1", "٣", "0x1", "", "1", None, True, [], {}]


@pytest.mark.parametrize("value", IDS_REFUSED, ids=repr)
def test_ap_09_ids_in_all_shapes(opened: Client, value: Any) -> None:
    made = opened.post("tags", {"name": "first"}).json
    assert made["id"] == 1
    assert opened.delete("tags", {"id": value}).status == 422
    assert len(opened.get("tags").json["data"]) == 1


def test_ap_09_numbers_at_the_edges(opened: Client) -> None:
    def raw(body: bytes) -> int:
        return opened.request("DELETE", "/?api=tags", body, {"Content-Type": "application/json"}).status

    assert raw(b'{"id":1e309}') == 422
    assert raw(b'{"id":-1e309}') == 422
    assert raw(b'{"id":' + b"9" * 5000 + b"}") in (400, 422)
    assert raw(b'{"id":2147483648}') == 404
    assert raw(b'{"id":9223372036854775807}') == 404
    assert raw(b'{"id":9223372036854775808}') == 422
    assert raw(b'{"id":1.0}') == 404


@pytest.mark.parametrize(
    "text", ["0", "-1", "1.5", "1e1", "1_0", "%201", "%2B1", "%D9%A3", "0x1", "true", "9223372036854775808"]
)
def test_ap_09_ids_of_a_query(opened: Client, text: str) -> None:
    opened.post("tags", {"name": "first"})
    assert opened.request("DELETE", f"/?api=tags&id={text}").status == 422
    assert opened.request("DELETE", "/?api=tags&id=").status == 422
    assert opened.request("DELETE", "/?api=tags&id=1").status == 200


def test_ap_14_id_in_body_and_in_query(opened: Client) -> None:
    ids = [opened.post("tags", {"name": name}).json["id"] for name in ("a", "b", "c")]

    def remove(body: Any, query: str) -> int:
        content = b"" if body is None else json.dumps(body).encode()
        return opened.request("DELETE", f"/?api=tags{query}", content, {"Content-Type": "application/json"}).status

    assert remove({"id": 0}, f"&id={ids[0]}") == 422
    assert remove({"id": None}, f"&id={ids[0]}") == 422
    assert remove({"id": ids[1]}, f"&id={ids[0]}") == 422
    assert remove({"id": True}, "&id=1") == 422
    assert len(opened.get("tags").json["data"]) == 3
    assert remove({"id": ids[0]}, "") == remove(None, f"&id={ids[1]}") == remove({"id": ids[2]}, f"&id={ids[2]}") == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": f"Bearer {KEY}"}, 200), ({"Authorization": f"bearer {KEY}"}, 200),
        ({"X-Service-Token": KEY}, 200), ({"Authorization": "Bearer"}, 401), ({"Authorization": f"Basic {KEY}"}, 401),
        ({"Authorization": "Bearer  K2"}, 401), ({"X-Service-Token": KEY + "x"}, 401),
        ({"X-Service-Token": "\xfcber-key"}, 401), ({"Authorization": "Bearer \xfcber-key"}, 401),
        ({"Authorization": f"Bearer {KEY}, Bearer X"}, 401), ({}, 401),
        ({"X-Service-Token": "wrong", "Authorization": f"Bearer {KEY}"}, 401),
        ({"X-Service-Token": KEY, "Authorization": "Bearer wrong"}, 200),
        ({"X-Service-Token": "", "Authorization": f"Bearer {KEY}"}, 200),
    ],
    ids=repr,
)  # fmt: skip
def test_ap_15_key_headers(keyed: Client, headers: dict[str, str], status: int) -> None:
    answer = keyed.request("GET", "/?api=tags", b"", headers)
    assert answer.status == status
    if status == 401:
        assert answer.json == keyed.request("GET", f"/?api=tags&key={KEY}").json


@pytest.mark.parametrize(
    ("method", "url", "status"),
    [
        ("PATCH", "/?api=nope", 404), ("POST", "/", 404), ("GET", "/?api=", 404), ("PUT", "/?api=summary", 405),
        ("GET", "/?api=access-analytics", 404), ("GET", "/?q=" + "x" * 17_000, 414), ("GET", "/etc/passwd", 404),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_ap_16_envelope_and_status_of_every_failure(opened: Client, method: str, url: str, status: int) -> None:
    """What the server layer refuses by itself stands in tests/server."""
    answer = opened.request(method, url, b"{}", {"Content-Type": "application/json"})
    assert answer.status == status
    assert answer.error and "/" not in answer.error


def test_ap_17_booleans_in_the_query(opened: Client) -> None:
    for text in ("true", "false", "1", "0"):
        assert opened.request("GET", f"/?api=groups&has_stack={text}").status == 200
    for text in ("TRUE", "yes", "on", "01", "%20true", "2"):
        assert opened.request("GET", f"/?api=groups&has_stack={text}").status == 422
    assert opened.request("GET", "/?api=groups&has_stack=").status == 200


@pytest.mark.servers
def test_ap_17_false_is_false(client: Client) -> None:
    """On each database: `false` finds what `true` does not."""
    client.post("issues", {"title": "without a stack"})
    assert client.get("groups", has_stack="false").json["meta"]["total"] == 1
    assert client.get("groups", has_stack="true").json["meta"]["total"] == 0


@pytest.fixture
def search(client: Client) -> Callable[[str], list[str]]:
    for title in (
        "account_id missing",
        "accountXid missing",
        "100% full",
        "100 percent full",
        "it's ' OR 1=1 --",
        "a\\b",
    ):
        assert client.post("issues", {"title": title}).status == 201

    def find(q: str) -> list[str]:
        answer = client.get("groups", q=q)
        assert answer.status == 200
        return sorted(item["title"] for item in answer.json["items"])

    return find


@pytest.mark.servers
def test_ap_18_search_text_with_wildcards_and_quotes(search: Callable[[str], list[str]]) -> None:
    """On each database."""
    assert search("account_id") == ["account_id missing"]
    assert search("%") == ["100% full"]
    assert search("_") == ["account_id missing"]
    assert search("' OR 1=1 --") == ["it's ' OR 1=1 --"]
    assert search("\\") == ["a\\b"]
    assert search("ACCOUNT_ID") == ["account_id missing"]


def test_ap_18_very_long_input_and_pages(opened: Client) -> None:
    started = time.monotonic()
    assert opened.request("GET", "/?api=groups&q=" + "x" * 100_000).status in (400, 414, 422)
    assert opened.request("GET", "/?api=groups&q=" + "x" * 10_000).status == 422
    assert time.monotonic() - started < 2
    for text in ("page=0", "page=-1", "page=1000000000000000000", "limit=1000000000"):
        assert opened.request("GET", f"/?api=groups&{text}").status == 422


def test_every_case_has_a_test() -> None:
    names = [name for name in globals() if name.startswith("test_ap_")]
    for case in CASES:
        assert any(name.startswith(f"test_{case['id'].lower().replace('-', '_')}_") for name in names), case["id"]
