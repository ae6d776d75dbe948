"""What pushed events become: issues, tags, modules, texts, counters; on every database."""

import json
from typing import Any

import pytest

from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import Client

pytestmark = pytest.mark.servers

TRACE = """Traceback (most recent call last):
  File "/srv/app/pay.py", line 3, in charge
    gateway.send(order)
PayError: declined"""


def test_an_event_becomes_an_issue(sender: Any) -> None:
    sender.accepted(
        {"message": "Order 4711 failed", "level": "fatal", "timestamp": "2026-01-03T11:00:00+01:00", "channel": "Shop",
         "exception": "PayError", "stack": TRACE, "release": "v2", "server_name": "web-1", "environment": "staging",
         "context": {"order": 4711}, "tags": ["Payments", "payments", "Urgent"], "module": "Billing API",
         "event_id": "3F2504E0-4F89-41D3-9A0C-0305E82C3301"}
    )  # fmt: skip
    (issue,) = sender.issues()
    shown = {
        name: issue[name] for name in ("title", "severity", "environment", "log_type", "channel", "origin", "kind")
    }
    assert shown == {
        "title": "PayError: Order 4711 failed", "severity": "CRITICAL", "environment": "staging", "log_type": "http",
        "channel": "shop", "origin": "ingested", "kind": "error",
    }  # fmt: skip
    assert (issue["exception_class"], issue["source_frame"]) == ("PayError", "/srv/app/pay.py:3")
    assert (issue["module_name"], issue["module_slug"]) == ("Billing API", "billing-api")
    assert [(tag["name"], tag["source"]) for tag in issue["tags"]] == [("Payments", "ingest"), ("Urgent", "ingest")]
    assert (issue["sample_stack"], issue["sample_context"]) == (TRACE, '{"order":4711}')
    (row,) = sender.occurrences()
    text = f'PayError: Order 4711 failed\n{TRACE}\n{{"order":4711}}'
    assert (row["occurred_at"], row["time_source"], row["release"]) == ("2026-01-03 10:00:00", "event", "v2")
    assert row["level_source"] == "line"
    assert (row["event_id"], row["server_name"]) == ("3f2504e04f8941d39a0c0305e82c3301", "web-1")
    assert (row["byte_start"], row["byte_end"], row["path"]) == (0, len(text), "http-ingest/billing-api/shop")
    source = sender.text(row["id"])
    assert (source["content"], source["byte_end"], source["path"]) == (text, len(text), row["path"])
    (listed,) = sender.client.get("sources").json["data"]
    assert (listed["reading"], listed["remarks"]) == (None, [])
    assert (listed["path"], listed["size"], listed["occurrence_count"]) == (row["path"], 0, 1)


def test_equal_events_never_collide(sender: Any) -> None:
    """A thousand of one source, in one moment, and again after a reindex."""
    for _ in range(2):
        for _ in range(2):
            sender.accepted([{"message": "boom"}] * 250)
        sender.client.service.jobs.run_queued(sender.client.service.applications.all()[0])
        assert sender.client.post("reindex", {}, wait=True).status in (200, 202)
    (issue,) = sender.issues()
    assert (issue["count"], issue["stored_occurrences"]) == (1000, 1000)
    assert sender.count("occurrences") == sender.count("payloads") == 1000


def test_ids_are_stored_once(sender: Any) -> None:
    """With and without dashes, in a batch, in a retry; every application has its own."""
    dashed, plain = "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "3f2504e04f8941d39a0c0305e82c3301"
    first = sender.accepted([{"message": "boom", "event_id": dashed}, {"message": "boom", "event_id": plain}])
    again = sender.accepted({"message": "other text", "event_id": plain})
    assert (first["accepted"], first["duplicates"], again["accepted"], again["duplicates"]) == (1, 1, 0, 1)
    (issue,) = sender.issues()
    assert issue["count"] == 1
    client = sender.client
    assert client.post("applications", {"name": "Shop"}).status == 201
    other = type(sender)(client, "shop")
    assert other.key != sender.key
    assert other.accepted({"message": "boom", "event_id": plain})["accepted"] == 1
    assert other.send({"message": "boom"}, X_Service_Ingest_Key=sender.key).status == 401


def test_custom_grouping_within_the_module(sender: Any) -> None:
    sender.accepted(
        [{"message": "a", "fingerprint": ["x", "y"]}, {"message": "b", "fingerprint": "x|y"},
         {"message": "c", "fingerprint": "x|y", "module": "Billing"}]
    )  # fmt: skip
    assert sorted((issue["count"], issue["module_name"]) for issue in sender.issues()) == [(1, "Billing"), (2, None)]


def test_modules_are_found_by_slug_or_name(sender: Any) -> None:
    client = sender.client
    client.post("modules", {"name": "Billing API", "slug": "billing"})
    sender.accepted([{"message": "m", "module": name} for name in ("billing", "BILLING api", "Billing API", "Other")])
    assert [module["name"] for module in client.get("modules").json["data"]] == ["Billing API", "Other"]
    assert {row["path"] for row in client.get("sources").json["data"]} == {
        "http-ingest/billing/app", "http-ingest/other/app",
    }  # fmt: skip


def test_a_module_that_comes_again_after_it_was_deleted(sender: Any) -> None:
    """Its channels went elsewhere with its issues; the new module has channels of its own."""
    client = sender.client
    sender.accepted({"message": "m", "module": "Billing"})
    (module,) = client.get("modules").json["data"]
    assert client.delete("modules", {"id": module["id"], "move_to": None}).status == 200
    sender.accepted([{"message": "m", "module": "Billing"}, {"message": "m"}])
    assert sorted((issue["count"], issue["module_name"] or "") for issue in sender.issues()) == [
        (1, "Billing"),
        (2, ""),
    ]
    listed = client.get("sources").json["data"]
    assert sorted((row["path"], row["module_name"] or "") for row in listed) == [
        ("http-ingest/-/app", ""), ("http-ingest/billing/app", ""), ("http-ingest/billing/app", "Billing"),
    ]  # fmt: skip


def test_tags_taken_off_by_hand_stay_off(sender: Any) -> None:
    sender.accepted({"message": "boom", "tags": ["Bug"]})
    (issue,) = sender.issues()
    sender.client.post("issue-tags", {"group_id": issue["id"], "tag_id": issue["tags"][0]["id"], "action": "remove"})
    sender.accepted({"message": "boom", "tags": ["bug", "New"]})
    assert [tag["name"] for tag in sender.issues()[0]["tags"]] == ["New"]


def test_the_severity_settings_do_not_filter(sender: Any) -> None:
    sender.accepted({"message": "boom", "level": "debug"})
    assert sender.issues()[0]["severity"] == "DEBUG"


def test_old_events_and_fixed_issues(sender: Any) -> None:
    """A pushed event brings a fixed issue back."""
    sender.accepted({"message": "boom"})
    (issue,) = sender.issues()
    sender.client.post("issue-status", {"id": issue["id"], "status": "fixed"})
    sender.accepted({"message": "boom", "timestamp": "2024-03-22T10:00:00Z"})
    (issue,) = sender.issues()
    assert (issue["status"], issue["count"], issue["first_seen"]) == ("fixed", 2, "2024-03-22 10:00:00")


def test_every_event_shows_its_own_text(sender: Any) -> None:
    """Also when dictionaries are made on the way, and after a merge."""
    for n in range(20):
        sender.accepted(
            {"message": f"Order {n} failed", "exception": "PayError", "stack": TRACE.replace("declined", f"no {n}"),
             "context": {"n": n, "more": ["x" * 50] * n}}
        )  # fmt: skip
    (issue,) = sender.issues()
    assert sender.count("payload_dictionaries") == 1
    for n, row in enumerate(sender.occurrences()):
        shown = sender.client.get("error", id=issue["id"], occurrence=row["id"]).json
        assert shown["data"]["sample_message"] == f"PayError: Order {n} failed"
        assert shown["exceptions"][0]["message"] == f"no {n}"
        assert json.loads(shown["data"]["sample_context"])["n"] == n
        assert f"no {n}" in sender.text(row["id"])["content"]
    sender.accepted({"message": "another thing"})
    other = next(one for one in sender.issues() if one["id"] != issue["id"])
    merged = sender.client.post("bulk-issues", {"action": "merge", "ids": [issue["id"]], "target_id": other["id"]})
    assert merged.status == 200, merged.text
    assert "no 19" in sender.text(sender.occurrences()[19]["id"])["content"]


def test_grouping_again_keeps_texts_and_ids(sender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Re-grouped from the stored text; what the sender said of the event stays."""
    sender.accepted({"message": "boom", "timestamp": "2024-03-22T10:00:00Z", "context": {"a": "x" * 400},
                     "environment": "e" * 200, "level": "info", "event_id": "one", "server_name": "web-1"})  # fmt: skip
    (before,) = sender.occurrences()
    client: Client = sender.client
    assert client.post("reindex", {}, wait=True).json["kept"] == 0
    (after,) = sender.occurrences()
    assert after == before and before["truncated"]
    assert sender.count("payloads") == 1


def test_deleted_events_lose_their_text(sender: Any) -> None:
    """Texts of pushed events go with them, and `source` says so."""
    sender.accepted([{"message": f"boom {n}"} for n in range(3)])
    (row, *_) = sender.occurrences()
    deleted = sender.client.post("delete-logs", {"source_id": row["source_id"], "confirmation": "DELETE LOGS"})
    assert deleted.status == 200, deleted.text
    assert sender.count("occurrences") == sender.count("payloads") == 0
    assert sender.client.get("source", occurrence=row["id"]).status == 404


def test_a_text_that_is_gone(sqlite_sender: Any) -> None:
    sqlite_sender.accepted({"message": "boom"})
    (row,) = sqlite_sender.occurrences()
    call = sqlite_sender.client.service.call()
    with call.transaction() as db:
        db.execute(log_tables.payloads.delete())
    gone = sqlite_sender.client.get("source", occurrence=row["id"])
    assert (gone.status, gone.error) == (404, "Raw source is no longer available.")


def test_payloads_are_small(sqlite_sender: Any) -> None:
    """≤ 2 KB a stored 12 KB event is measured by benchmarks/ingest.py; here: the text packs well, and comes back."""
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))
    try:
        import senders  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    maker = senders.Sender(issues=1)
    for n in range(0, 40, 10):
        sqlite_sender.accepted([maker.event(n + more) for more in range(10)])
    call = sqlite_sender.client.service.call()
    with call.transaction(write=False) as db:
        bodies = [row.body for row in db.execute(log_tables.payloads.select())]
    assert sum(map(len, bodies[10:])) / 30 < 1200


def test_an_event_that_was_deleted_and_is_sent_again_is_a_duplicate_still(sender: Any) -> None:
    """By day and by source; events without an id, and new ones of the day, are stored."""
    day = "2026-01-03"
    events = [{"message": "failed", "event_id": f"id-{n}", "timestamp": f"{day} 10:00:0{n}"} for n in range(7)]
    assert sender.accepted(events)["accepted"] == 7
    for scope in ({"date": day}, {"source_id": 1}):
        answer = sender.client.post("delete-logs", {**scope, "confirmation": "DELETE LOGS"})
        assert answer.status == 200, answer.text
        again = sender.accepted([*events, {"message": "failed", "timestamp": f"{day} 11:00:00"}])
        assert (again["accepted"], again["duplicates"]) == (1, 7)
        fresh = sender.accepted({**events[0], "event_id": "new by " + "".join(scope)})
        assert (fresh["accepted"], fresh["duplicates"]) == (1, 0)
    (issue,) = sender.issues()
    assert issue["count"] == 7 + 4
