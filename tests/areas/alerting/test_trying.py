"""Dry runs: what a rule would have sent in the last seven days; nothing is sent."""

from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.plugins.alerting import tables as own
from snaglist.plugins.issues import tables


def ago(minutes: float) -> str:
    return times.add(times.now(), seconds=-60 * minutes)


def tried(site: Any, trigger: str, **fields: Any) -> dict[str, Any]:
    rule = site.rule(trigger, **fields)
    answer = site.client.post("alert-test", {"rule_id": rule["id"]})
    assert answer.status == 200, answer.text
    assert site.rows(own.outbox) == [] and site.rows(own.state) == []
    assert answer.json["rule_id"] == rule["id"] and answer.json["window_days"] == 7
    site.client.delete("alert-rules", {"id": rule["id"]})
    return dict(answer.json)


@pytest.mark.servers
def test_new_errors(site: Any) -> None:
    long_ago, recent = ago(60 * 24 * 8), ago(60 * 24 * 2)
    site.store("Long known", at=long_ago)
    site.store("Long known", at=recent)
    issue = site.store("Order 1 failed", at=recent)[0]
    site.store("Order 2 failed", at=ago(60))
    found = tried(site, "new_error")
    item = {"at": recent, "group_id": issue, "severity": "ERROR", "title": "Order 2 failed", "count": 2}
    assert (found["would_fire"], found["items"], found["truncated"]) == (1, [item], False)
    assert tried(site, "new_error", min_count=2)["items"][0]["at"] > recent
    assert tried(site, "new_error", severities=["ALERT"])["would_fire"] == 0
    assert tried(site, "new_error", environment="staging")["would_fire"] == 0


@pytest.mark.servers
def test_users(site: Any) -> None:
    for day, user in ((9, "jo"), (8, "ana"), (3, "jo"), (2, "kim"), (1, "lee")):
        issue = site.store("Checkout failed", at=ago(60 * 24 * day), user=user)[0]
    third = site.client.get("events", id=issue, user="kim").json["data"][0]["occurred_at"]
    found = tried(site, "users", min_count=3)
    assert [(item["group_id"], item["at"]) for item in found["items"]] == [(issue, third)]
    assert tried(site, "users", min_count=2)["would_fire"] == 0  # longer ago
    assert tried(site, "users", min_count=5)["would_fire"] == 0
    assert tried(site, "users", min_count=4, severities=["ALERT"])["would_fire"] == 0
    channel = site.client.get("alert-channels").json["data"][0]["id"]
    rule = {"name": "x", "channel_id": channel, "trigger_type": "users", "min_count": 10_001}
    answer = site.client.post("alert-rules", rule)
    assert answer.status == 422 and "min_count" in answer.text


@pytest.mark.servers
def test_reoccurrences(site: Any) -> None:
    issue = site.store("Queue stuck", at=ago(120))[0]
    site.client.post("issue-status", {"id": issue, "status": "fixed"})
    site.change(tables.issues, fixed_at=ago(30))
    site.store("Queue stuck")
    assert [item["group_id"] for item in tried(site, "reoccurrence")["items"]] == [issue]


@pytest.mark.servers
def test_thresholds_with_their_cooldown(site: Any) -> None:
    for minutes in (600, 599, 598, 597, 300, 100, 99, 98):
        site.store("Slow query", at=ago(minutes))
    found = tried(site, "threshold", min_count=3, window_minutes=5)
    assert found["would_fire"] == 2
    assert found["items"] == sorted(found["items"], key=lambda item: item["at"], reverse=True)
    assert tried(site, "threshold", min_count=3, window_minutes=5, cooldown_minutes=0)["would_fire"] == 3
    assert tried(site, "threshold", min_count=3, window_minutes=5, cooldown_minutes=10_080)["would_fire"] == 1


def test_spikes(site: Any) -> None:
    for hour in range(1, 24):
        site.store("Timeout", at=ago(60 * hour + 30))
    assert tried(site, "spike", min_count=3)["would_fire"] == 0
    site.store("Timeout", "Timeout", "Timeout", at=ago(5))
    assert tried(site, "spike", min_count=3)["would_fire"] == 1


@pytest.mark.servers
def test_heartbeats(site: Any) -> None:
    assert tried(site, "heartbeat")["would_fire"] == 0
    site.store("Alive")
    assert tried(site, "heartbeat", source="app.log")["would_fire"] == 0
    site.change(tables.occurrences, received_at=ago(90))
    [item] = tried(site, "heartbeat", source="app")["items"]
    assert item["group_id"] is None and item["severity"] is None
    assert tried(site, "heartbeat", source="other")["would_fire"] == 0


@pytest.mark.parametrize("limit", ["MAX_ISSUES", "MAX_EVENTS"])
def test_what_is_too_much_is_said(sqlite_site: Any, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    from snaglist.plugins.alerting.trying import history

    sqlite_site.store("One", "Two", "Three")
    assert tried(sqlite_site, "new_error")["truncated"] is False
    monkeypatch.setattr(history, limit, 2)
    assert tried(sqlite_site, "new_error")["truncated"] is True


def test_at_most_a_hundred_are_listed(sqlite_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from snaglist.plugins.alerting.trying import handlers

    assert handlers.MAX_ITEMS == 100
    monkeypatch.setattr(handlers, "MAX_ITEMS", 2)
    sqlite_site.store("One", "Two", "Three")
    found = tried(sqlite_site, "new_error")
    assert (found["would_fire"], len(found["items"]), found["truncated"]) == (3, 2, True)
