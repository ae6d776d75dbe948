"""Who may send, what a body may be, and in which order it is judged."""

import gzip
import json
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from snaglist.testing import Client, running_service

EVENT = {"message": "boom"}
UTF8 = json.dumps({"message": "café"}, ensure_ascii=False)


# -- keys


def test_wrong_key_no_key_and_unknown_application_are_one_answer(sqlite_sender: Any) -> None:
    client = sqlite_sender.client
    asked = [
        client.request("POST", f"/?api=ingest&app={app}", b"{", {"Content-Type": "text/html", **headers})
        for app, headers in (
            ("default", {"X-Service-Ingest-Key": "svk_wrong"}),
            ("default", {}),
            ("nope", {"X-Service-Ingest-Key": sqlite_sender.key}),
            ("default", {"Authorization": f"Basic {sqlite_sender.key}"}),
            ("default", {"X-Service-Ingest-Key": "svk_wrong", "Authorization": f"Bearer {sqlite_sender.key}"}),
            ("default", {"X-Service-Ingest-Key": "kéy"}),
        )
    ]
    assert {(answer.status, answer.content) for answer in asked} == {(401, asked[0].content)}
    assert asked[0].error and asked[0].headers["www-authenticate"] == "Bearer"


def test_the_places_of_a_key(sqlite_sender: Any) -> None:
    key = sqlite_sender.key
    none = {"X_Service_Ingest_Key": ""}
    assert sqlite_sender.send(EVENT).status == 202
    assert sqlite_sender.send(EVENT, **none, Authorization=f"bearer {key}").status == 202
    assert sqlite_sender.raw(b'{"message":"a"}', query=f"&key={key}", **none).status == 202
    assert sqlite_sender.raw(b'{"message":"a"}', query=f"&key={key}", X_Service_Ingest_Key="svk_no").status == 401


def test_the_query_key_can_be_refused(sqlite_sender: Any) -> None:
    def by_query() -> int:
        status: int = sqlite_sender.raw(
            b'{"message":"a"}', query=f"&key={sqlite_sender.key}", X_Service_Ingest_Key=""
        ).status
        return status

    client = sqlite_sender.client
    assert by_query() == 202
    shown = client.post("ingest-settings", {"action": "configure", "allow_query_key": False})
    assert (shown.status, shown.json["allow_query_key"], by_query()) == (200, False, 401)
    client.post("ingest-settings", {"action": "configure", "allow_query_key": True})
    assert by_query() == 202


def test_the_service_key_is_neither_needed_nor_enough(sqlite_sender: Any, fresh_data: Path) -> None:
    """With a service key set, senders need their own key and nothing else."""
    token = "test-key-0123456789abcdef"
    with running_service(fresh_data, auth__token=token) as service:
        client = Client(service)
        for headers, status in (
            ({"X-Service-Ingest-Key": sqlite_sender.key}, 202),
            ({"X-Service-Token": token}, 401),
            ({"Authorization": f"Bearer {token}"}, 401),
        ):
            answer = client.request(
                "POST", "/?api=ingest", b'{"message":"a"}', {"Content-Type": "text/plain", **headers}
            )
            assert answer.status == status


def test_methods_plugin_and_origin(sqlite_client: Client) -> None:
    """A disabled area is not there, whatever is asked and with which key."""
    for method in ("GET", "POST", "HEAD"):
        for api in ("ingest", "ingest-settings"):
            assert sqlite_client.request(method, f"/?api={api}", b"").status == 404, (method, api)
    sqlite_client.post("plugins", {"id": "ingest", "enabled": True})
    key = sqlite_client.get("ingest-settings").json["key"]
    refused = sqlite_client.request("GET", "/?api=ingest")
    assert (refused.status, refused.headers["allow"]) == (405, "POST, OPTIONS")
    headers = {"Content-Type": "text/plain", "X-Service-Ingest-Key": key, "Origin": "https://shop.example"}
    answer = sqlite_client.request("POST", "/?api=ingest", b'{"message":"a"}', headers)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (202, "*")
    asked = sqlite_client.request("OPTIONS", "/?api=ingest", b"", {"Origin": "https://shop.example"})
    assert asked.status == 204 and "X-Service-Ingest-Key" in asked.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in asked.headers
    sqlite_client.post("plugins", {"id": "ingest", "enabled": False})
    gone = sqlite_client.request("POST", "/?api=ingest", b'{"message":"a"}', headers)
    assert gone.status == 404 and gone.error
    sqlite_client.post("plugins", {"id": "ingest", "enabled": True})
    assert sqlite_client.get("ingest-settings").json["key"] == key
    assert sqlite_client.request("POST", "/?api=ingest", b'{"message":"a"}', headers).status == 202


# -- bodies


@pytest.mark.parametrize("body", [{"events": [EVENT, EVENT]}, [EVENT, EVENT]], ids=["envelope", "list"])
def test_several_events(sqlite_sender: Any, body: Any) -> None:
    assert sqlite_sender.accepted(body) == {"accepted": 2, "received": 2, "dropped": 0, "duplicates": 0, "errors": []}


def test_one_event_and_lines(sqlite_sender: Any) -> None:
    assert sqlite_sender.accepted(EVENT)["accepted"] == 1
    lines = b'{"message":"a"}\r\n\n{"message":\n{"message":" "}\n["x"]\n{"message":"b"}'
    answer = sqlite_sender.raw(lines, "application/x-ndjson; charset=utf-8")
    assert (answer.status, answer.json["accepted"], answer.json["dropped"]) == (202, 2, 3)
    assert [problem["index"] for problem in answer.json["errors"]] == [1, 2, 3]
    assert sqlite_sender.raw(b'{"message":\n{', "application/x-ndjson").status == 400


@pytest.mark.parametrize(
    ("kind", "status"),
    [("application/json", 202), ("APPLICATION/JSON; charset=UTF-8", 202), ("application/cloudevents+json", 202),
     ("text/plain", 202), ("text/plain;charset=UTF-8", 202), ("text/html", 415), (None, 415),
     ("application/json; charset=iso-8859-1", 415), ("application/json; charset=x-foo", 415)],
)  # fmt: skip
def test_content_types(sqlite_sender: Any, kind: str | None, status: int) -> None:
    assert sqlite_sender.raw(b'{"message":"a"}', kind).status == status


def test_charsets(sqlite_sender: Any) -> None:
    assert sqlite_sender.raw(UTF8.encode("latin-1")).status == 400
    assert sqlite_sender.raw(UTF8.encode("utf-16")).status == 400
    assert sqlite_sender.raw(b"\xef\xbb\xbf" + UTF8.encode()).status == 202
    assert sqlite_sender.issues()[0]["title"] == "café"


def test_codings(sqlite_sender: Any) -> None:
    plain = b'{"message":"boom"}'
    for coding, body, status in (
        ("gzip", gzip.compress(plain), 202), ("GZIP", gzip.compress(plain), 202), ("identity", plain, 202),
        ("", plain, 202), ("br", plain, 415), ("deflate", zlib.compress(plain), 415),
    ):  # fmt: skip
        answer = sqlite_sender.raw(body, Content_Encoding=coding)
        assert answer.status == status, (coding, answer.text)
        assert status == 202 or answer.error
    (issue,) = sqlite_sender.issues()
    assert issue["count"] == 4


@pytest.mark.parametrize(
    "body",
    [b"not gzip", gzip.compress(b'{"message":"secret text"}' * 50)[:-20], b'{"message":"x"}',
     gzip.compress(b'{"message":"x"}')[:-8] + b"\0\0\0\0" + gzip.compress(b'{"message":"x"}')[-4:]],
    ids=["no header", "cut", "plain", "checksum"],
)  # fmt: skip
def test_broken_gzip(sqlite_sender: Any, body: bytes) -> None:
    answer = sqlite_sender.raw(body, Content_Encoding="gzip")
    assert answer.status == 400 and "secret" not in answer.error
    assert sqlite_sender.count("occurrences") == 0


def test_a_gzip_bomb(sqlite_sender: Any) -> None:
    """Refused without being unpacked, also in members and nested."""
    import tracemalloc

    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join([packer.compress(bytes(1 << 20)) for _ in range(800)]) + packer.flush()
    members = gzip.compress(bytes(1 << 20)) * 800
    limit = sqlite_sender.client.service.settings["ingest.max_unpacked_bytes"]
    for body in (bomb, members, gzip.compress(bomb)):
        tracemalloc.start()
        begun = time.monotonic()
        answer = sqlite_sender.raw(body, Content_Encoding="gzip")
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert answer.status in (413, 400) and (answer.status == 413 or body not in (bomb, members))
        assert peak < 3 * limit and time.monotonic() - begun < 5
    assert sqlite_sender.send(EVENT).status == 202


def test_limits_of_a_body(sender_with: Any) -> None:
    """The limit holds for what comes, however long it says to be."""
    sender = sender_with(ingest__max_body_bytes=2000, ingest__max_unpacked_bytes=4000)
    big = json.dumps({"message": "x" * 5000}).encode()
    assert sender.raw(big).status == 413
    assert sender.raw(gzip.compress(big), Content_Encoding="gzip").status == 413
    assert sender.raw(json.dumps({"message": "x" * 1500}).encode()).status == 202
    client, headers = sender.client, {"Content-Type": "application/json", "X-Service-Ingest-Key": sender.key}
    for length in ("-1", "abc"):
        assert client.request("POST", "/?api=ingest", big, headers, CONTENT_LENGTH=length).status == 400
    chunked = {"CONTENT_LENGTH": "", "wsgi.input_terminated": True}
    assert client.request("POST", "/?api=ingest", big, headers, **chunked).status == 413


def test_the_number_of_events(sqlite_sender: Any) -> None:
    assert sqlite_sender.send([]).status == 422
    assert sqlite_sender.raw(b"", None).status == 422
    assert sqlite_sender.send({"events": [EVENT] * 501}).status == 422
    assert sqlite_sender.send({"events": {"message": "a"}}).status == 422
    assert sqlite_sender.accepted([EVENT] * 500)["accepted"] == 500


def test_each_event_is_judged_alone(sqlite_sender: Any) -> None:
    body = sqlite_sender.accepted([EVENT, {"message": " \t"}, {"message": "other"}])
    assert (body["accepted"], body["dropped"]) == (2, 1)
    assert body["errors"] == [{"index": 1, "error": "message: must not be blank"}]
    refused = sqlite_sender.send([{}, 1, {"message": 5}])
    assert refused.status == 422
    assert refused.error.split("; ") == [
        "events[0].message: is required",
        "events[1]: must be an object",
        "events[2].message: must be a text",
    ]
    many = sqlite_sender.accepted([EVENT, *[{}] * 30])
    assert (many["dropped"], len(many["errors"])) == (30, 20)


@pytest.mark.parametrize(
    "body",
    [b'{"message":', b'{"message":NaN}', b'{"message":"a","message":"b"}', b"[" * 5000, b'{"message":"a"} x'],
)
def test_malformed_json(sqlite_sender: Any, body: bytes) -> None:
    answer = sqlite_sender.raw(body)
    assert answer.status == 400 and answer.error


def test_deep_and_wide_events(sqlite_sender: Any) -> None:
    """Cut with a note, at once."""
    deep: Any = "end"
    for _ in range(100):
        deep = {"a": deep}
    wide = {f"key {n}": n for n in range(10_000)}
    begun = time.process_time()  # the other processes of the machine take no part
    assert sqlite_sender.accepted([{"message": "deep", "context": deep}, {"message": "wide", "context": wide},
                                   {"message": "long", "context": {"k" * 100_000: 1}}])["accepted"] == 3  # fmt: skip
    assert time.process_time() - begun < 1
    by_title = {issue["title"]: issue for issue in sqlite_sender.issues()}
    assert "nested deeper than 16" in by_title["deep"]["sample_context"]
    texts = [sqlite_sender.text(row["id"])["content"] for row in sqlite_sender.occurrences()]
    assert "[cut: more than 1000 keys]" in texts[1] and texts[1].count('"key ') == 1000
    assert len(texts[2]) < 1000
    assert all(row["truncated"] for row in sqlite_sender.occurrences())
    for _ in range(100):
        deep = {"a": deep}
    assert sqlite_sender.send({"message": "deeper", "context": deep}).status == 400
