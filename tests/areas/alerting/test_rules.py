"""Rules: their fields."""

from typing import Any

import pytest

DEFAULTS = {
    "severities": [], "module_id": None, "environment": None, "tag_id": None, "source": None, "min_count": 1,
    "spike_factor": 3, "window_minutes": 60, "cooldown_minutes": 60, "enabled": True,
}  # fmt: skip


@pytest.mark.servers
def test_making_changing_and_deleting(site: Any) -> None:
    client = site.client
    channel = site.channel()
    made = site.rule(channel=channel["id"], severities=["error", "ALERT", "ERROR"], min_count=5)
    assert made["severities"] == ["ALERT", "ERROR"] and made["channel_name"] == "Ops"
    assert made["channel_type"] == "webhook" and made["last_triggered_at"] is None
    other = site.rule("heartbeat", channel=channel["id"], source=" app.log ")
    assert other["source"] == "app.log"
    assert [rule["id"] for rule in client.get("alert-rules").json["data"]] == [other["id"], made["id"]]
    assert client.patch("alert-rules", {"id": made["id"], "min_count": 6}).json["severities"] == ["ALERT", "ERROR"]
    body = {"id": made["id"], "name": "Renamed", "channel_id": channel["id"], "trigger_type": "spike"}
    replaced = client.put("alert-rules", body).json
    assert {name: replaced[name] for name in DEFAULTS} == DEFAULTS and replaced["trigger_type"] == "spike"
    assert client.delete("alert-rules", {"id": made["id"]}).json == {"id": made["id"], "deleted": True}
    for answer in (client.delete("alert-rules", {"id": made["id"]}), client.put("alert-rules", body)):
        assert answer.status == 404 and answer.error


REFUSED = [
        {"name": " "}, {"name": "x" * 121}, {"name": None}, {"channel_id": 99}, {"channel_id": 0}, {"channel_id": "1"},
        {"trigger_type": "alarm"}, {"trigger_type": None}, {"severities": ["LOUD"]}, {"severities": "ERROR"},
        {"module_id": 99}, {"tag_id": 99}, {"environment": ""}, {"environment": "x" * 101}, {"source": "app.log"},
        {"min_count": 0}, {"min_count": 1_000_001}, {"min_count": 1.5}, {"spike_factor": 1.4}, {"spike_factor": 1001},
        {"window_minutes": 0}, {"window_minutes": 10_081}, {"cooldown_minutes": -1}, {"cooldown_minutes": 10_081},
        {"enabled": "true"},
]  # fmt: skip


def test_what_is_refused(sqlite_site: Any) -> None:
    channel, client = sqlite_site.channel()["id"], sqlite_site.client
    rule = sqlite_site.rule(channel=channel)
    for change in REFUSED:
        body = {"name": "x", "channel_id": channel, "trigger_type": "new_error", **change}
        changed = {**body, "id": rule["id"]}
        for answer in (
            client.post("alert-rules", body), client.put("alert-rules", changed), client.patch("alert-rules", changed),
        ):  # fmt: skip
            assert answer.status == 422 and answer.error.startswith(next(iter(change))), (change, answer.text)


@pytest.mark.parametrize("missing", ["name", "channel_id", "trigger_type"])
def test_what_is_needed(sqlite_site: Any, missing: str) -> None:
    body = {"name": "x", "channel_id": sqlite_site.channel()["id"], "trigger_type": "new_error"}
    del body[missing]
    assert sqlite_site.client.post("alert-rules", body).error == f"{missing}: is required"


@pytest.mark.parametrize("body", [{}, {"id": 1, "rule_id": 1}])
def test_trying_takes_one_thing(sqlite_site: Any, body: dict[str, Any]) -> None:
    assert sqlite_site.client.post("alert-test", body).error == "exactly one of id and rule_id is needed"
    assert sqlite_site.client.post("alert-test", {"id": 99}).status == 404
    assert sqlite_site.client.post("alert-test", {"rule_id": 99}).status == 404
    assert sqlite_site.client.post("alert-test", {"rule_id": 0}).status == 422
