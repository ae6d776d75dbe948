"""Order of checks, roles, headers."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from snaglist.kernel import Endpoint, Reply, own, read, write
from snaglist.kernel import Path as PagePath
from snaglist.kernel.call import Actor
from snaglist.kernel.errors import Invalid, MethodNotAllowed, ServiceError
from snaglist.kernel.gate import Gate
from snaglist.plugins.system import jobs_table
from snaglist.testing import Client, running_service

Install = Kernel = Callable[..., Any]
KEY = "test-key-0123456789abcdef"
THING = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ANY = {"type": "object"}


@pytest.fixture
def gate(install: Install, schemas: Callable[..., Path], tmp_path: Path) -> Callable[..., Any]:
    """Start the kernel with one optional and one core plugin that have an endpoint each, and a page at the root."""
    from contextlib import contextmanager

    query = {"properties": {"page": {"$ref": "/definitions/page.json"}}}
    files = {"post-query": query, "post-body": THING, "post-response": ANY, "get-response": ANY}
    folder = schemas("area", files)
    schemas("extra", files)
    reached: list[str] = []

    def handler(call: Any) -> Any:
        reached.append(call.request.method)
        if call.body.get("name") == "boom":
            raise RuntimeError("s3cret /etc/path SELECT 1")
        return {"items": ["x" * 40] * 60} if call.request.method in ("GET", "HEAD") else dict(call.body)

    def endpoint(name: str) -> Endpoint:
        operations = {"get": read(handler, "things.read"), "post": write(handler, "things.write")}
        return Endpoint(name, **operations, schemas=folder, body_limit=100, etag=True)  # type: ignore[arg-type]

    def streamed(call: Any) -> Reply:
        return Reply(iter([b"line\n"] * 1000), content_type="text/csv")

    def page(match: Any, call: Any) -> Reply:
        return Reply(b"<html>sign in</html>", content_type="text/html; charset=utf-8")

    schemas("stream", {"get-response": ANY})
    install(
        "core_area",
        core=True,
        register_endpoints=lambda: [
            endpoint("area"),
            Endpoint("stream", get=own(streamed, "things.read"), schemas=folder),
        ],
        register_paths=lambda: [PagePath("", page)],
    )
    install("optional", register_endpoints=lambda: [endpoint("extra")])

    @contextmanager
    def start(identify: Any = None, **config: Any) -> Iterator[Any]:
        with running_service(tmp_path / "data", jobs=False, **config) as service:
            client = Client(service, identify)
            client.reached = reached  # type: ignore[attr-defined]
            yield client

    return start


def post(client: Client, url: str, body: bytes = b'{"name":"x"}', **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request("POST", url, body, {"Content-Type": "application/json", **named})


def test_the_first_failing_check_decides(gate: Callable[..., Any]) -> None:
    """Each request breaks everything from its step on, and gets that step's answer."""
    big, evil = b"x" * 101, "https://evil.test"
    wrong = {"Content_Type": "text/plain"}
    with gate(auth__token=KEY) as client:
        steps = [
            (0, "/?api=nope&api=nope", {"Host": "a, b", "X_Service_Token": "wrong"}, 400),
            (1, "/?api=nope&api=nope", {"Origin": evil, "X_Service_Token": "wrong"}, 401),
            (2, "/?api=nope&api=nope", {"Origin": evil}, 403),
            (3, "/?api=nope&api=nope&app=nope", {}, 400),
            (4, "/?api=nope&app=nope", wrong, 404),
            (4, "/nope?api=area&app=nope", wrong, 404),
            (5, "/?api=extra&app=nope", wrong, 422),
            (6, "/?api=extra", wrong, 404),
        ]
        for step, url, headers, status in steps:
            answer = post(client, url, big, **{"X_Service_Token": KEY, **headers})
            assert answer.status == status, (step, answer.text)
            assert answer.error
        put = client.request("PUT", "/?api=area", big, {"X-Service-Token": KEY, "Content-Type": "text/plain"})
        assert (put.status, put.headers["allow"]) == (405, "GET, HEAD, POST, OPTIONS")
        key = {"X_Service_Token": KEY}
        assert post(client, "/?api=area&page=0", big, **key, **wrong).status == 413
        assert post(client, "/?api=area&page=0", b"{", **key, **wrong).status == 415
        assert post(client, "/?api=area&page=0", b"{", **key).status == 400
        both = post(client, "/?api=area&page=0", b'{"name":1}', **key)
        assert (both.status, both.error) == (422, "page: must be from 1 to 1000000; name: must be a text")
        assert client.reached == []
        assert post(client, "/?api=area", **key).status == 200


def test_url_and_headers_have_a_size(gate: Callable[..., Any]) -> None:
    """16 KiB of path and query, and 64 KiB of names and values as WSGI has them."""
    with gate() as client:
        path, others = "/?api=health&x=", "HTTP_HOST" + "testserver" + "HTTP_X_LONG"
        for more, status in ((0, 200), (1, 414)):
            assert client.request("GET", path + "x" * (16 * 1024 - len(path) + more)).status == status
        for more, status in ((0, 200), (1, 431)):
            long = {"X-Long": "x" * (64 * 1024 - len(others) + more)}
            assert client.request("GET", "/?api=health", b"", long).status == status


def test_which_large_bodies_may_come(install: Install, kernel: Kernel, schemas: Callable[..., Path]) -> None:
    """Asked before such a body is received: of whoever has the key, and of nobody where an endpoint has its own."""
    folder = schemas("large", {"post-query": {}, "post-body": ANY, "post-response": ANY})
    more = {"schemas": folder, "body_limit": 100}
    own_keys = Endpoint("own", post=write(lambda call: {}, None), authenticate=lambda call: None, **more)
    large = Endpoint("large", post=write(lambda call: {}, None), **more)
    install("area", core=True, register_endpoints=lambda: [large, own_keys])
    with kernel(auth__token=KEY) as client:

        def refusal(query: str, **headers: str) -> Any:
            given = {f"HTTP_{name.upper()}": value for name, value in headers.items()}
            environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/", "QUERY_STRING": query, "HTTP_HOST": "testserver"}
            reply = Gate(client.service).may_send_body({**environ, "REMOTE_ADDR": "127.0.0.1", **given})
            return reply and (reply.status, reply.body["error"])

        for query in ("api=large", "api=nope", "", "api=a&api=b"):
            assert refusal(query, x_service_token=KEY) is None
            assert refusal(query, x_service_token="wrong") == (401, "A valid key is required.")
            assert refusal(query)[0] == 401
        assert refusal("api=own", x_service_token=KEY) == (413, "The body is over the limit of 100 bytes.")
        assert refusal("api=large", x_service_token=KEY, host="a, b")[0] == 400


def test_the_id_of_a_body_may_be_in_the_query(install: Install, kernel: Kernel, schemas: Callable[..., Path]) -> None:
    """Where the schema says so; twice it has to be the same."""
    number = {"type": "integer", "minimum": 1}
    query, body = {"properties": {"id": number}}, {"type": "object", "properties": {"id": number}, "required": ["id"]}
    files = {"post-query": query, "post-response": ANY}
    schemas("either", {**files, "post-body": {**body, "x-id-from-query": True}})
    folder = schemas("both", {**files, "post-body": body})
    echo = write(lambda call: {"id": call.body["id"], "of query": call.query.get("id")}, None)
    install(
        "area",
        core=True,
        register_endpoints=lambda: [Endpoint(name, post=echo, schemas=folder) for name in ("either", "both")],
    )
    with kernel() as client:
        assert client.post("either", {}, id=7).json == {"id": 7, "of query": 7}
        assert client.post("either", {"id": 7}, id=7).json == {"id": 7, "of query": 7}
        assert client.post("either", {"id": 7}).json == {"id": 7, "of query": None}
        assert client.post("both", {"id": 7}, id=8).json == {"id": 7, "of query": 8}
        for api, sent, given, problem in (
            ("either", {"id": 7}, {"id": 8}, "id: body and query give different values"),
            ("either", {"id": True}, {"id": 1}, "id: body and query give different values"),
            ("either", {}, {"id": "x"}, "id: must be a whole number"),
            ("either", {}, {}, "id: is required"),
            ("both", {}, {"id": 7}, "id: is required"),
            ("either", [], {"id": 7}, "body: must be an object"),
        ):
            refused = client.post(api, sent, **given)
            assert (refused.status, refused.error) == (422, problem)


def test_a_parameter_of_a_plugin_counts_where_the_plugin_is_on(
    install: Install, kernel: Kernel, schemas: Callable[..., Path]
) -> None:
    text = {"type": "string"}
    query = {"properties": {"own": text, "added": {**text, "x-plugin": "optional"}}}
    folder = schemas("list", {"get-query": query, "get-response": ANY})
    echo = read(lambda call: dict(call.query), None)
    install("area", core=True, register_endpoints=lambda: [Endpoint("list", get=echo, schemas=folder)])
    install("optional")
    with kernel() as client:
        assert client.get("list", own="a", added="b").json == {"own": "a"}
        client.enable("optional")
        assert client.get("list", own="a", added="b").json == {"own": "a", "added": "b"}


def test_a_failure_without_a_status_of_its_own_is_internal(
    install: Install, kernel: Kernel, schemas: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(call: Any) -> None:
        raise ServiceError("s3cret")

    folder = schemas("odd", {"get-response": ANY})
    install("area", core=True, register_endpoints=lambda: [Endpoint("odd", get=read(fail, None), schemas=folder)])
    with kernel() as client:
        answer = client.get("odd")
    assert answer.status == 500 and answer.error.startswith("Internal error (reference ")
    assert "internal error, plugin area" in caplog.text


def test_where_the_service_is_for_a_caller(install: Install, schemas: Callable[..., Path], tmp_path: Path) -> None:
    """The configured URL, or else what the request says of itself."""
    told = own(lambda call: {"url": call.request.base_url, "address": call.request.address}, None)
    folder = schemas("where", {"get-response": ANY})
    install("area", core=True, register_endpoints=lambda: [Endpoint("where", get=told, schemas=folder)])
    proxied = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Host": "logs.example", "X-Forwarded-Proto": "https"}
    for config, headers, found in (
        ({}, {}, ("http://testserver/mount", "127.0.0.1")),
        ({}, proxied, ("http://testserver/mount", "127.0.0.1")),
        ({"server__trusted_proxies": ["127.0.0.1"]}, proxied, ("https://logs.example/mount", "192.0.2.7")),
        ({"server__url": "https://logs.example/place/"}, {}, ("https://logs.example/place", "127.0.0.1")),
    ):
        with running_service(tmp_path / "data", jobs=False, **config) as service:
            url = "/?api=where"
            answer = Client(service).request("GET", url, b"", headers, SCRIPT_NAME="/mount").json  # type: ignore[arg-type]
            assert (answer["url"], answer["address"]) == found


def test_only_json_that_is_there_has_a_tag(install: Install, kernel: Kernel, schemas: Callable[..., Path]) -> None:
    answers = iter([Reply({"a": 1}), Reply({"a": 1}, 201), Reply("a", content_type="text/csv")])
    folder = schemas("tagged", {"get-response": ANY})
    tagged = Endpoint("tagged", get=read(lambda call: next(answers), None, 200, 201), schemas=folder, etag=True)
    install("area", core=True, register_endpoints=lambda: [tagged])
    with kernel() as client:
        assert ["etag" in client.get("tagged").headers for _ in range(3)] == [True, False, False]


def test_what_is_not_there_is_named(gate: Callable[..., Any]) -> None:
    with gate() as client:
        named = {url: client.request("GET", url).error for url in ("/nope", "/nope?api=area", "/?api=nope", "/?api=")}
    assert named == {
        "/nope": "Unknown path.", "/nope?api=area": "Unknown endpoint.", "/?api=nope": "Unknown endpoint.",
        "/?api=": "Unknown endpoint.",
    }  # fmt: skip


def test_a_caller_inside_the_process_follows_the_same_rules(gate: Callable[..., Any]) -> None:
    with gate() as client:
        gate_of, call = Gate(client.service), client.service.call()
        assert gate_of.perform(call, "area", "POST", {}, {"name": "x"}).body == {"name": "x"}
        for query, body, problem in (
            ({"page": "0"}, {"name": "x"}, "page: must be from 1 to 1000000"),
            ({}, {"name": 1}, "name: must be a text"),
            ({"name": "x"}, {"name": "x"}, "name: must be in the body, not in the query"),
        ):
            with pytest.raises(Invalid, match=problem):
                gate_of.perform(call, "area", "POST", query, body)
        with pytest.raises(MethodNotAllowed, match=r"area does not support PUT\."):
            gate_of.perform(call, "area", "PUT", {}, {})


def test_a_plain_answer_has_the_first_status_of_its_operation(
    install: Install, kernel: Kernel, schemas: Callable[..., Path]
) -> None:
    folder = schemas("made", {"get-response": ANY, "post-query": {}, "post-body": ANY, "post-response": ANY})
    made = Endpoint(
        "made", get=read(lambda call: {}, None), post=write(lambda call: {}, None, 201, 200), schemas=folder
    )
    install("area", core=True, register_endpoints=lambda: [made])
    with kernel() as client:
        assert (client.get("made").status, client.post("made", {}).status) == (200, 201)


def test_without_the_key_every_answer_is_the_same(gate: Callable[..., Any]) -> None:
    with gate(auth__token=KEY) as client:
        urls = ["/?api=nope", "/?api=area&app=nope", "/?api=extra", "/?api=area&a=1&a=2", "/nope", "/", "//?api=area"]
        answers = [client.request(method, url) for url in urls for method in ("GET", "PUT", "OPTIONS")]
        assert {answer.status for answer in answers} == {401}
        assert len({answer.content for answer in answers}) == 1


def test_the_page_at_the_root(gate: Callable[..., Any]) -> None:
    """With the key the page, without it 401, for browsers with the page as its body."""
    with gate(auth__token=KEY) as client:
        signed = {"X-Service-Token": KEY}
        assert client.request("GET", "/", b"", signed).status == 200
        options = client.request("OPTIONS", "/", b"", signed)
        assert (options.status, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
        assert client.request("POST", "/", b"", signed).status == 404
        browser = client.request("GET", "/", b"", {"Accept": "text/html,*/*"})
        assert browser.status == 401 and browser.headers["content-type"].startswith("text/html")
        assert browser.headers["cache-control"] == "no-store"
        assert client.request("GET", "/", b"", {"Accept": "Text/HTML"}).content == browser.content
        assert client.request("GET", "/", b"", {"Accept": "application/json"}).error
        assert client.request("GET", "/?API=area", b"", signed).text.startswith("<html>")
        assert client.request("GET", "/?api=", b"", signed).status == 404
        assert client.request("GET", "//?api=area", b"", signed).status == 404
        moved = client.request("GET", "/", b"", signed, SCRIPT_NAME="/logs", PATH_INFO="")
        assert (moved.status, moved.headers["location"]) == (308, "/logs/")
        moved = client.request("GET", "?a=b", b"", signed, SCRIPT_NAME="/l\xe9", PATH_INFO="")
        assert (moved.status, moved.headers["location"]) == (308, "/l%E9/?a=b")
        assert client.request("OPTIONS", "/nope", b"", signed).status == 404
        unasked = client.request("POST", "/", b"", {"Accept": "text/html"})
        assert (unasked.status, unasked.headers["content-type"][:16]) == (401, "application/json")
        assert client.request("GET", "/nope", b"", {"Accept": "text/html"}).error == "A valid key is required."


@pytest.mark.parametrize(
    ("roles", "get", "post_status", "plugins", "switch"),
    [
        (("viewer",), 200, 403, 200, 403), (("editor",), 200, 200, 200, 403), (("owner",), 200, 200, 200, 404),
        (("nobody",), 403, 403, 403, 403), ((), 403, 403, 403, 403), (("viewer", "editor"), 200, 200, 200, 403),
        (("OWNER",), 403, 403, 403, 403),
    ],
)  # fmt: skip
def test_roles(
    gate: Callable[..., Any], roles: tuple[str, ...], get: int, post_status: int, plugins: int, switch: int
) -> None:
    """What each role may do at the kernel's endpoints."""
    with gate(lambda environ, application: Actor("7", "Ann", roles)) as client:
        assert client.request("GET", "/?api=area").status == get
        assert post(client, "/?api=area").status == post_status
        assert client.request("GET", "/?api=plugins").status == plugins
        assert post(client, "/?api=plugins", b'{"id":"no","enabled":true}').status == switch
        assert post(client, "/?api=plugins", b"{}").status == (422 if switch == 404 else 403), "the ability comes first"
        assert client.request("GET", "/?api=openapi").status == 200
        assert client.request("GET", "/?api=health").status == 200


def test_roles_are_those_for_the_application(gate: Callable[..., Any]) -> None:
    def identify(environ: Any, application: str | None) -> Actor | None:
        return Actor("7", "Ann", ("owner",) if application in (None, "default") else ())

    with gate(identify) as client:
        post(client, "/?api=applications", b'{"name":"second"}')
        assert client.request("GET", "/?api=area").status == 200
        assert client.request("GET", "/?api=area&app=second").status == 403


def test_nobody_is_signed_in(gate: Callable[..., Any]) -> None:
    with gate(lambda environ, application: None) as client:
        assert client.request("GET", "/?api=area").status == 401
        assert client.request("GET", "/?api=nope").status == 401
        assert client.request("GET", "/?api=health").status == 200


def test_an_internal_error_shows_a_reference_and_nothing_else(
    gate: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The same 12 hex digits are in the log."""
    with gate() as client:
        answer = post(client, "/?api=area", b'{"name":"boom"}')
    assert answer.status == 500
    assert answer.error[:26] == "Internal error (reference "
    reference = answer.error[26:38]
    assert len(answer.error) == 39 and int(reference, 16) >= 0
    assert any(reference in record.getMessage() and record.exc_info for record in caplog.records)


def test_etags(gate: Callable[..., Any]) -> None:
    """A reader that has the answer already gets 304 without a body; writing is never answered so."""
    with gate() as client:
        first = client.request("GET", "/?api=area")
        tag = first.headers["etag"]
        for known in (tag, tag.removeprefix("W/"), f'"x", {tag}', "*"):
            again = client.request("GET", "/?api=area", b"", {"If-None-Match": known})
            assert (again.status, again.content, again.headers["etag"]) == (304, b"", tag)
        assert client.request("GET", "/?api=area", b"", {"If-None-Match": 'W/"x"'}).status == 200
        assert post(client, "/?api=area", If_None_Match="*").status == 200


@pytest.mark.parametrize(
    ("accept", "coding"),
    [("gzip", "gzip"), ("GZIP", "gzip"), ("br, gzip;q=0.5", "gzip"), ("*", "gzip"), ("gzip;q=0", None),
     ("gzip;q=0.0, *", None), ("identity", None), ("", None), ("br", None), ("gzip, deflate, br, zstd", "zstd"),
     ("zstd", "zstd"), ("gzip, zstd; q=0", "gzip"), ("gzip;q=0, zstd", "zstd"),
     ("*;q=0, gzip", "gzip"), ("*, gzip;q=0", None)],
)  # fmt: skip
@pytest.mark.parametrize("api", ["area", "stream"])
def test_compression(gate: Callable[..., Any], api: str, accept: str, coding: str | None) -> None:
    """Streamed answers are compressed too; those are never sent as zstd."""
    if api == "stream" and coding == "zstd":
        coding = "gzip" if "gzip, " in accept else None
    unpack: dict[str | None, Callable[[bytes], bytes]] = {
        None: bytes, "gzip": gzip.decompress, "zstd": zstandard.decompress,
    }  # fmt: skip
    with gate() as client:
        plain = client.request("GET", f"/?api={api}")
        answer = client.request("GET", f"/?api={api}", b"", {"Accept-Encoding": accept})
        assert answer.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
        assert answer.headers.get("content-encoding") == coding
        assert unpack[coding](answer.content) == plain.content
        head = client.request("HEAD", f"/?api={api}", b"", {"Accept-Encoding": accept})
        assert head.content == b"" and head.headers == answer.headers


def test_small_answers_are_not_compressed(gate: Callable[..., Any]) -> None:
    with gate() as client:
        assert "content-encoding" not in client.request("GET", "/?api=nope", b"", {"Accept-Encoding": "gzip"}).headers


@pytest.mark.parametrize("url", ["/", "/?api=area", "/?api=nope", "/nope", "/?api=area&a=1&a=1", "/?api=health"])
def test_headers_of_every_answer(gate: Callable[..., Any], url: str) -> None:
    with gate() as client:
        for method in ("GET", "HEAD", "POST", "OPTIONS", "TRACE"):
            headers = client.request(method, url).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
            assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
            assert len(headers["permissions-policy"].split(", ")) == 10
            assert "strict-transport-security" not in headers and "set-cookie" not in headers


def test_transport_security_only_over_tls(gate: Callable[..., Any]) -> None:
    config: dict[str, Any] = {"security__hsts_max_age": 60, "security__hsts_include_subdomains": True}
    with gate(server__trusted_proxies=["127.0.0.1"], **config) as client:
        assert "strict-transport-security" not in client.request("GET", "/?api=health").headers
        tls = client.request("GET", "/?api=health", **{"wsgi.url_scheme": "https"})
        assert tls.headers["strict-transport-security"] == "max-age=60; includeSubDomains"
        proxied = client.request("GET", "/?api=health", b"", {"X-Forwarded-Proto": "https"})
        assert "strict-transport-security" in proxied.headers
        stranger = client.request("GET", "/?api=health", b"", {"X-Forwarded-Proto": "https"}, REMOTE_ADDR="192.0.2.1")
        assert "strict-transport-security" not in stranger.headers


def test_security_headers_can_be_off(gate: Callable[..., Any]) -> None:
    with gate(security__headers_enabled=False) as client:
        headers = client.request("GET", "/?api=area").headers
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
        assert "content-security-policy" not in headers


def test_switching_plugins(gate: Callable[..., Any]) -> None:
    """With a plugin of the test."""
    with gate() as client:
        listed = client.get("plugins").json["data"]
        assert [(plugin["id"], plugin["enabled"]) for plugin in listed] == [("optional", False)]
        for body in ({"id": "optional", "enabled": "true"}, {"id": "optional", "enabled": 1}, {"id": "optional"}, {}):
            assert client.post("plugins", body).status == 422
        assert client.post("plugins", {"id": "nope", "enabled": True}).status == 404
        assert client.put("plugins", {}).status == 405
        assert client.get("extra").status == 404
        assert client.post("plugins", {"id": "optional", "enabled": True}).json["data"][0]["enabled"] is True
        assert client.get("extra").status == 200
        client.post("plugins", {"id": "optional", "enabled": False})
        assert client.request("PUT", "/?api=extra").status == 404  # plugin before method


def test_openapi(gate: Callable[..., Any]) -> None:
    """With a plugin of the test."""
    with gate() as client:
        document = client.get("openapi").json
        assert document["openapi"].startswith("3.1")
        assert document["info"] == {"title": "snaglist", "version": client.service.version}
        extra, area = document["paths"]["/?api=extra"]["post"], document["paths"]["/?api=area"]["get"]
        assert (extra["x-plugin"], extra["x-enabled"], extra["x-ability"]) == ("optional", False, "things.write")
        assert (area["x-plugin"], area["x-enabled"], area["operationId"]) == (None, True, "area.get")
        references = set(_references(document))
        assert references and all(_resolves(document, reference) for reference in references)


def test_openapi_describes_the_bodies_that_the_handler_takes_itself(
    install: Callable[..., Any], kernel: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "bytes").mkdir()
    for method in ("post", "put", "patch", "delete"):
        (tmp_path / "bytes" / f"{method}-response.json").write_text('{"type": "object"}')
    methods = {method: write(lambda call: {}, None) for method in ("post", "put", "patch", "delete")}
    endpoint = Endpoint("bytes", **methods, schemas=tmp_path, raw=True)
    install("area", core=True, register_endpoints=lambda: [endpoint])
    with kernel() as client:
        described = client.get("openapi").json["paths"]["/?api=bytes"]
        binary = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
        taken = {method for method, one in described.items() if one.get("requestBody", {}).get("content") == binary}
        assert taken == {"post", "put", "patch"}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "$ref":
                yield inner
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def _resolves(document: Any, reference: str) -> bool:
    assert reference.startswith("#/")
    for part in reference[2:].split("/"):
        document = document[part]
    return isinstance(document, dict)


def test_openapi_of_the_whole_service(sqlite_client: Client) -> None:
    """Every reference of the real document leads somewhere inside it."""
    document = sqlite_client.get("openapi").json
    assert "/?api=tags" in document["paths"]
    for reference in set(_references(document)):
        assert _resolves(document, reference), reference
    json.dumps(document)


def test_openapi_names_the_statuses_of_success(sqlite_client: Client) -> None:
    """As the operations declare them; the test kit refuses an answer with another one."""
    paths = sqlite_client.get("openapi").json["paths"]

    def statuses(api: str, method: str) -> list[str]:
        return [name for name in paths[f"/?api={api}"][method]["responses"] if name != "default"]

    assert statuses("tags", "get") == ["200"] and statuses("tags", "post") == ["201"]
    assert statuses("import-incoming", "post") == ["202", "200"]
    undeclared = Client(sqlite_client.service)
    contract = undeclared._contract
    assert contract is not None
    contract._endpoints = {"tags": (Endpoint("tags", post=read(lambda call: {}, None)), contract._endpoints["tags"][1])}
    with pytest.raises(AssertionError, match="201 is not declared"):
        undeclared.post("tags", {"name": "a"})


def test_the_first_application_can_be_deleted(client: Client) -> None:
    """The next one becomes the default selection; on each database."""
    client.post("applications", {"name": "Second"})
    gone = client.delete("applications", {"id": "default", "confirmation": "DELETE APPLICATION default"})
    assert gone.json == {"id": "default", "deleted": True}
    assert [app["id"] for app in client.get("applications").json["data"]] == ["second"]
    assert client.get("plugins").status == 200
    assert client.get("plugins", app="default").status == 422


@pytest.mark.servers
def test_an_application_with_a_running_job_is_kept(client: Client) -> None:
    from sqlalchemy import insert

    from snaglist.kernel import times

    client.post("applications", {"name": "Second"})
    second = client.service.applications.find("second")
    now = times.now()
    row = {"kind": "x", "args": {}, "status": "running", "done": 0, "unit": "", "attempts": 1, "max_attempts": 1,
           "cancel_requested": False, "run_at": now, "created_at": now, "heartbeat_at": now}  # fmt: skip
    with client.service.database.transaction(second, write=True) as db:
        db.execute(insert(jobs_table), row)
    refused = client.delete("applications", {"id": "second", "confirmation": "DELETE APPLICATION second"})
    assert refused.status == 409 and client.get("plugins", app="second").status == 200
