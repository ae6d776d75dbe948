"""10,000 generated hostile requests over the whole API, with data in it: never 500, always envelope and headers.

The requests come from the API's own description, so endpoints and fields that are added later are met as
well. The seed is fixed: a failure names a request that fails again.
"""

import json
import random
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from snaglist.testing import Answer, Client, running_service

pytestmark = [pytest.mark.whole, pytest.mark.servers]

STATUSES = {200, 201, 202, 204, 304, 308, 400, 401, 403, 404, 405, 409, 413, 414, 415, 422, 429, 431}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "FROB")
# What deletes everything, or waits for a worker that a test does not have.
SPARED = {("DELETE", "applications"), ("POST", "import-incoming")}
KEY = "test-key-0123456789abcdef"
INGEST = re.compile(r"[?&]api=ingest(&|$)")
INSIDE = re.compile(r"Traceback|\b(?:SELECT|INSERT|UPDATE)\b|sqlalchemy|sqlite3|psycopg|pymysql")
BIG = 9_223_372_036_854_775_807
TEXTS = (
    "", " ", "\u00a0", "a", "x" * 81, "y" * 501, "z" * 70_000, "\x00", "\n", "a\r\nSet-Cookie: a=b",
    "'; DROP TABLE issues; --",
    '" OR 1=1 --', "%", "_", "\\", "%' ESCAPE '", "[a-", "(a+)+$", "../../../etc/passwd", "/etc/passwd",
    "file:///etc/passwd",
    "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "${jndi:ldap://x}", "{{7*7}}", "\ud800", "\U0001f41e" * 80, "İ",
    "ß" * 80,
    "e\u0301", "\u202e", "none", "true", "null", "NaN", "-1", "0", "1", "2", "1.5", "1e9", str(BIG), str(BIG + 1),
    "9" * 400,
    "2026-01-03", "2026-01-03 10:00:00", "2026-02-30", "0001-01-01", "9999-12-31 23:59:59", "2026-01-03T10:00:00+14:00",
    "0000-00-00 00:00:00", "2026-01-03T10:00:00.999999999Z", "9999-12-31T23:59:59-23:59", "Europe/Berlin", "../UTC",
    "ERROR",
    "error,warning", ",,,", "a," * 30, "open", "fixed", "merge", "add", "remove", "#ffffff", "#FFFFFF\n", "tag",
    "newest",
    "trend", "csv", "ndjson", "default", "WyJhIl0", "W10", "bnVsbA==", "eyJhIjoxfQ",
)  # fmt: skip
TAME = tuple(text for text in TEXTS if 0 < len(text) <= 100 and "\x00" not in text and "\ud800" not in text)
ODD_TARGETS = ("/", "//", "/nope", "/static/", "/static/000000000000/a/../b", "/%2e%2e/", "/?", "/?api")
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, -1, 1.0, 1.5, -0.0, 1e308, 1e19, BIG, BIG + 1, -BIG - 2, 10**30, [], {}, [[]], [None],
    [1, 1, 2],
    ["a"], [{}], {"": ""}, {"a": {"b": {"c": []}}}, list(range(300)), [BIG], ["ERROR", "ERROR"], {"id": 1}, [True],
    [1.0],
)  # fmt: skip
RAW_BODIES = (
    b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe{}", b"\xef\xbb\xbf{}", b'{"a":1,"a":2}', b"NaN",
    b'{"name":Infinity}',
    b"[" * 500 + b"]" * 500, b'{"a":' * 200_000, b'{"name":"\\ud800"}', b'{"name":"\\u0000"}', b"{}{}", b" " * 3000,
    b"{}\x00",
    b'{"id":1e400}', b'{"id":' + b"9" * 5000 + b"}", b"\x1f\x8b\x08", b"<xml/>", b"x" * (1024 * 1024 + 1), b"a=b&c=d",
)  # fmt: skip
HEADERS: tuple[dict[str, str], ...] = (
    {"Origin": "http://evil.example"}, {"Origin": "http://testserver"}, {"Origin": "null"}, {"Origin": "\xff"},
    {"Host": "a,b"}, {"Host": "evil.example"}, {"Host": ""}, {"Host": "[::1"}, {"Host": "testserver,testserver"},
    {"Content-Type": "text/plain"}, {"Content-Type": "application/json; charset=latin-1"}, {"Content-Type": "\xff"},
    {"Content-Encoding": "gzip"}, {"Accept": "text/html"}, {"Accept-Encoding": "gzip;q=x"}, {"Accept-Encoding": "gzip"},
    {"If-None-Match": "*"}, {"If-None-Match": "\xff"}, {"X-Service-Token": "\xff"}, {"X-Service-Token": "a" * 600},
    {"Authorization": "Bearer"}, {"Authorization": "Basic \xff"}, {"X-Forwarded-For": "::1%x, x,,"},
    {"X-Forwarded-Proto": "\xff"}, {"X-Forwarded-Host": "a b"}, {"X-HTTP-Method-Override": "DELETE"},
    {"X-Long": "x" * 70_000}, {"Content-Length": "-1"}, {"Content-Length": "9" * 30}, {"Content-Length": "1, 1"},
)  # fmt: skip


class Attacker:
    """Makes requests from the API's description and a fixed seed.

    Each request has a wildness of its own: most are nearly right, so that they get past the first checks.
    """

    def __init__(self, document: dict[str, Any], seed: int) -> None:
        self.random = random.Random(seed)
        self.operations = [
            (name.removeprefix("/?api="), method.upper(), operation)
            for name, methods in document["paths"].items()
            for method, operation in methods.items()
        ]
        self.components = document["components"]["schemas"]
        self.wildness = 0.0

    def request(self) -> tuple[str, str, bytes, dict[str, str]]:
        """Return method, target, body and headers."""
        self.wildness = self.random.choice((0.02, 0.1, 0.1, 0.5))
        api, method, operation = self.random.choice(self.operations)
        if self._wild(0.3):
            api = self.random.choice(("", "nope", "TAGS", " tags", "tags\n", api.upper()))
        if self._wild(0.5):
            method = self.random.choice(METHODS)
        if (method, api) in SPARED:
            method = "GET"
        headers = dict(self.random.choice(HEADERS)) if self._wild() else {}
        body = b""
        if method not in ("GET", "HEAD", "OPTIONS"):
            body = self._body(operation)
            headers.setdefault("Content-Type", "application/json")
        return method, self._target(api, operation), body, headers

    def _wild(self, weight: float = 1.0) -> bool:
        return self.random.random() < self.wildness * weight

    def _target(self, api: str, operation: dict[str, Any]) -> str:
        if self._wild(0.2):
            return self.random.choice(ODD_TARGETS)
        asked = [("api", api)]
        for parameter in operation["parameters"]:
            if parameter.get("required") or self.random.random() < 0.15 + self.wildness / 3:
                asked.append((parameter["name"], self._text(parameter["schema"], parameter["name"])))
        if self._wild(0.5):
            asked.append((self.random.choice(("app", "api", "key", "", "wait")), self.random.choice(TEXTS)))
        text = "&".join(f"{quote(name)}={quote(value, errors='surrogatepass')}" for name, value in asked)
        return f"/?{text}" + (self.random.choice(("&", "%", "&a=%ff", "&=&=", "&x=%00")) if self._wild(0.3) else "")

    def _text(self, schema: dict[str, Any], name: str) -> str:
        if self._wild():
            return self.random.choice(TEXTS)
        known = self._resolved(schema)
        choices = known.get("enum") or self._resolved(known.get("items", {})).get("enum")
        if name == "app":
            return self.random.choice(("", "default", "other"))
        if choices:
            return str(self.random.choice(choices))
        if known.get("type") in ("integer", "boolean"):
            return self.random.choice(("1", "1", "0", "2", "3", "true", "50"))
        return self.random.choice(TAME)

    def _body(self, operation: dict[str, Any]) -> bytes:
        if self._wild(0.5):
            return self.random.choice(RAW_BODIES)
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        known = self._resolved(schema)
        fields, needed = known.get("properties", {"id": {}, "name": {}}), known.get("required", ())
        body = {
            name: self._value(field)
            for name, field in fields.items()
            if (name in needed and not self._wild(0.3)) or self.random.random() < 0.5
        }
        if self._wild():
            body[self.random.choice(TEXTS)[:50]] = self.random.choice(VALUES)
        return json.dumps(body).encode()

    def _value(self, schema: dict[str, Any]) -> Any:
        if self._wild():
            return self.random.choice((*VALUES, *TEXTS))
        known = self._resolved(schema)
        kinds = known.get("type", "string")
        if known.get("enum"):
            return self.random.choice(known["enum"])
        if "integer" in kinds:
            return self.random.choice((1, 2, 3, 4, 5, 300))
        if "boolean" in kinds:
            return self.random.choice((True, False))
        if "array" in kinds:
            return [self._value(known.get("items", {})) for _ in range(self.random.randrange(4))]
        return self.random.choice(TAME)

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            name, *steps = schema["$ref"].removeprefix("#/components/schemas/").split("/")
            schema = self.components[name]
            for step in steps:
                schema = schema[step]
        return schema


def _check(client: Client, request: tuple[str, str, bytes, dict[str, str]], answer: Answer) -> None:
    method, target, body, headers = request
    shown = f"{method} {target[:300]!r} {body[:300]!r} {str(headers)[:300]}"
    assert answer.status in STATUSES, (answer.status, answer.content[:300], shown)
    sent = answer.headers
    assert sent["content-security-policy"] and sent["x-content-type-options"] == "nosniff", shown
    assert "set-cookie" not in sent, shown
    if not INGEST.search(target):  # the one endpoint for pages of other origins
        assert not [name for name in sent if name.startswith("access-control-")], shown
    if answer.status == 405:
        assert "OPTIONS" in sent["allow"], shown
    if answer.status == 401:
        assert sent["www-authenticate"] == "Bearer", shown
    if answer.status == 429:
        assert int(sent["retry-after"]) >= 1, shown
    if answer.status < 400 or method == "HEAD" or sent["content-type"].startswith("text/html"):
        return
    assert sent["cache-control"] == "no-store", shown
    assert answer.error, shown
    assert not INSIDE.search(answer.error) and str(client.service.settings.data) not in answer.text, (
        answer.text,
        shown,
    )


def _fill(client: Client) -> None:
    """Data that hostile requests find: events, issues, tags with rules, modules, another application."""
    service = client.service
    application = service.applications.all()[0]
    lines = [f'[2026-01-03 10:00:{n % 60:02}] production.ERROR: {text} {{"a": 1}}' for n, text in enumerate(TAME)]
    (application.logs / "app.log").write_text("\n".join(lines))
    assert client.post("import-incoming").status == 202
    assert service.jobs.run_queued(application) == 1
    for text in TEXTS:
        client.post("issues", {"title": text, "description": text + "x", "severity": "ERROR"})
    for number in range(3):
        client.post("tags", {"name": f"tag {number}", "match_word": "a"})
        client.post("modules", {"name": f"module {number}"})
    assert client.post("applications", {"name": "Other"}).status == 201


def _attack(data: Path, requests: int, seed: int, *, keyed: bool) -> Counter[int]:
    config = {"auth__token": KEY} if keyed else {"server__trusted_proxies": ["127.0.0.0/8"]}
    seen: Counter[int] = Counter()
    with running_service(data, jobs=False) as service:
        client = Client(service)
        _fill(client)
        document = client.get("openapi").json
    with running_service(data, jobs=False, **config) as service:
        client = Client(service)
        attacker = Attacker(document, seed)
        for _ in range(requests):
            request = attacker.request()
            if keyed and attacker.random.random() < 0.9:
                request[3]["X-Service-Token"] = KEY
            answer = client.request(*request)
            _check(client, request, answer)
            seen[answer.status] += 1
        assert client.request("GET", "/?api=health").status == 200
    return seen


@pytest.mark.parametrize("keyed", [False, True])
def test_hostile_requests(fresh_data, keyed):
    seen = _attack(fresh_data, 1_000, seed=1, keyed=keyed)
    wanted = {200, 201, 400, 403, 404, 405, 415, 422} | ({401} if keyed else set())
    assert wanted <= set(seen), seen  # otherwise the requests have become tame


@pytest.mark.long
@pytest.mark.parametrize("keyed", [False, True])
def test_ten_thousand_hostile_requests(fresh_data, keyed):
    seen = _attack(fresh_data, 10_000, seed=2, keyed=keyed)
    assert {413, 414, 431} <= set(seen)


def test_every_method_of_every_endpoint(client: Client) -> None:
    """On each database: with nothing, with an empty object, with fields of wrong types, with the highest id."""
    bodies = (b"", b"{}", b'{"id":[],"name":1,"ids":{}}', b'{"id":9223372036854775807,"name":"x"}')
    queries = ("", "&id=9223372036854775807", "&id=", "&page=1000000&limit=1", "&q=%25_%5C'&wait=0")
    for name, method, body, query in product(client.service.endpoints(), METHODS, bodies, queries):
        request = (method, f"/?api={name}{query}", body, {"Content-Type": "application/json"})
        _check(client, request, client.request(*request))
