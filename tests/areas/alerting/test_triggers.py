"""When rules fire, on the three databases."""

from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.plugins.alerting import tables as own
from snaglist.plugins.issues import tables

pytestmark = pytest.mark.servers


def ago(minutes: float) -> str:
    return times.add(times.now(), seconds=-60 * minutes)


def test_a_new_issue_is_announced_once_and_old_ones_never(site: Any) -> None:
    site.store(*[f"Old trouble of kind {word}" for word in "abcdefghij"])
    site.change(tables.issues, created_at=ago(60))
    site.rule()
    site.store(*[f"Old trouble of kind {word}" for word in "abcdefghij"])
    assert site.events() == []
    new = site.store("Order 1 failed: gateway timeout")[0]
    site.store("Order 2 failed: gateway timeout")
    assert [(e["trigger_type"], e["status"], e["detail"]) for e in site.events()] == [
        ("new_error", "queued", "1 issue")
    ]
    assert site.deliver() == {"sent": 1}
    [got] = site.receiver.got
    assert [item["id"] for item in got.json["items"]] == [new]
    assert site.events()[0]["status"] == "sent"


def test_a_new_issue_may_need_several_events(site: Any) -> None:
    site.rule(min_count=3)
    site.store("Disk is full", "Disk is full")
    assert site.events() == []
    site.store("Disk is full", "Disk is full")
    site.store("Disk is full")
    assert len(site.events()) == 1


def test_a_rule_hears_of_issues_in_its_environment_when_they_get_there(site: Any) -> None:
    site.rule(environment="production", severities=["ERROR"])
    site.change(own.rules, started_at=ago(1))
    site.store("Payment declined", environment="staging")
    assert site.events() == []
    site.store("Payment declined", environment="production", severity="WARNING")
    assert site.events() == []
    site.store("Payment declined", environment="production")
    assert len(site.events()) == 1


def test_one_message_names_five_issues_and_counts_the_others(site: Any) -> None:
    site.rule()
    site.store(*[f"Trouble with {word}" for word in ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")])
    site.deliver()
    [got] = site.receiver.got
    assert got.json["summary"] == "7 new issues"
    assert (len(got.json["items"]), got.json["more"]) == (5, 2)
    assert [event["detail"] for event in site.events()] == ["7 issues"]


def test_tag_and_module_filters(site: Any) -> None:
    client = site.client
    tag = client.post("tags", {"name": "Money", "match_word": "invoice"}).json["id"]
    module = client.post("modules", {"name": "Billing"}).json["id"]
    channel = site.channel()["id"]
    site.rule(channel=channel, name="tagged", tag_id=tag)
    site.rule(channel=channel, name="billing", module_id=module)
    site.store("The invoice is late")
    site.store("The parcel is late")
    assert [event["rule_name"] for event in site.events()] == ["tagged"]
    shown = client.get("alert-rules").json["data"]
    assert [(r["tag_name"], r["module_slug"]) for r in shown] == [(None, "billing"), ("Money", None)]


def test_an_issue_that_comes_back_is_announced(site: Any) -> None:
    rule = site.rule("reoccurrence")
    issue = site.store("Queue stuck")[0]
    assert site.events() == []
    assert site.client.post("issue-status", {"id": issue, "status": "fixed"}).status == 200
    site.change(tables.issues, fixed_at=ago(1))
    site.store("Queue stuck")
    site.store("Queue stuck")
    assert [event["rule_id"] for event in site.events()] == [rule["id"]]


def test_many_users_are_announced_once(site: Any) -> None:
    site.rule("users", min_count=3, cooldown_minutes=0)
    for user in ("jo", "ana", "jo", None, "ana"):
        site.store("Checkout failed", user=user)
    assert site.events() == []
    issue = site.store("Checkout failed", "Checkout failed", user="kim")[0]
    assert [(event["trigger_type"], event["detail"]) for event in site.events()] == [("users", "1 issue")]
    for user in ("lee", "kim"):
        site.store("Checkout failed", user=user)
    assert len(site.events()) == 1
    site.deliver()
    [got] = site.receiver.got
    assert (got.json["summary"], [item["id"] for item in got.json["items"]]) == (
        "1 issue with 3 users or more",
        [issue],
    )


def test_users_of_before_the_rule_are_no_news(site: Any) -> None:
    site.store("Checkout failed", user="jo")
    site.store("Checkout failed", user="ana")
    site.change(tables.issues, created_at=ago(60))
    channel = site.rule("users", min_count=2)["channel_id"]
    site.rule("users", min_count=3, channel=channel, severities=["ALERT"])
    site.store("Checkout failed", user="kim")
    assert site.events() == []
    site.store("Payment failed", user="jo")
    site.store("Payment failed", user="ana")
    assert [event["detail"] for event in site.events()] == ["1 issue"]


def test_a_threshold_within_its_window(site: Any) -> None:
    site.rule("threshold", min_count=3, window_minutes=10, cooldown_minutes=30)
    site.store("Slow query", at=ago(25))
    site.store("Slow query", "Slow query", at=ago(11))
    assert site.events() == []
    site.store("Slow query", at=ago(10.5))
    assert len(site.events()) == 1
    site.store("Slow query", "Slow query", at=ago(2))  # within the cooldown
    assert len(site.events()) == 1


def test_the_window_is_exact_to_the_second(site: Any) -> None:
    start = times.now()[:14] + "00:50"  # late in a minute
    start = times.add(start, seconds=-3600)
    site.rule("threshold", min_count=2, window_minutes=1, cooldown_minutes=0)
    site.store("Flapping", at=start)
    site.store("Flapping", at=times.add(start, seconds=61))
    assert site.events() == []
    site.store("Flapping", at=times.add(start, seconds=120))
    assert len(site.events()) == 1


def test_a_burst_in_the_middle_of_an_import_is_seen(site: Any) -> None:
    site.rule("threshold", min_count=3, window_minutes=5)
    call_times = [ago(300), ago(200), ago(199), ago(198), ago(10)]
    for at in call_times:
        site.store("Burst", at=at)
    assert len(site.events()) == 1
    [fired] = site.rows(own.state)
    assert fired.last_fired_at == call_times[3]


def test_a_snooze_by_number_keeps_a_threshold_silent(site: Any) -> None:
    issue = site.store("Snoozed trouble")[0]
    site.rule("threshold", min_count=1, cooldown_minutes=0)
    answer = site.client.post("bulk-issues", {"action": "snooze", "ids": [issue], "count": 3})
    assert answer.status == 200, answer.text
    for _ in range(3):
        site.store("Snoozed trouble")
        assert site.events() == []
    site.store("Snoozed trouble")
    assert len(site.events()) == 1


def test_snoozed_and_unwanted_issues_are_silent(site: Any) -> None:
    snoozed, unwanted = site.store("Later", "Never")
    site.rule("threshold", cooldown_minutes=0)
    until = times.add(times.now(), seconds=3600)
    assert site.client.post("bulk-issues", {"action": "snooze", "ids": [snoozed], "until": until}).status == 200
    assert site.client.post("issue-status", {"id": unwanted, "status": "wont_fix"}).status == 200
    site.store("Later", "Never")
    assert site.events() == []


def test_a_spike_against_the_day_before(site: Any) -> None:
    site.rule("spike", spike_factor=3, min_count=2)
    site.change(own.rules, started_at=ago(60 * 24 * 2))
    for hour in range(2, 20):  # about one event an hour
        site.store("Timeout", at=ago(60 * hour))
    assert site.events() == []
    site.store("Timeout", "Timeout")
    assert site.events() == []
    site.store("Timeout", at=times.add(times.now(), seconds=1))
    assert len(site.events()) == 1


def test_a_steady_issue_does_not_spike_for_a_new_rule(site: Any) -> None:
    """Counters begin with the rule; what was there before is known by the hour."""
    for hour in range(2, 24):
        site.store(*["Steady"] * 4, at=ago(60 * hour))
    site.rule("spike", spike_factor=3)
    site.store(*["Steady"] * 4)
    assert site.events() == []
    site.store(*["Steady"] * 9, at=times.add(times.now(), seconds=1))
    assert len(site.events()) == 1


@pytest.mark.parametrize("trigger", ["new_error", "threshold"])
def test_old_events_and_those_read_again_alert_nobody(site: Any, trigger: str) -> None:
    site.rule(trigger)
    site.store("From the archive", at=ago(60 * 25))
    site.store("Read again", reoccur=False)
    assert site.events() == []
    site.store("Recent", at=ago(60 * 23))
    assert len(site.events()) == 1


def test_a_heartbeat_speaks_once_for_each_silence(site: Any) -> None:
    rule = site.rule("heartbeat", window_minutes=30, source="app.log")
    assert not site.due()
    site.change(own.rules, started_at=ago(31))
    assert site.due()
    assert site.evaluate()["heartbeats"] == 1
    assert site.evaluate()["heartbeats"] == 0
    site.store("Alive", channel="other.log", path="x/other.log")
    assert site.rows(own.rules)[0].last_event_at is None
    site.store("Alive")
    assert site.rows(own.rules)[0].last_event_at is not None
    assert site.evaluate()["heartbeats"] == 0
    site.change(own.rules, last_event_at=ago(31), last_triggered_at=ago(90))
    assert site.evaluate()["heartbeats"] == 1
    site.deliver()
    assert [got.json["summary"] for got in site.receiver.got] == ["No event from app.log for 30 minutes"] * 2
    assert {event["rule_id"] for event in site.events()} == {rule["id"]}


def test_a_rule_that_is_enabled_again_has_no_backlog(site: Any) -> None:
    rule = site.rule(enabled=False)
    site.store("While it was off")
    site.change(tables.issues, created_at=ago(1))
    assert site.client.patch("alert-rules", {"id": rule["id"], "enabled": True}).status == 200
    site.store("While it was off")
    assert site.events() == []
    site.store("While it is on")
    assert len(site.events()) == 1


def test_merged_and_unmerged_issues_are_no_news(site: Any) -> None:
    site.rule()
    one, other = site.store("First kind", "Second kind")
    assert len(site.events()) == 1
    assert site.client.post("bulk-issues", {"action": "merge", "ids": [other], "target_id": one}).status == 200
    site.store("Second kind")
    grouping = site.client.get("error", id=one).json["groupings"][1]["id"]
    answer = site.client.post("bulk-issues", {"action": "unmerge", "id": one, "grouping_id": grouping})
    assert answer.status == 200, answer.text
    site.change(own.rules, started_at=ago(60))
    site.store("First kind", "Second kind")
    assert len(site.events()) == 1


def test_counters_follow_a_merge_and_go_with_a_deletion(site: Any) -> None:
    site.rule("threshold", min_count=100)
    one, other = site.store("First kind", "Second kind", at=ago(1))
    site.client.post("bulk-issues", {"action": "merge", "ids": [other], "target_id": one})
    assert [(row.issue_id, row._mapping["count"]) for row in site.rows(own.minutes)] == [(one, 2)]
    body = {"action": "delete", "ids": [one], "confirmation": "DELETE ISSUES"}
    answer = site.client.post("bulk-issues", body)
    if answer.status == 422:
        body["confirmation"] = answer.error.split("exactly ")[-1]
        answer = site.client.post("bulk-issues", body)
    assert answer.status == 200, answer.text
    assert site.rows(own.minutes) == []


def test_a_failed_evaluation_loses_nothing(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from snaglist.plugins.alerting.evaluating import looking

    site.rule("new_error")
    site.rule("threshold", min_count=3)

    def fail(*_: Any) -> None:
        raise RuntimeError("broken")

    with monkeypatch.context() as broken:
        broken.setattr(looking, "look", fail)
        site.store("One", "Two")
        site.store("Two", "Two")
    assert site.events() == []
    assert len(site.client.get("errors").json["data"]) == 2
    assert site.due()
    site.evaluate()
    assert sorted((e["trigger_type"], e["detail"]) for e in site.events()) == [
        ("new_error", "2 issues"), ("threshold", "1 issue"),
    ]  # fmt: skip
    assert not site.due()
    site.store("One")
    assert len(site.events()) == 2


def test_long_past_hours_are_folded_and_then_forgotten(site: Any) -> None:
    site.rule("threshold", min_count=100)
    site.store("Counted", at=ago(1))
    [recent] = site.rows(own.minutes)
    folded, gone = times.hour(ago(60 * 30)), times.hour(ago(60 * 24 * 9))
    rows = [
        {"issue_id": recent.issue_id, "minute": minute, "severity": severity, "environment": "", "count": 2}
        for minute in (folded[:14] + "05:00", folded[:14] + "06:00", gone)
        for severity in ("ERROR", "ALERT")
    ]
    with site.service.call().transaction() as db:
        db.execute(own.minutes.insert(), rows)
    assert site.due()
    site.evaluate()
    left = [(row.minute, row.severity, row._mapping["count"]) for row in site.rows(own.minutes)]
    assert left == [(folded, "ALERT", 4), (folded, "ERROR", 4), (recent.minute, "ERROR", 1)]
    assert not site.due()
