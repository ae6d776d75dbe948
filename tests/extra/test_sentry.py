"""snaglist-sentry: what the protocol allows, on each database, and how it is refused."""

import base64
import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import brotli
import pytest

from snaglist.testing import Answer, Client

Serving = Callable[..., Client]
ID = "3f2504e04f8941d39a0c0305e82c3301"
EVENT: dict[str, Any] = {
    "event_id": ID,
    "platform": "python",
    "level": "fatal",
    "timestamp": 1_767_434_400.5,
    "release": "shop@2.0",
    "environment": "staging",
    "server_name": "web-1",
    "transaction": "checkout",
    "tags": {"region": "eu", "plan": "gold"},
    "user": {"id": "7", "token": "hidden-1"},
    "request": {
        "url": "https://shop.example/pay?token=hidden-2&page=2",
        "headers": [["Authorization", "hidden-3"], ["Accept", "text/html"]],
        "cookies": {"sid": "hidden-4"},
        "query_string": "password=hidden-5&page=2",
        "data": {"card_number": "hidden-6", "amount": 3},
    },
    "breadcrumbs": {"values": [{"message": f"step {n}", "data": {"url": "/a?token=hidden-7"}} for n in range(60)]},
    "exception": {
        "values": [
            {
                "type": "TimeoutError",
                "value": "bank",
                "stacktrace": {"frames": [{"function": "ask", "filename": "bank.py", "lineno": 9, "in_app": False}]},
            },
            {
                "type": "PayError",
                "value": "declined",
                "stacktrace": {
                    "frames": [
                        {"function": "main", "filename": "app/main.py", "lineno": 3, "vars": {"x": "hidden-8"}},
                        {"function": "charge", "filename": "app/pay.py", "lineno": 12, "context_line": "  bank.pay()"},
                    ]
                },
            },
        ]
    },
}


class Sdk:
    """Sends as an SDK does."""

    def __init__(self, client: Client, app: str = "default") -> None:
        self.client = client
        dsn = client.get("sentry-settings", app=app).json["dsn"]
        self.key, _, rest = dsn.removeprefix("http://").partition("@")
        self.project = rest.rpartition("/")[2]

    def post(self, body: bytes, *, kind: str = "envelope", key: str | None = None, **headers: str) -> Answer:
        auth = f"Sentry sentry_version=7, sentry_key={self.key if key is None else key}, sentry_client=test/1"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request("POST", f"/api/{self.project}/{kind}/", body, {"X-Sentry-Auth": auth, **named})

    def send(self, *events: Any, **headers: str) -> Answer:
        return self.post(envelope(*(("event", event) for event in events)), **headers)

    def issues(self) -> list[dict[str, Any]]:
        return list(self.client.get("errors", include_context=True, include_stack=True).json["data"])


def envelope(*items: tuple[str, Any], **head: Any) -> bytes:
    parts = [json.dumps(head).encode()]
    for kind, payload in items:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        parts += [json.dumps({"type": kind, "length": len(body)}).encode(), body]
    return b"\n".join(parts) + b"\n"


@pytest.mark.parametrize("engine", ["sqlite", "postgresql", "mariadb"])
def test_an_event_becomes_an_issue_once(serving: Serving, engine: str) -> None:
    sdk = Sdk(serving(engine, sentry__issue_tags=["region"]))
    for _ in range(2):
        answer = sdk.send(EVENT)
        assert (answer.status, answer.json) == (200, {"id": ID})
    (issue,) = sdk.issues()
    shown = {name: issue[name] for name in ("title", "severity", "environment", "count", "channel", "origin")}
    assert shown == {
        "title": "PayError: declined", "severity": "CRITICAL", "environment": "staging", "count": 1,
        "channel": "sentry", "origin": "ingested",
    }  # fmt: skip
    assert (issue["exception_class"], issue["source_frame"]) == ("PayError", "app/pay.py:12")
    assert [tag["name"] for tag in issue["tags"]] == ["region:eu"]
    context = json.loads(issue["sample_context"])
    assert (context["tags"], context["transaction"]) == ({"region": "eu", "plan": "gold"}, "checkout")
    assert [crumb["message"] for crumb in context["breadcrumbs"]] == [f"step {n}" for n in range(10, 60)]
    detail = sdk.client.get("error", id=issue["id"]).json
    (row,) = detail["occurrences"]
    assert (row["event_id"], row["release"], row["server_name"]) == (ID, "shop@2.0", "web-1")
    assert row["occurred_at"].startswith("2026-01-03 10:00:00")
    assert (issue["users"], [user["value"] for user in detail["facets"]["user"]]) == (1, ["7"])
    source = sdk.client.get("source", occurrence=row["id"]).json["content"]
    assert 'File "app/pay.py", line 12, in charge\n    bank.pay()' in source
    assert "hidden" not in source + json.dumps(detail)
    day = sdk.client.get("sentry-settings").json["last_24h"]
    assert (day["accepted"], day["duplicate"]) == (1, 1)


def test_exceptions_stay_what_was_sent(serving: Serving) -> None:
    """Also when they are read back and grouped again: nothing is parsed out of the text."""
    sdk = Sdk(serving())
    sdk.send(EVENT)
    (before,) = sdk.issues()
    assert sdk.client.post("reindex", {}, wait=True).status in (200, 202)
    sdk.client.service.jobs.run_queued(sdk.client.service.applications.all()[0])
    (after,) = sdk.issues()
    assert after["id"] == before["id"] and after["count"] == 1
    exceptions = sdk.client.get("error", id=after["id"]).json["exceptions"]
    assert [(one["class"], [frame["function"] for frame in one["frames"]]) for one in exceptions] == [
        ("TimeoutError", ["ask"]), ("PayError", ["charge", "main"]),
    ]  # fmt: skip
    assert [one["frames"][0]["in_app"] for one in exceptions] == [False, True]


def coded(name: str, line: int, **more: Any) -> dict[str, Any]:
    """A frame with seven lines of code before it and behind it."""
    return {
        "function": name, "filename": f"app/{name}.py", "lineno": line, "context_line": f"    {name}()",
        "pre_context": [f"before {at}" for at in range(7, 0, -1)],
        "post_context": [f"after {at}" for at in range(1, 8)], **more,
    }  # fmt: skip


def with_frames(*frames: dict[str, Any], **more: Any) -> dict[str, Any]:
    raised = {"type": "PayError", "value": "declined", "stacktrace": {"frames": list(frames)}}
    return {"platform": "python", "exception": {"values": [raised]}, **more}


def code_of(sdk: Sdk, **query: Any) -> list[Any]:
    (issue,) = sdk.issues()
    return [
        frame["context"] for frame in sdk.client.get("error", id=issue["id"], **query).json["exceptions"][0]["frames"]
    ]


@pytest.mark.parametrize("engine", ["sqlite", "postgresql", "mariadb"])
def test_lines_of_code_are_kept(serving: Serving, engine: str) -> None:
    """Five lines around the five innermost own frames, else the line alone; also of events that are read back."""
    sdk = Sdk(serving(engine))
    outer = [coded(name, 10) for name in ("one", "two", "three", "four", "five")]
    library = coded("library", 3, in_app=False)
    plain = {"function": "native", "filename": "native.c"}
    around = {"pre": [f"before {at}" for at in range(5, 0, -1)], "post": [f"after {at}" for at in range(1, 6)]}
    wanted = [
        None,
        {"pre": [], "line": "    library()", "post": []},
        {**around, "line": ("    wide" + " = 1" * 300)[:199] + "…"},
        *({**around, "line": f"    {name}()"} for name in ("five", "four", "three", "two")),
        {"pre": [], "line": "    one()", "post": []},
    ]
    wide = coded("wide", 5, context_line="    wide" + " = 1" * 300)
    ids = [f"{at:032x}" for at in range(6)]  # the later ones are kept as differences
    for event_id in ids:
        sdk.send(with_frames(*outer, wide, library, plain, event_id=event_id))
    assert code_of(sdk) == wanted
    (issue,) = sdk.issues()
    for row in sdk.client.get("error", id=issue["id"]).json["occurrences"]:
        assert code_of(sdk, occurrence=row["id"]) == wanted


def test_lines_of_code_hold_no_secrets(serving: Serving) -> None:
    """What stands in quotes beside a name that is not stored; as in the context, names alone decide."""
    sdk = Sdk(serving())
    secret = coded("pay", 9, context_line="bank.login(user, password='hidden-1', region=\"eu\")")
    secret["pre_context"] = ['token: str = "hidden-2"', '{"api-key": "hidden-3"}', "if secret == f'hidden-\\'4':"]
    secret["post_context"] = ["PASSWORD = 'hidden-5", 'tokens = "shown"', {"no": "text"}]
    sdk.send(with_frames(secret))
    (code,) = code_of(sdk)
    assert code == {
        "pre": ['token: str = "[redacted]"', '{"api-key": "[redacted]"}', "if secret == f'[redacted]':"],
        "line": "bank.login(user, password='[redacted]', region=\"eu\")",
        "post": ["PASSWORD = '[redacted]'", 'tokens = "shown"', ""],
    }
    (issue,) = sdk.issues()
    assert "password='[redacted]'" in issue["sample_stack"]
    assert "hidden" not in sdk.client.get("error", id=issue["id"]).text


@pytest.mark.parametrize("wrong", [7, "", "  ", None, {"x": 1}])
def test_a_frame_whose_line_is_none_has_no_code(serving: Serving, wrong: Any) -> None:
    sdk = Sdk(serving())
    sdk.send(with_frames(coded("pay", 9, context_line=wrong), coded("ask", 2, pre_context=wrong, post_context=wrong)))
    assert code_of(sdk) == [{"pre": [], "line": "    ask()", "post": []}, None]


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body)[2:-4]),
        ("br", brotli.compress),
        ("identity", bytes),
    ],
)
def test_codings(serving: Serving, coding: str, pack: Callable[[bytes], bytes]) -> None:
    sdk = Sdk(serving(sentry__max_unpacked_bytes=2_000_000))
    body = envelope(("event", {"message": "boom"}), event_id=ID)
    assert sdk.post(pack(body), Content_Encoding=coding).json == {"id": ID}
    assert sdk.post(pack(body)[:-5], Content_Encoding=coding).status == 400
    bomb = pack(envelope(("event", {"message": "x" * 50_000_000}))) if coding != "identity" else bytes(2_000_001)
    tracemalloc.start()
    try:
        assert sdk.post(bomb, Content_Encoding=coding).status == 413
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()


def test_what_is_refused(serving: Serving) -> None:
    sdk = Sdk(serving(sentry__max_body_bytes=2_000))
    assert sdk.post(envelope(("event", {"message": "m"})), key="wrong").status == 401
    assert sdk.post(b"", key="").status == 401
    assert sdk.post(b"x" * 2_001).status == 413
    assert sdk.post(b"x", Content_Encoding="zstd").error == "Content-Encoding: must be gzip, deflate, br or identity"
    assert sdk.post(b"x", Content_Encoding="br").error == "The body is not br."
    assert sdk.post(b"nonsense").error == "envelope header: must be a line of JSON"
    assert sdk.post(b'{}\n{"type":"event","length":99}\n{}').error == "items[0].length: the body ends before"
    assert sdk.post(envelope(("event", {"level": "error"}))).error == (
        "items[0]: event: must have an exception or a message"
    )
    assert sdk.client.request("GET", f"/api/{sdk.project}/envelope/").status == 405
    assert sdk.issues() == []


def test_each_event_is_judged_alone_and_the_rest_is_counted(serving: Serving) -> None:
    sdk = Sdk(serving())
    items = [("event", b"{broken"), ("event", {"message": "good"}), ("transaction", {}), ("session", {}), ("new", {})]
    answer = sdk.post(envelope(*items))
    assert answer.status == 200
    assert answer.headers["x-sentry-rate-limits"] == "3600:session;transaction:project"
    assert [issue["title"] for issue in sdk.issues()] == ["good"]
    day = sdk.client.get("sentry-settings").json["last_24h"]
    counted = {"item:transaction": 1, "item:session": 1, "item:unknown": 1}
    assert day == {"accepted": 1, "duplicate": 0, "invalid": 1, "rate_limited": 0, **counted}
    assert sdk.post(envelope(("session", {}))).status == 200


def test_the_rate_limit(serving: Serving) -> None:
    sdk = Sdk(serving(sentry__rate_max_events=2))
    assert [sdk.send({"message": "m"}).status for _ in range(3)] == [200, 200, 429]
    refused = sdk.send({"message": "m"})
    seconds = refused.headers["retry-after"]
    assert refused.headers["x-sentry-rate-limits"] == f"{seconds}:error;default:project"
    assert "X-Sentry-Rate-Limits" in refused.headers["access-control-expose-headers"]


def test_store_requests(serving: Serving) -> None:
    sdk = Sdk(serving())
    body = json.dumps({"event_id": ID, "message": "old"}).encode()
    assert sdk.post(body, kind="store").json == {"id": ID}
    packed = base64.b64encode(zlib.compress(b'{"sentry.interfaces.x": 1, "message": "older"}'))
    assert sdk.post(packed, kind="store").status == 200
    assert sdk.post(b"%%%", kind="store").status == 400
    assert sorted(issue["title"] for issue in sdk.issues()) == ["old", "older"]


def test_a_dsn_is_one_applications(serving: Serving) -> None:
    sdk = Sdk(client := serving())
    assert client.post("applications", {"name": "Shop"}).status == 201
    other = Sdk(client, "shop")
    assert (other.key, other.project) != (sdk.key, sdk.project)
    assert other.post(envelope(("event", {"message": "m"})), key=sdk.key).status == 401
    assert other.send({"message": "m"}).status == 200
    assert (len(client.get("errors", app="shop").json["data"]), sdk.issues()) == (1, [])
    assert client.post("plugins", {"id": "sentry", "enabled": False}, app="shop").status == 200
    assert other.send({"message": "m"}).status == 404
    regenerated = client.post("sentry-settings", {"action": "regenerate"}).json["dsn"]
    assert sdk.key not in regenerated and sdk.send({"message": "m"}).status == 401


def test_fingerprints_and_templates(serving: Serving) -> None:
    sdk = Sdk(serving())
    for number in range(2):
        sdk.send(
            {"logentry": {"message": "Order %s failed", "params": [number], "formatted": f"Order {number} failed"}}
        )
        sdk.send({"message": f"a{number}", "fingerprint": ["mine"]})
        sdk.send({"message": "same", "fingerprint": ["{{ default }}", str(number)]})
    assert sorted(issue["count"] for issue in sdk.issues()) == [1, 1, 2, 2]


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], {"values": [None]}, True, 1e999])
@pytest.mark.parametrize(
    "name",
    ["exception", "breadcrumbs", "tags", "user", "request", "contexts", "timestamp", "level", "fingerprint", "release",
     "threads", "platform", "event_id", "logentry", "extra"],
)  # fmt: skip
def test_any_value_of_an_optional_field_is_survived(name: str, value: Any, installed: Any) -> None:
    from snaglist_sentry.events import Converter

    pushed = Converter("2026-01-03 10:00:00", frozenset(), (), lambda _: None).convert({"message": "m", name: value})
    assert pushed.event.message


@pytest.mark.parametrize(
    ("template", "params", "title"),
    [
        ("Order %d of %s: 100%%", [7, "Ana"], "Order 7 of Ana: 100%"),
        ("%(who)s has %(n)05.1f", {"who": "Ana", "n": 2}, "Ana has 002.0"),
        ("%s of %s", [1], "%s of %s"),
        ("%s", [1, 2], "%s"),
        ("%d", ["x"], "%d"),
        ("%(who)s", [1], "%(who)s"),
        ("%9999999999d", [1], "%9999999999d"),
        ("%.9999999999f", [1], "%.9999999999f"),
        ("%*d", [9_999_999_999, 1], "%*d"),
        ("%(a(b))9999999999d", {"a(b)": 1}, "%(a(b))9999999999d"),
    ],
)
def test_a_template_is_filled(serving: Serving, template: str, params: Any, title: str) -> None:
    sdk = Sdk(serving())
    assert sdk.send({"logentry": {"message": template, "params": params}}).status == 200
    assert sdk.issues()[0]["sample_message"] == title


def test_a_small_template_does_not_become_a_huge_message(serving: Serving) -> None:
    sdk = Sdk(serving())
    entry = {"message": "%(a)s" * 100_000, "params": {"a": "z" * 200_000}}  # 20 GB, were it filled
    tracemalloc.start()
    assert sdk.send({"logentry": entry}).status == 200
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000
    assert sdk.issues()[0]["sample_message"].startswith("zzz")


def test_addresses_may_hold_what_cannot_be_encoded(serving: Serving) -> None:
    sdk = Sdk(serving())
    url = "https://shop.example/?token=hidden&x=\ud800"
    event = {"message": "x", "request": {"url": url}, "breadcrumbs": [{"data": {"url": url}}]}
    assert sdk.send(event).status == 200
    assert "hidden" not in sdk.issues()[0]["sample_context"]


def test_addresses_are_redacted_by_the_rule_of_every_name(serving: Serving) -> None:
    """Case, dashes and the way accents are written make no difference."""
    sdk = Sdk(serving(privacy__redact_keys=["clé_secrète", "api_key"]))
    names = ("Cle\u0301-Secre\u0300te", "CL\u00c9_SECR\u00c8TE", "API-Key")
    url = "https://shop.example/?page=2&" + "&".join(f"{name}=hidden" for name in names)
    assert sdk.send({"message": "x", "request": {"url": url}}).status == 200
    shown = sdk.issues()[0]["sample_context"]
    assert "hidden" not in shown and "page=2" in shown


def test_every_member_of_a_gzip_body_is_read(serving: Serving) -> None:
    sdk = Sdk(serving())
    parts = gzip.compress(b"{}\n"), gzip.compress(b'{"type":"event"}\n{"message":"second"}')
    assert sdk.post(b"".join(parts), Content_Encoding="gzip").status == 200
    assert [issue["title"] for issue in sdk.issues()] == ["second"]
    assert sdk.post(parts[0] + b"garbage", Content_Encoding="gzip").status == 400
