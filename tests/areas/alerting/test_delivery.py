"""Sending: what receivers get, and what becomes of it when they fail."""

import hashlib
import hmac
import json
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.plugins.alerting import tables as own
from snaglist.plugins.alerting.channels import contract
from snaglist.plugins.alerting.outbox import queueing
from snaglist.plugins.alerting.types import posting

SECRET = "a-signing-key"


def soon(site: Any) -> None:
    """Let all waiting messages be due, as if their time had come."""
    site.change(own.outbox, next_attempt_at=times.now())
    site.change(own.channels, retry_at=None)


def test_a_webhook_as_it_is_sent(site_with: Any) -> None:
    site = site_with(server__url="https://logs.example.com/")
    site.rule()
    issue = site.store("Order 4711 failed: gateway timeout", environment="production")[0]
    site.deliver()
    [got] = site.receiver.got
    signature = hmac.new(SECRET.encode(), got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-service-signature"] == f"sha256={signature}"
    assert got.headers["user-agent"] == f"snaglist/{site.service.version}"
    assert got.headers["content-type"] == "application/json"
    document = got.json
    assert got.headers["x-service-delivery"] == document["delivery"]
    assert times.parse(document.pop("sent_at"))
    assert len(document.pop("delivery")) == 36
    item = {
        "id": issue, "severity": "ERROR", "title": "Order 4711 failed: gateway timeout", "count": 1,
        "environment": "production", "url": f"https://logs.example.com/?view=issue&id={issue}&app=default",
    }  # fmt: skip
    assert document == {
        "trigger": "new_error", "rule": "New errors", "application": "default", "summary": "1 new issue",
        "items": [item], "more": 0, "url": "https://logs.example.com",
    }  # fmt: skip


@pytest.mark.servers
def test_failures_are_repeated_with_one_delivery_id(site: Any) -> None:
    site.receiver.answers = [500, 500, 200]
    channel = site.channel()
    site.rule(channel=channel["id"])
    site.store("Trouble")
    assert site.deliver() == {"retrying": 1}
    [event] = site.events()
    assert (event["status"], event["attempts"], event["detail"]) == ("retrying", 1, "HTTP 500")
    [shown] = site.client.get("alert-channels").json["data"]
    assert (shown["last_status"], shown["last_error"]) == ("failed", "HTTP 500")
    assert site.deliver() == {}  # not before its time
    soon(site)
    site.deliver()
    soon(site)
    assert site.deliver() == {"sent": 1}
    [event] = site.events()
    assert (event["status"], event["attempts"], event["detail"]) == ("sent", 3, "1 issue")
    assert event["finished_at"] is not None
    assert len({got.headers["x-service-delivery"] for got in site.receiver.got}) == 1
    [shown] = site.client.get("alert-channels").json["data"]
    assert (shown["last_status"], shown["last_error"]) == ("sent", None)


def test_the_pauses_double_up_to_an_hour_and_end_after_ten_attempts(sqlite_site: Any) -> None:
    sqlite_site.receiver.answers = [404]
    sqlite_site.rule()
    sqlite_site.store("Trouble")
    pauses = []
    for _ in range(9):
        before = times.now()
        sqlite_site.deliver()
        again = sqlite_site.rows(own.outbox)[0].next_attempt_at
        pauses.append(round((times.read(again) - times.read(before)).total_seconds()))
        soon(sqlite_site)
    for pause, wanted in zip(pauses, [30, 60, 120, 240, 480, 960, 1920, 3600, 3600], strict=True):
        assert wanted <= pause <= wanted + 5
    assert sqlite_site.deliver() == {"failed": 1}
    soon(sqlite_site)
    assert sqlite_site.deliver() == {}
    assert [(e["status"], e["attempts"]) for e in sqlite_site.events()] == [("failed", 10)]


def hang(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1.5)


def drip(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(30):
        handler.wfile.write(b"X-Slow: 1\r\n")
        handler.wfile.flush()
        time.sleep(0.05)


def garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"\x00\xff nonsense\r\n\r\n")
    handler.connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("answer", [hang, drip, garbage])
def test_a_channel_that_gives_no_answer_keeps_no_other_waiting(
    sqlite_site: Any, receivers: Any, answer: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posting, "TOTAL_SECONDS", 0.5)
    bad = receivers()
    bad.answers = [answer]
    silent = sqlite_site.channel("silent", url=bad.url)["id"]
    good = sqlite_site.channel("good")["id"]
    for channel in (silent, good):
        sqlite_site.rule(channel=channel)
    for kind in ("one", "two", "three"):
        sqlite_site.store(f"Trouble of the kind {kind}")
    started = time.monotonic()
    assert sqlite_site.deliver() == {"sent": 3, "retrying": 1}
    assert time.monotonic() - started < 3
    assert len(bad.got) == 1  # the other two messages wait with the first
    assert sqlite_site.deliver() == {}
    bad.answers = [200]
    soon(sqlite_site)
    assert sqlite_site.deliver() == {"sent": 3}


def test_a_redirect_is_not_followed(sqlite_site: Any, receivers: Any) -> None:
    elsewhere = receivers("127.0.0.2")

    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(307)
        handler.send_header("Location", elsewhere.url)
        handler.end_headers()

    sqlite_site.receiver.answers = [redirect]
    channel = sqlite_site.channel()["id"]
    assert sqlite_site.client.post("alert-test", {"id": channel}).json == {"ok": False, "detail": "HTTP 307"}
    assert elsewhere.got == []


def test_a_name_that_means_another_address_later(
    site_with: Any, receivers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: checked when saved, and at every use the connection goes to what was checked."""
    site = site_with(outbound__allow_private=["127.0.0.1/32"])
    forbidden = receivers("127.0.0.2")
    original, answers = socket.getaddrinfo, ["127.0.0.1", "127.0.0.2"]
    asked = []

    def resolve(host: str, port: int, *rest: Any, **named: Any) -> Any:
        if host == "hooks.test":
            asked.append(host)
            host = answers.pop(0) if len(answers) > 1 else answers[0]
        return original(host, port, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    made = site.channel("x", "slack", url=f"http://hooks.test:{site.receiver.port}/x")
    answer = site.client.post("alert-test", {"id": made["id"]}).json
    assert answer["ok"] is False and "not on the public internet" in answer["detail"]
    assert forbidden.got == site.receiver.got == []
    answers[:] = ["127.0.0.1"]
    asked.clear()
    assert site.client.post("alert-test", {"id": made["id"]}).json["ok"] is True
    assert len(asked) == 1  # resolved once: there is no second answer to believe
    assert site.receiver.got[0].headers["host"] == f"hooks.test:{site.receiver.port}"


def test_over_the_limit_of_an_hour_there_is_one_digest_per_channel(
    site_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = site_with(alerts__max_per_hour=2)
    site.rule(name="First")
    other = site.channel("Other")["id"]
    for number in ("one", "two", "three", "four"):
        site.store(f"Trouble of the kind {number}")
    site.rule(channel=other, name="Second")
    site.store("Trouble of the kind five")
    assert [e["status"] for e in site.events()] == ["queued", "queued", *["suppressed"] * 4]
    assert {e["detail"] for e in site.events() if e["status"] == "suppressed"} == {queueing.OVER_LIMIT}
    site.deliver()
    assert len(site.receiver.got) == 2
    assert not site.due()
    site.change(own.outbox, created_at=times.hour(times.add(times.now(), seconds=-3600)))
    assert site.due()
    site.evaluate()
    assert not site.due()
    site.evaluate()
    digests = [e for e in site.events() if e["trigger_type"] == "digest"]
    assert [(e["channel_name"], e["rule_id"]) for e in digests] == [("Ops", None), ("Other", None)]
    site.deliver()
    summaries = [got.json["summary"] for got in site.receiver.got if got.json["trigger"] == "digest"]
    assert sorted(text.split(" UTC: ")[1] for text in summaries) == ["First (3)", "Second (1)"]
    site.store("Trouble of the kind six")
    assert site.events()[-1]["status"] == "queued"  # a new hour


@pytest.mark.servers
def test_a_disabled_channel_gets_tests_only(site: Any) -> None:
    channel = site.channel()
    site.rule(channel=channel["id"])
    site.store("Queued before")
    assert site.client.patch("alert-channels", {"id": channel["id"], "enabled": False}).status == 200
    site.store("Stored while off")
    assert site.deliver() == {"suppressed": 1}
    assert [e["status"] for e in site.events()] == ["suppressed", "suppressed"]
    assert site.receiver.got == []
    assert site.client.post("alert-test", {"id": channel["id"]}).json == {"ok": True, "detail": "delivered"}
    assert [got.json["trigger"] for got in site.receiver.got] == ["test"]
    assert len(site.events()) == 2  # a test is not recorded


def test_messages_of_a_deleted_channel_end(site: Any) -> None:
    channel = site.channel()
    site.rule(channel=channel["id"])
    site.store("Trouble")
    site.client.delete("alert-channels", {"id": channel["id"]})
    assert site.deliver() == {"suppressed": 1}
    assert [(e["status"], e["channel_id"], e["detail"]) for e in site.events()] == [
        ("suppressed", None, "the channel was deleted")
    ]


@pytest.mark.servers
def test_messages_by_page_and_rule(site: Any) -> None:
    channel = site.channel()["id"]
    first, second = site.rule(channel=channel)["id"], site.rule(channel=channel, name="Second")["id"]
    for kind in ("one", "two", "three"):
        site.store(f"Trouble of the kind {kind}")
    page = site.client.get("alert-events", limit=2, page=2).json
    assert page["meta"] == {"total": 6, "page": 2, "limit": 2, "pages": 3}
    assert [e["rule_id"] for e in page["data"]] == [second, first]
    assert {e["rule_id"] for e in site.events(rule_id=second)} == {second}
    for bad in ({"page": 0}, {"limit": 201}, {"rule_id": 0}):
        assert site.client.get("alert-events", **bad).status == 422


def test_what_waits_is_sent_by_the_worker_at_once_and_repeated_by_schedule(
    tmp_path: Any, fresh_data: Any, receiver: Any
) -> None:
    from snaglist.testing import Client, running_service

    receiver.answers = [500, 200]
    config = {"outbound__allow_private": ["127.0.0.0/8"], "alerts__retry_seconds": 1}
    with running_service(fresh_data, schedules=True, **config) as service:
        client = Client(service)
        assert client.post("plugins", {"id": "alerting", "enabled": True}).status == 200
        channel = client.post("alert-channels", {"name": "x", "type": "webhook", "url": receiver.url}).json["id"]
        body = {"name": "x", "channel_id": channel, "trigger_type": "new_error"}
        assert client.post("alert-rules", body).status == 201
        assert client.post("plugins", {"id": "ingest", "enabled": True}).status == 200
        key = client.get("ingest-settings").json["key"]
        headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
        sent = client.request("POST", "/?api=ingest", json.dumps({"message": "Pushed"}).encode(), headers)
        assert sent.status == 202
        receiver.wait(2)
        until = time.monotonic() + 5
        while client.get("alert-events").json["data"][0]["status"] != "sent" and time.monotonic() < until:
            time.sleep(0.02)
        assert client.get("alert-events").json["data"][0]["status"] == "sent"


def test_the_limits_of_time() -> None:
    assert (contract.CONNECT_SECONDS, contract.TOTAL_SECONDS) == (5.0, 10.0)
