"""Endpoints that authenticate by themselves."""

import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path as File
from typing import Any

import pytest

from snaglist.kernel import Call, Endpoint, NotFound, Option, Path, Reply, Unauthorized, own
from snaglist.testing import Client

Install = Kernel = Callable[..., Any]
ANY = {"type": "object"}
KEY = {"X-Thing-Key": "right"}
READ: list[int] = []


class Body(io.BytesIO):
    """A body that tells whether it was looked at."""

    def read(self, *size: Any) -> bytes:
        """Note it."""
        READ.append(1)
        return super().read(*size)


def authenticate(call: Call) -> None:
    if call.selected is None or call.environ.get("HTTP_X_THING_KEY") != "right":
        raise Unauthorized("A valid key of the thing is required.")


def take(call: Call) -> Reply:
    content = call.read_body(unpacked=100)
    if content == b"boom":
        raise RuntimeError("boom")
    if content == b"unknown":
        raise NotFound("Unknown thing.")
    return Reply({"size": len(content), "again": len(call.read_body(unpacked=100)), **call.query}, 202)


@pytest.fixture
def thing(install: Install, kernel: Kernel, schemas: Callable[..., File]) -> Iterator[Client]:
    """An optional area with an endpoint that has its own key, switched on."""
    query = {"type": "object", "properties": {"wait": {"type": "boolean"}, "channel": {"type": "string"}}}
    folder = schemas("thing", {"post-query": query, "post-response": ANY})
    endpoint = Endpoint(
        "thing",
        post=own(take, None, 202),
        schemas=folder,
        body_limit="thing.max_bytes",
        authenticate=authenticate,
        cross_origin=("Content-Type", "X-Thing-Key"),
    )
    install(
        "thing",
        register_endpoints=lambda: [endpoint],
        register_settings=lambda: [Option("thing.max_bytes", 50, "small for the test")],
        register_paths=lambda: [Path("v1/(?P<app>[^/]+)/things(/(?P<channel>.+))?", api="thing")],
    )
    READ.clear()
    with kernel(plugins__enabled=["thing"], auth__token="test-key-0123456789abcdef") as client:
        yield client


def push(client: Client, body: bytes = b"{}", url: str = "/?api=thing", method: str = "POST", **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    more = {"wsgi.input": Body(body), "CONTENT_LENGTH": str(len(body))}
    return client.request(method, url, b"", {**KEY, **named}, **more)


def test_the_order_of_checks(thing: Client) -> None:
    """Plugin (404) → method (405) → key (401) → size (413) → coding (415) → query (422) → handler."""
    wrong = {"X_Thing_Key": "wrong", "Origin": "http://evil.example"}
    url, large = "/?api=thing&wait=perhaps", b"x" * 51
    assert push(thing, large, url, "PUT", **wrong).status == 405
    assert push(thing, large, url, **wrong, Content_Encoding="br").status == 401
    assert READ == [], "the body was read before the key was known to be right"
    assert push(thing, large, url, Content_Encoding="br").status == 422  # the handler reads the body: it comes last
    assert push(thing, large, Content_Encoding="br").status == 413
    assert push(thing, b"x", Content_Encoding="br").status == 415
    assert push(thing, b"x", Content_Encoding="gzip").status == 400
    assert push(thing, gzip.compress(bytes(101)), Content_Encoding="gzip").status == 413
    assert push(thing, gzip.compress(bytes(100)), "/?api=thing&wait=1", Content_Encoding="gzip").json == {
        "size": 100, "again": 100, "wait": True,
    }  # fmt: skip
    call = thing.service.call()
    with call.transaction():
        thing.service.plugins.switch(call, thing.service.plugins.find("thing"), False)  # type: ignore[arg-type]
    assert push(thing, large, url, "PUT", **wrong).status == 404


def test_neither_key_nor_origin_of_the_service_count(thing: Client) -> None:
    assert push(thing, Origin="http://evil.example").status == 202
    assert push(thing, X_Thing_Key="", X_Service_Token="test-key-0123456789abcdef").status == 401


def test_an_unknown_application_is_a_wrong_key(thing: Client) -> None:
    unknown, wrong = push(thing, url="/?api=thing&app=other"), push(thing, X_Thing_Key="wrong")
    assert (unknown.status, unknown.content) == (wrong.status, wrong.content)


def test_a_malformed_query_is_an_ordinary_request(thing: Client) -> None:
    malformed = "/?api=thing&a=1&a=2"
    assert push(thing, url=malformed).status == 401
    assert push(thing, url=malformed, X_Service_Token="test-key-0123456789abcdef").status == 400


@pytest.mark.parametrize(
    ("status", "body", "url", "headers"),
    [
        (202, b"{}", "/?api=thing", {}),
        (401, b"{}", "/?api=thing", {"X_Thing_Key": "wrong"}),
        (403, b"{}", "/?api=thing", {"Host": "other.example"}),
        (404, b"unknown", "/?api=thing", {}),
        (413, b"x" * 51, "/?api=thing", {}),
        (414, b"{}", "/?api=thing&x=" + "y" * 20_000, {}),
        (500, b"boom", "/?api=thing", {}),
    ],
)
def test_every_answer_may_be_read_by_every_page(
    thing: Client, status: int, body: bytes, url: str, headers: dict[str, str]
) -> None:
    """Failures included, never with credentials."""
    thing.service.hosts._any, thing.service.hosts._names = False, frozenset(["testserver"])
    answer = push(thing, body, url, **headers)
    assert answer.status == status
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "access-control-allow-credentials" not in answer.headers


def test_browsers_may_ask_first(thing: Client) -> None:
    answer = thing.request("OPTIONS", "/?api=thing", headers={"Origin": "http://shop.example"})
    assert (answer.status, answer.content, answer.headers["allow"]) == (204, b"", "POST, OPTIONS")
    assert answer.headers["access-control-allow-methods"] == "POST, OPTIONS"
    assert answer.headers["access-control-allow-headers"] == "Content-Type, X-Thing-Key"


def test_no_other_answer_may_be_read_by_other_pages(thing: Client) -> None:
    for url in ("/?api=health", "/?api=plugins", "/?api=none", "/", "/?api=thing&a=1&a=2"):
        headers = thing.request("GET", url, headers={"Origin": "http://shop.example"}).headers
        assert not [name for name in headers if name.startswith("access-control")], url
        assert headers["cross-origin-resource-policy"] == "same-origin"


def test_another_address_for_protocols_that_have_their_own(thing: Client) -> None:
    """`register_paths` with `api`: the same checks, the application from the path."""
    assert push(thing, url="/v1/default/things/web").json == {"size": 2, "again": 2, "channel": "web"}
    assert push(thing, url="/v1/other/things").status == 401
    assert push(thing, url="/v1/default/things", X_Thing_Key="wrong").status == 401
    assert push(thing, url="/v1/default/things", method="GET").status == 405
    assert push(thing, url="/v1/default/thing").status == 401
    assert push(thing, url="/v1/default/things").headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "path",
    [Path("x"), Path("x", lambda match, call: Reply({}), "open"), Path("x", api="closed"), Path("x", api="health")],
)
def test_a_path_leads_to_an_own_endpoint_that_authenticates(
    install: Install, kernel: Kernel, schemas: Callable[..., File], path: Path
) -> None:
    endpoints = [
        Endpoint("open", get=own(lambda call: {}, None), authenticate=authenticate, schemas=schemas("open", {})),
        Endpoint("closed", get=own(lambda call: {}, None), schemas=schemas("closed", {})),
    ]
    install(
        "a",
        register_endpoints=lambda: [endpoint for endpoint in endpoints],
        register_paths=lambda: [path],
    )
    with kernel() as client:
        shown = json.dumps(client.get("plugins").json["data"])
        assert "needs a handler, or the api of an own endpoint with authenticate" in shown
