"""`tracker-webhook`: who is let in, and what is done once."""

import base64
import gzip
import hashlib
import hmac
import io
import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from snaglist.kernel import BadRequest, times
from snaglist.plugins.tracker import Delivery, Item
from snaglist.plugins.tracker import settings as tracker_settings
from snaglist.plugins.tracker.providers import BUILT_IN
from snaglist.plugins.tracker.signatures import is_genuine, is_standard, is_usable, seconds
from snaglist.plugins.tracker.storing import store
from snaglist.plugins.tracker.tables import deliveries

SECRET = "s3cr3t-key"
CASES = {
    case["id"]: case
    for line in (Path(__file__).parents[2] / "cases" / "webhooks.jsonl").read_text(encoding="utf-8").splitlines()
    for case in [json.loads(line)]
}
RAW = base64.b64decode(CASES["WH-01"]["input_b64"])
RIGHT, REFUSED = CASES["WH-01"]["checks"]["hmac_sha256_hex"], CASES["WH-01"]["checks"]["refuse_hex"]


def hexed(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@pytest.fixture
def github(site_with: Callable[..., Any]) -> Any:
    return site_with("github")


# -- signatures


def test_wh_01_the_raw_bytes_are_signed(github: Any) -> None:
    assert hexed(RAW) == RIGHT
    for header in ("X-Service-Signature", "X-Hub-Signature-256"):
        answer = github.webhook(RAW, {header: f"sha256={RIGHT}"})
        assert answer.status == 200 and answer.json["status"] == "ignored"
        assert github.webhook(RAW, {header: f"sha256={REFUSED}"}).status == 401


def test_wh_02_bad_headers_are_401(github: Any) -> None:
    answers = []
    values = [
        None, "", "sha256=", f"sha256={'0' if RIGHT[0] != '0' else '1'}{RIGHT[1:]}", f"sha256={RIGHT[:10]}", RIGHT[:10],
        "sha256=" + "z" * 64, "sha256=é" + RIGHT[1:], "é" * 64, f"sha256={REFUSED},sha256={REFUSED}",
        "sha256=" + hmac.new(SECRET.encode(), RAW, hashlib.sha1).hexdigest(), "sha1=" + RIGHT, "sha256=sha256=" + RIGHT,
        f"sha256={RIGHT}0", f"sha256={RIGHT}\n", "٣" * 64,
    ]  # fmt: skip
    for value in values:
        for name in ("X-Service-Signature", "X-Hub-Signature-256"):
            if value is not None and value.strip() == f"sha256={RIGHT}":
                continue
            answers.append(github.webhook(RAW, {} if value is None else {name: value}))
    assert {answer.status for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert github.webhook(RAW, {"X-Service-Signature": RIGHT.upper()}).status == 200


def test_wh_03_without_a_secret_nobody_is_let_in(github: Any) -> None:
    empty = hmac.new(b"", RAW, hashlib.sha256).hexdigest()
    github.settings(webhook_secret="")
    assert github.webhook(RAW, {"X-Service-Signature": empty}).status == 401
    assert not github.client.get("tracker-settings").json["webhook_configured"]


def test_wh_03_nor_with_one_of_blanks(site_with: Callable[..., Any]) -> None:
    site = site_with("github", settings=False, tracker__webhook_secret="   ")
    site.settings(webhook_secret="")
    for secret in ("", "   "):
        assert site.webhook(RAW, {"X-Service-Signature": hexed(RAW, secret)}).status == 401


def test_every_refusal_is_the_same(github: Any) -> None:
    signed = {"X-Service-Signature": f"sha256={RIGHT}"}
    refused = [
        github.webhook(RAW, {}),
        github.webhook(RAW, {"X-Service-Signature": "sha256=00"}),
        github.webhook(RAW, signed, app="gone"),
        github.webhook(RAW, {"Linear-Signature": RIGHT}),
        github.webhook(RAW, {"X-Hub-Signature": f"sha256={RIGHT}"}),
        github.webhook(RAW, {"X-Gitlab-Token": SECRET}),
        github.webhook(RAW, {"X-Service-Token": "x", "Origin": "http://evil.example"}),
    ]
    github.client.patch("tracker-settings", {"enabled": False})
    refused.append(github.webhook(RAW, signed))
    assert {answer.status for answer in refused} == {401}
    assert len({answer.content for answer in refused}) == 1, [answer.text for answer in refused]


def test_neither_key_nor_origin_count(github: Any) -> None:
    headers = {"X-Service-Signature": RIGHT, "Origin": "http://evil.example", "X-Service-Token": "wrong"}
    assert github.webhook(RAW, headers).status == 200


def test_the_order_of_checks(github: Any) -> None:
    send = github.client.request
    assert send("GET", "/?api=tracker-webhook").status == 405
    large = b" " * 1_048_577
    assert send("POST", "/?api=tracker-webhook", large).status == 413
    assert send("POST", "/?api=tracker-webhook&app=gone", large).status == 413
    for body, status in ((b"{", 400), (b"[1]", 422), (b'{"a":NaN}', 400), (b"", 400)):
        assert github.webhook(body, {"X-Service-Signature": hexed(body)}).status == status, body
        assert github.webhook(body, {"X-Service-Signature": "0" * 64}).status == 401, body
    github.client.post("plugins", {"id": "tracker", "enabled": False})
    assert send("POST", "/?api=tracker-webhook", large).status == 404


def test_wh_09_packed_is_refused_chunked_is_taken(github: Any) -> None:
    packed = gzip.compress(RAW)
    headers = {"X-Service-Signature": hexed(packed), "Content-Encoding": "gzip"}
    assert github.webhook(packed, headers).status == 415
    stream = {"wsgi.input": io.BytesIO(RAW), "wsgi.input_terminated": True}
    signed = {"X-Service-Signature": RIGHT}
    assert github.client.request("POST", "/?api=tracker-webhook", b"", signed, **stream).status == 200


# -- age


@pytest.mark.parametrize(("age", "status"), [(0, 202), (-290, 202), (290, 202), (-310, 401), (310, 401)])
def test_linear_says_when_it_was_sent(site_with: Callable[..., Any], age: int, status: int) -> None:
    site = site_with("linear")
    item = site.double.add("One")
    document = site.double.notification(item) | {"webhookTimestamp": int((time.time() + age) * 1000)}
    assert site.webhook(document).status == status
    del document["webhookTimestamp"]
    assert site.webhook(document).status == 401
    body = json.dumps(document).encode()
    assert site.webhook(body, {"X-Service-Signature": hexed(body)}).status == 202


@pytest.mark.parametrize("age", [-310, 310])
def test_gitlab_signs_when_it_was_sent(site_with: Callable[..., Any], age: int) -> None:
    site = site_with("gitlab")
    body = json.dumps(site.double.notification(site.double.add("One"))).encode()

    def headers(stamp: str, secret: bytes = SECRET.encode(), given: str | None = None) -> dict[str, str]:
        signed = hmac.digest(secret, f"m.{stamp}.".encode() + body, "sha256")
        value = f"v1,{base64.b64encode(signed).decode()}"
        return {"webhook-id": "m", "webhook-timestamp": given or stamp, "webhook-signature": f"v1a,x {value}"}

    now = str(int(time.time()))
    assert site.webhook(body, headers(str(int(time.time()) + age))).status == 401
    assert site.webhook(body, headers(now, given=str(int(now) + 1))).status == 401
    assert site.webhook(body, headers(now)).status == 202
    site.settings(webhook_secret="")  # so that the one before is not taken
    site.settings(webhook_secret="whsec_" + base64.b64encode(b"0123456789abcdef").decode())
    assert site.webhook(body, headers(now)).status == 401
    assert site.webhook(body, headers(now, b"0123456789abcdef")).json["status"] == "duplicate"


def test_gitlabs_token_counts_only_when_allowed(site_with: Callable[..., Any]) -> None:
    site = site_with("gitlab", tracker__allow_gitlab_token=True)
    document = site.double.notification(site.double.add("One"))
    assert site.webhook(document, {"X-Gitlab-Token": SECRET}).status == 202
    for wrong in ("", "S3cr3t-key", SECRET + "x", "é"):
        assert site.webhook(document, {"X-Gitlab-Token": wrong}).status == 401


@pytest.mark.parametrize("sent_at", [None, 5, "yesterday", "2026-01-03 09:00:01"])
def test_generic_has_to_say_when_it_was_sent(site_with: Callable[..., Any], sent_at: Any) -> None:
    site = site_with("generic")
    document = {"id": "EXT-1", "title": "Refund fails", "sent_at": sent_at}
    assert site.webhook(document).status == 401
    assert site.webhook(document | {"sent_at": times.now()}).status == 202


@pytest.mark.parametrize("field", ["id", "title", "description", "assignee", "url"])
def test_texts_that_no_database_takes(site_with: Callable[..., Any], field: str) -> None:
    site = site_with("generic")
    document = {"id": "EXT-1", "title": "Refund fails", "labels": ["a\0"], "sent_at": times.now(), field: "x\0\ud800"}
    answer = site.webhook(document)
    assert answer.status == 202, answer.text
    site.run_jobs()
    assert site.job(answer.json["job_id"])["status"] == "succeeded" and len(site.issues()) == 1


def test_generic_takes_so_many_labels(site_with: Callable[..., Any]) -> None:
    site = site_with("generic")
    document = {"id": "EXT-1", "title": "Refund fails", "sent_at": times.now()}
    refused = site.webhook(document | {"labels": [f"label {n}" for n in range(51)]})
    assert (refused.status, refused.error) == (422, "labels: must be at most 50 texts")
    assert site.webhook(document | {"labels": [f"label {n}" for n in range(50)]}).status == 202
    site.run_jobs()
    assert len(site.client.get("tags").json["data"]) == 50


def test_a_body_that_nests_deeply(site_with: Callable[..., Any]) -> None:
    site = site_with("generic")
    head = json.dumps({"id": "EXT-1", "title": "Refund fails", "sent_at": times.now()})[:-1]
    deep = f'{head}, "x": {"[" * 127}{"]" * 127}}}'.encode()
    assert site.webhook(deep).status == 202
    deeper = f'{head}, "x": {"[" * 128}{"]" * 128}}}'.encode()
    refused = site.webhook(deeper)
    assert refused.status == 400 and refused.error == "The body nests too deeply."


# -- once


def test_wh_04_the_same_body_is_done_once(github: Any) -> None:
    item = github.double.add("Refund fails")
    document = github.double.notification(item)
    body = json.dumps(document).encode()
    headers = {"X-Hub-Signature-256": f"sha256={hexed(body)}"}
    first = github.webhook(body, headers | {"X-GitHub-Delivery": "1"})
    assert first.status == 202 and first.json["status"] == "queued"
    for name in ("1", "2"):
        again = github.webhook(body, headers | {"X-GitHub-Delivery": name})
        assert again.status == 200 and again.json == {"ok": True, "status": "duplicate", "job_id": None}
    github.run_jobs()
    assert len(github.double.asked("GET", "/issues/1$")) == 1


def test_wh_04_in_parallel_too(site: Any) -> None:
    item = site.double.add("Refund fails")
    body = json.dumps(site.double.notification(item)).encode()
    answers: list[Any] = []
    start = threading.Barrier(6)

    def send() -> None:
        start.wait()
        answers.append(site.webhook(body))

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = sorted((answer.status, answer.json["status"]) for answer in answers)
    assert found == [(200, "duplicate")] * 5 + [(202, "queued")]
    site.run_jobs()
    assert len(site.double.asked("GET", "/issues/1$")) == 1


def test_after_a_week_it_is_new(github: Any) -> None:
    from sqlalchemy import update

    body = json.dumps(github.double.notification(github.double.add("One"))).encode()
    assert github.webhook(body).status == 202
    for days, status in ((-6.9, 200), (-7.1, 202)):
        with github.service.call().transaction() as db:
            db.execute(update(deliveries).values(received_at=times.add(times.now(), days=days)))
        assert github.webhook(body).status == status
    assert len(github.rows(deliveries)) == 1


@pytest.mark.parametrize(
    ("provider", "document"),
    [
        ("linear", {"type": "Comment", "action": "create", "data": {"id": "x"}}),
        ("linear", {"type": "Issue", "action": "remove", "data": {"id": "x"}}),
        ("github", {"action": "created", "issue": {"number": 1}, "comment": {}, "repository": {"full_name": "a/b"}}),
        (
            "github",
            {"action": "opened", "issue": {"number": 1, "pull_request": {}}, "repository": {"full_name": "a/b"}},
        ),
        ("github", {"action": "opened", "issue": {"number": "../1"}, "repository": {"full_name": "a/b"}}),
        ("github", {"zen": "Speak like a human."}),
        ("gitlab", {"object_kind": "push"}),
        ("gitlab", {"object_kind": "issue", "project": {"path_with_namespace": "a/../b?"}, "object_attributes": {}}),
        ("jira", {"webhookEvent": "comment_created", "issue": {"id": "1"}}),
        ("jira", {"webhookEvent": "jira:issue_updated", "issue": {"id": "../1"}}),
        ("generic", {"event": "comment", "id": "EXT-1"}),
        ("generic", {"event": "issue", "id": 5}),
    ],
)
def test_other_kinds_are_ignored(site_with: Callable[..., Any], provider: str, document: dict[str, Any]) -> None:
    site = site_with(provider)
    stamps = {"webhookTimestamp": int(time.time() * 1000), "sent_at": times.now()}
    answer = site.webhook(document | stamps)
    assert answer.status == 200 and answer.json == {"ok": True, "status": "ignored", "job_id": None}, answer.text
    site.run_jobs()
    assert site.double.got == [] and site.issues() == []


def test_an_item_of_another_project_is_not_taken_in(github: Any) -> None:
    github.double.add("One", repository_url=f"{github.double.url}/repos/octo/other")
    assert github.webhook(github.double.notification(1)).status == 202
    github.run_jobs()
    assert github.issues() == []


def test_an_item_that_is_gone_changes_nothing(github: Any) -> None:
    item = github.double.add("One")
    document = github.double.notification(item)
    github.double.issues.clear()
    answer = github.webhook(document)
    github.run_jobs()
    assert github.job(answer.json["job_id"])["result"] == {"ok": True, "gone": True}


def test_a_tracker_that_is_away_is_asked_again(github: Any) -> None:
    doubles = __import__("tracker_doubles")
    item = github.double.add("One")
    github.double.fail = [doubles.Answer(503)]
    answer = github.webhook(github.double.notification(item))
    github.run_jobs()
    job = github.job(answer.json["job_id"])
    assert job["status"] == "queued" and job["error"] == "The tracker answered 503."
    github.retry_now()
    assert github.job(answer.json["job_id"])["status"] == "succeeded" and len(github.issues()) == 1


# -- secrets that prove nothing, and two at once

USELESS = ["whsec_", " whsec_ ", "whsec_====", "whsec_not base64", "whsec_MTIz NDU2Nzg=", "whsec_YQ==", "whsec_é", "x",
           "1234567", "       x"]  # fmt: skip


def forged(body: bytes, secret: str) -> list[dict[str, str]]:
    """What somebody sends who knows that the secret is worth nothing: signed with it, or with what it decodes to."""
    keys = {secret.strip(), "", secret.strip().removeprefix("whsec_"), "a"}
    stamp = str(int(time.time()))
    found = []
    for key in keys:
        digest = hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
        standard = base64.b64encode(hmac.digest(key.encode(), f"id1.{stamp}.".encode() + body, "sha256")).decode()
        headers = {"X-Service-Signature": digest, "Linear-Signature": digest, "X-Gitlab-Token": key}
        headers |= {"X-Hub-Signature-256": f"sha256={digest}", "X-Hub-Signature": f"sha256={digest}"}
        headers |= {"webhook-id": "id1", "webhook-timestamp": stamp, "webhook-signature": f"v1,{standard}"}
        found.append(headers)
    return found


@pytest.mark.parametrize("provider", sorted(BUILT_IN))
@pytest.mark.parametrize("secret", USELESS)
def test_a_secret_that_proves_nothing_is_never_saved_nor_taken(provider: str, secret: str) -> None:
    body = json.dumps({"sent_at": times.now(), "webhookTimestamp": int(time.time() * 1000)}).encode()
    for headers in forged(body, secret):
        given = delivery(body, headers)
        assert not is_genuine(BUILT_IN[provider], given, secret, time.time(), allow_token=True)


@pytest.mark.parametrize("secret", USELESS)
def test_a_secret_that_proves_nothing_is_refused(site_with: Callable[..., Any], secret: str) -> None:
    site = site_with("gitlab")
    for send in (site.client.patch, site.client.put):
        answer = send("tracker-settings", {"provider": "gitlab", "webhook_secret": secret})
        assert (answer.status, answer.error) == (
            422,
            "webhook_secret: must be a text of at least 8 characters, or whsec_ and the base64 of at least 8 bytes, "
            "or empty to clear it",
        )
    assert site.webhook(b"{}").status == 200, "what was stored stays"


def test_one_that_was_stored_before_lets_nobody_in(site_with: Callable[..., Any]) -> None:
    """Version 0.1.0 took it: anybody could send."""
    site = site_with("gitlab", tracker__allow_gitlab_token=True)
    call = site.service.call()
    with call.transaction() as db:
        stored = tracker_settings.load(db)
        sealed = {"webhook_secret": tracker_settings.seal(call, "webhook_secret", "whsec_")}
        tracker_settings.save(db, replace(stored, sealed={**stored.sealed, **sealed}))
        call.forget()
    for headers in forged(b"{}", "whsec_"):
        assert site.webhook(b"{}", headers).status == 401


@pytest.mark.parametrize("secret", ["whsec_", "x"])
def test_one_of_the_configuration_is_not_taken(site_with: Callable[..., Any], secret: str) -> None:
    site = site_with("gitlab", tracker__webhook_secret=secret)
    assert site.client.get("tracker-settings").json["webhook_secret_source"] == "stored"
    (warning,) = site.client.get("health").json["config_warnings"]
    assert warning.startswith(
        "tracker.webhook_secret: must be a text of at least 8 characters, or whsec_ and the base64"
    )


NEW = "another-key"


@pytest.mark.parametrize("provider", sorted(BUILT_IN))
def test_the_secret_before_is_taken_for_a_day(site_with: Callable[..., Any], provider: str) -> None:
    """Each side is changed when it suits: nothing that is sent meanwhile is refused."""
    site = site_with(provider)

    def sent(secret: str) -> int:
        stamps = {"webhookTimestamp": int(time.time() * 1000), "sent_at": times.now(), "n": secrets.token_hex(4)}
        body = json.dumps({"event": "test", **stamps}).encode()
        return int(site.webhook(body, secret=secret).status)

    assert [sent(SECRET), sent(NEW)] == [200, 401]
    shown = site.client.patch("tracker-settings", {"webhook_secret": NEW}).json
    until = times.add(shown["updated_at"], seconds=86_400)
    assert shown["webhook_secret_previous_until"] == until
    assert [sent(SECRET), sent(NEW), sent("a-third-key")] == [200, 200, 401]
    again = site.client.patch("tracker-settings", {"webhook_secret": NEW, "labels": ["x"]}).json
    assert again["webhook_secret_previous_until"] == until, "the same one again replaces nothing"
    assert [sent(SECRET), sent(NEW)] == [200, 200]
    call = site.service.call()
    with call.transaction() as db:
        past = times.add(call.now, seconds=-1)
        tracker_settings.save(db, replace(tracker_settings.load(db), webhook_secret_previous_until=past))
        call.forget()
    assert [sent(SECRET), sent(NEW)] == [401, 200]


def test_clearing_ends_both_secrets(github: Any) -> None:
    """One that leaked is cleared first, then the new one is set: nothing of before is taken."""
    body = b'{"zen": "x"}'
    github.client.patch("tracker-settings", {"webhook_secret": NEW})
    cleared = github.client.patch("tracker-settings", {"webhook_secret": ""}).json
    assert (cleared["webhook_configured"], cleared["webhook_secret_previous_until"]) == (False, None)
    github.client.patch("tracker-settings", {"webhook_secret": "a-third-key"})
    statuses = [github.webhook(body, secret=s).status for s in (SECRET, NEW, "a-third-key")]
    assert statuses == [401, 401, 200]


def test_both_secrets_are_sealed_and_go_with_the_provider(github: Any) -> None:
    github.client.patch("tracker-settings", {"webhook_secret": NEW})
    call = github.service.call()
    with call.transaction(write=False) as db:
        kept = tracker_settings.load(db)
    assert {"webhook_secret", "webhook_secret_previous"} < set(kept.sealed)
    assert SECRET not in str(kept) and NEW not in str(kept)
    changed = github.client.patch(
        "tracker-settings",
        {"provider": "linear", "endpoint_url": "", "webhook_secret": "a-third-key", "enabled": False},
    ).json
    assert changed["webhook_secret_previous_until"] is None


def test_two_secrets_of_the_configuration(site_with: Callable[..., Any]) -> None:
    config = {"tracker__webhook_secret": NEW, "tracker__previous_webhook_secret": "the-one-before"}
    site = site_with("github", settings=False, **config)
    site.client.put("tracker-settings", {"provider": "github", "project": "a/b", "api_key": "k", "enabled": True})
    body = b'{"zen": "x"}'
    statuses = [site.webhook(body, secret=s).status for s in (NEW, "the-one-before", SECRET)]
    assert statuses == [200, 200, 401]


# -- deliveries that are older than what is known


def generic(title: str, **fields: Any) -> dict[str, Any]:
    return {"id": "EXT-1", "event": "issue", "title": title, "sent_at": times.now(), **fields}


def test_an_older_delivery_changes_nothing(generic_site: Any) -> None:
    """On each database: out of order, or an old one signed and sent again."""
    site, now = generic_site, times.now()
    at = [times.add(now, seconds=-seconds) for seconds in (3000, 2000, 1000)]
    results = []
    for title, status, when in (("Second", "fixed", at[1]), ("First", "open", at[0]), ("Third", "in_progress", at[2]),
                                ("Second again", "fixed", at[1]), ("Third too", "in_progress", at[2])):  # fmt: skip
        answer = site.webhook(generic(title, status=status, updated_at=when, labels=[title]))
        assert answer.status == 202
        site.run_jobs()
        result = site.job(answer.json["job_id"])["result"]
        results.append((result["ok"], result["created"], result["updated"], result["outdated"]))
    assert results == [(True, 1, 0, 0), (True, 0, 0, 1), (True, 0, 1, 0), (True, 0, 0, 1), (True, 0, 1, 0)]
    (issue,) = site.issues()
    assert (issue["title"], issue["status"]) == ("Third too", "in_progress")
    assert {tag["name"] for tag in site.issue(issue["id"])["tags"]} == {"Third too"}


def test_a_time_ahead_does_not_hide_what_follows(site_with: Callable[..., Any]) -> None:
    site = site_with("generic")
    for title, when in (("Ahead", "2999-01-01 00:00:00"), ("Now", None)):
        site.webhook(generic(title, updated_at=when or times.now()))
        site.run_jobs()
    assert [issue["title"] for issue in site.issues()] == ["Now"]


def test_an_item_that_was_read_earlier_changes_nothing(vendor: Any) -> None:
    """Two workers read an item, and the one that read it first stores it last."""
    call = vendor.service.call(actor=None)
    with call.transaction(write=False) as db:
        settings_ = tracker_settings.load(db)
    now = times.now()
    old = Item("A-1", "A-1", "Old", "open", "open", now, times.add(now, seconds=-60))
    new = replace(old, title="New", updated_at=times.add(now, seconds=-30))
    for item, outdated in ((new, 0), (old, 1)):
        with call.transaction():
            assert store(call, settings_, [item], None, all_=True).outdated == outdated
    assert [issue["title"] for issue in vendor.issues()] == ["New"]


@pytest.mark.parametrize("secret", ["12345678", " 12345678 ", "whsec_MTIzNDU2Nzg="])
def test_eight_characters_or_bytes_are_a_secret(secret: str) -> None:
    assert is_usable(secret)


def test_what_is_no_base64_signs_nothing() -> None:
    assert not is_standard(delivery(b"{}", {"webhook-id": "1", "webhook-timestamp": "1"}), "whsec_no base64")


def test_a_token_does_not_count_unless_it_is_allowed() -> None:
    given = delivery(b"{}", {"X-Gitlab-Token": SECRET})
    assert is_genuine(BUILT_IN["gitlab"], given, SECRET, 0, allow_token=True)
    assert not is_genuine(BUILT_IN["gitlab"], given, SECRET, 0)


# -- the time of a delivery


@pytest.mark.parametrize(("now", "genuine"), [(1_300, True), (1_301, False), (700, True), (699, False)])
def test_five_minutes_to_both_sides(now: float, genuine: bool) -> None:
    body = json.dumps({"webhookTimestamp": 1_000_000}).encode()
    assert is_genuine(BUILT_IN["linear"], delivery(body, {"Linear-Signature": hexed(body)}), SECRET, now) is genuine


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0, 0.0), (-1, -1.0), (1.5, 1.5), ("1700000000", 1.7e9), ("9" * 15, 999_999_999_999_999.0), ("0" * 16, None),
        (10**15 - 0.5, 999_999_999_999_999.5), (10**15, None), (-(10**15), None), (10**400, None), ("9" * 5_000, None),
        (float("nan"), None), (True, None), (None, None), ([], None), ("", None), ("1.5", None), ("-1", None),
        ("٣", None),
    ],
)  # fmt: skip
def test_what_counts_as_seconds(value: Any, read: float | None) -> None:
    assert seconds(value) == read


# -- properties

TEXTS = st.text(max_size=80)
SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=8).filter(is_usable)
OWN = {"github": "X-Hub-Signature-256", "jira": "X-Hub-Signature", "linear": "Linear-Signature",
       "gitlab": "webhook-signature", "generic": "X-Service-Signature"}  # fmt: skip


def delivery(body: bytes, headers: dict[str, str]) -> Delivery:
    return Delivery(lambda name: headers.get(name, ""), body)


@given(st.sampled_from(sorted(BUILT_IN)), TEXTS, TEXTS, SECRETS)
@example("gitlab", "v1,", "", "whsec_é")
@example("github", "sha256=\udcff", "", "a-key-of-8")
def test_no_header_is_an_error_or_lets_in(provider: str, value: str, other: str, secret: str) -> None:
    body = b'{"a":1}'
    headers = {OWN[provider]: value, "X-Service-Signature": other, "webhook-id": other, "webhook-timestamp": value}
    if hexed(body, secret) in (value.lower().removeprefix("sha256="), other.lower().removeprefix("sha256=")):
        return
    assert not is_genuine(BUILT_IN[provider], delivery(body, headers), secret, time.time(), allow_token=True)


@given(st.binary(max_size=200), SECRETS, st.integers(0, 63))
@settings(suppress_health_check=[HealthCheck.filter_too_much])
def test_only_the_very_bytes_pass(tail: bytes, secret: str, place: int) -> None:
    kind, now = BUILT_IN["github"], 1_000.0
    body = json.dumps({"x": tail.hex()}).encode()
    right = hexed(body, secret)
    assert is_genuine(kind, delivery(body, {"X-Hub-Signature-256": f"sha256={right}"}), secret, now)
    assert is_genuine(kind, delivery(body, {"X-Service-Signature": right.upper()}), secret, now)
    wrong = right[:place] + ("0" if right[place] != "0" else "1") + right[place + 1 :]
    assert not is_genuine(kind, delivery(body, {"X-Hub-Signature-256": f"sha256={wrong}"}), secret, now)
    assert not is_genuine(kind, delivery(body + b" ", {"X-Hub-Signature-256": f"sha256={right}"}), secret, now)
    assert not is_genuine(kind, delivery(body, {"X-Hub-Signature-256": f"sha256={right}"}), secret + "x", now)


@given(st.binary(max_size=60))
def test_a_signed_body_that_is_no_json_is_told(body: bytes) -> None:
    signed = delivery(body, {"X-Hub-Signature-256": f"sha256={hexed(body)}"})
    try:
        json.loads(body)
    except ValueError:
        with pytest.raises(BadRequest):
            is_genuine(BUILT_IN["github"], signed, SECRET, 0)
