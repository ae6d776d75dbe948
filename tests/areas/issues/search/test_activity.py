"""`issue-activity`: issues by status and events over time, under the filters of the list."""

from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.plugins.issues.search import activity, bars, queries
from snaglist.plugins.issues.tables import occurrences
from snaglist.testing import Client

pytestmark = pytest.mark.servers


def statuses(answer: Any) -> dict[str, int]:
    """The statuses that issues have, with their number."""
    return {row["status"]: row["groups_count"] for row in answer["statuses"] if row["groups_count"]}


def events(answer: Any) -> dict[str, dict[str, int]]:
    """The events by level and by the hour at which their bar begins, bars without events left out."""
    return {
        row["severity"]: {
            times.add(answer["from"], seconds=at * answer["step"])[:13]: count
            for at, count in enumerate(row["counts"])
            if count
        }
        for row in answer["series"]
    }


def test_empty_application(client: Client) -> None:
    found = client.get("issue-activity").json
    assert [row["status"] for row in found["statuses"]] == ["open", "in_progress", "reoccurred", "fixed", "wont_fix"]
    assert (statuses(found), found["total"], found["last_seen"], found["series"]) == ({}, 0, None, [])
    assert found["step"] == 3600
    assert times.add(found["from"], seconds=24 * 3600) == found["to"]


def test_without_a_range_the_last_24_hours(client: Client, rows: Any) -> None:
    now = times.hour(times.now())
    before = times.add(now, seconds=-3600)
    rows.issue("a", [now, now, before, times.add(now, seconds=-86_400)], severity="ERROR")
    rows.issue("b", [now], severity="WARNING", status="fixed")
    found = client.get("issue-activity").json
    assert times.add(found["to"], seconds=-3600) == now
    assert events(found) == {"ERROR": {before[:13]: 1, now[:13]: 2}, "WARNING": {now[:13]: 1}}
    assert statuses(found) == {"open": 1, "fixed": 1}
    assert (found["total"], found["total_exact"], found["last_seen"], found["complete"]) == (2, True, now, True)


def test_statuses_are_counted_under_all_other_filters(client: Client, rows: Any) -> None:
    """Those of the status itself do not hold for them; they do for the total, the bars, and the last event."""
    day = "2026-01-03"
    rows.issue("gateway a", [f"{day} 10:00:00", f"{day} 11:00:00"], status="open")
    rows.issue("gateway b", [f"{day} 12:00:00"], status="fixed")
    rows.issue("mailer", [f"{day} 13:00:00"], status="fixed")
    found = client.get("issue-activity", q="gateway", status="fixed,wont_fix", date=day).json
    assert (statuses(found), found["total"]) == ({"open": 1, "fixed": 1}, 1)
    assert events(found) == {"ERROR": {f"{day} 12": 1}}
    assert found["last_seen"] == f"{day} 12:00:00"
    open_ones = client.get("issue-activity", status="open").json
    assert (statuses(open_ones), open_ones["total"]) == ({"open": 1, "fixed": 2}, 1)


def test_the_last_event_is_that_of_any_time(client: Client, rows: Any) -> None:
    """So that a range without events can say when there were some; what was made by hand has none."""
    rows.issue("gateway", ["2024-09-03 10:00:00"])
    rows.issue("mailer", ["2026-01-03 10:00:00"])
    rows.manual("gateway by hand", "2026-01-04 00:00:00")
    found = client.get("issue-activity", q="gateway", date="2025-01-01").json
    assert (found["total"], found["series"], found["last_seen"]) == (0, [], "2024-09-03 10:00:00")


@pytest.mark.parametrize(
    ("start", "end", "step", "first", "last"),
    [
        ("2026-01-05 08:00:00", "2026-01-08 08:00:00", 3600, "2026-01-05 08:00:00", "2026-01-08 08:00:00"),
        ("2026-01-05 08:00:00", "2026-01-12 09:00:00", 6 * 3600, "2026-01-05 06:00:00", "2026-01-12 12:00:00"),
        ("2025-12-08 08:00:00", "2026-01-07 09:00:00", 86_400, "2025-12-08 00:00:00", "2026-01-08 00:00:00"),
        ("2025-01-08 08:00:00", "2026-01-07 09:00:00", 7 * 86_400, "2025-01-06 00:00:00", "2026-01-12 00:00:00"),
    ],
)
def test_the_step_follows_the_range(
    client: Client, rows: Any, start: str, end: str, step: int, first: str, last: str
) -> None:
    """Whole bars, in UTC; weeks begin on Mondays."""
    rows.issue("a", ["2026-01-07 08:00:00", "2025-01-08 08:00:00"])
    found = client.get("issue-activity", **{"from": start, "to": end}).json
    assert (found["step"], found["from"], found["to"]) == (step, first, last)
    assert sum(sum(row["counts"]) for row in found["series"]) == (2 if start < "2025-02" else 1)
    assert all(times.add(first, seconds=step * len(row["counts"])) == last for row in found["series"])


def test_a_few_hours_are_counted_by_minutes(client: Client, rows: Any) -> None:
    """With the ends as they were asked for; the list counts by full hours."""
    rows.issue("a gateway", [f"2026-01-03 {at}" for at in ("09:10:00", "09:20:30", "09:20:59", "10:14:59", "10:20:00")])
    rows.issue("b", ["2026-01-03 09:58:00", "2026-01-03 11:00:00"], severity="WARNING")

    def minutes(start: str, end: str, **query: str) -> tuple[Any, ...]:
        span = {"from": f"2026-01-03 {start}", "to": f"2026-01-03 {end}"}
        found = client.get("issue-activity", **span, **query).json
        at = {row["severity"]: {n: many for n, many in enumerate(row["counts"]) if many} for row in found["series"]}
        return found["step"], found["from"][11:], found["to"][11:], at, found["complete"]

    one = {"ERROR": {0: 2, 54: 1}, "WARNING": {38: 1}}
    assert minutes("09:20:30", "10:15:00") == (60, "09:20:00", "10:15:00", one, True)
    assert minutes("09:20:30", "10:15:00", q="gateway") == (60, "09:20:00", "10:15:00", {"ERROR": one["ERROR"]}, True)
    several = {"ERROR": {26: 1, 28: 2, 38: 1, 40: 1}, "WARNING": {35: 1}}
    assert minutes("07:03:00", "11:00:00") == (300, "07:00:00", "11:00:00", several, True)
    assert minutes("03:00:00", "10:00:00")[0] == 3600
    listed = client.get("errors", **{"from": "2026-01-03 09:20:30", "to": "2026-01-03 10:15:00"}).json["data"]
    assert {issue["title"]: issue["count"] for issue in listed} == {"a gateway": 5, "b": 1}


def test_the_last_hour_ends_now(client: Client, rows: Any) -> None:
    now = times.now()
    rows.issue("a", [times.add(now, seconds=-seconds) for seconds in (30, 600, 3900)])
    found = client.get("issue-activity", **{"from": times.add(now, seconds=-3600)}).json
    assert (found["step"], sum(found["series"][0]["counts"])) == (60, 2)
    assert 60 <= len(found["series"][0]["counts"]) <= 62


def test_minutes_of_many_events_and_of_those_that_are_gone(
    client: Client, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest hours are read; where events are not stored any more, the hours that were counted are shown."""
    span = {"from": "2026-01-03 08:00:00", "to": "2026-01-03 10:00:00"}
    issue = rows.issue("a", [f"2026-01-03 {at}" for at in ("08:01:00", "08:02:00", "09:01:00")])
    monkeypatch.setattr(bars, "MOST_EVENTS", 2)
    found = client.get("issue-activity", **span).json
    assert (found["complete_from"], sum(found["series"][0]["counts"])) == ("2026-01-03 09:00:00", 1)
    monkeypatch.undo()
    with rows.service.call().transaction() as db:
        db.execute(
            occurrences.delete().where(occurrences.c.issue_id == issue, occurrences.c.occurred_at < "2026-01-03 09")
        )
    found = client.get("issue-activity", **span).json
    assert (found["step"], events(found)) == (3600, {"ERROR": {"2026-01-03 08": 2, "2026-01-03 09": 1}})


@pytest.mark.parametrize(
    "query",
    [
        {"to": "2026-01-04 00:00:00"},
        {"from": "0001-01-01 00:00:00", "to": "9999-12-31 00:00:00"},
        {"from": "2024-01-01 00:00:00"},
    ],
)
def test_an_open_or_endless_range_ends_with_the_events(client: Client, rows: Any, query: dict[str, str]) -> None:
    rows.issue("a", ["2026-01-03 08:00:00", "2026-01-02 08:00:00"])
    found = client.get("issue-activity", **query).json
    assert sum(sum(row["counts"]) for row in found["series"]) == 2
    assert found["from"] >= "2025-12"


@pytest.mark.parametrize("date", ["0001-01-01", "9999-12-31"])
def test_the_ends_of_the_calendar(client: Client, rows: Any, date: str) -> None:
    rows.issue("a", [f"{date} 23:00:00"])
    found = client.get("issue-activity", date=date).json
    assert (found["total"], sum(sum(row["counts"]) for row in found["series"])) == (1, 1)


def test_every_word_means_what_it_means_in_the_list(client: Client, rows: Any) -> None:
    """Each filter finds the issues of `errors`, however few are added up by their ids."""
    now = times.hour(times.now())
    tag, module = rows.tag("Payments"), rows.module("Billing", "billing")
    rows.issue("a gateway", [now, now], severity="CRITICAL", tags={tag: "rule"}, module_id=module, stack="at x")
    rows.issue("b", [{"at": now, "path": "/var/log/pay.log"}], environment="staging", log_type="python")
    rows.issue("c", [now] * 3, severity="WARNING", status="fixed", assigned_to_id="7", snooze_count=3)
    rows.manual("d", now, kind="bug", origin="manual")
    words = (
        {}, {"severity": "critical,warning"}, {"tag": "payments"}, {"tag": "none"}, {"module": "billing"},
        {"module": "none"}, {"log_type": "python"}, {"origin": "manual"}, {"kind": "bug"}, {"assignee": "7"},
        {"assignee": "none"},
        {"has_stack": "true"}, {"has_stack": "false"}, {"snoozed": "true"}, {"source": "pay.log"}, {"q": "gateway"},
        {"status": "fixed"}, {"status": "open", "severity": "critical"}, {"environment": "staging"}, {"q": "-gateway"},
    )  # fmt: skip
    for query in words:
        listed = client.get("errors", **query, **{"from": times.add(now, seconds=-3600)}).json
        found = client.get("issue-activity", **query, **{"from": times.add(now, seconds=-3600)}).json
        counted = sum(sum(row["counts"]) for row in found["series"])
        assert found["total"] == listed["meta"]["total"], query
        assert counted == sum(issue["count"] for issue in listed["data"]), query
        assert (
            client.get("issue-activity", **query).json["total"] == client.get("errors", **query).json["meta"]["total"]
        )


def test_many_issues_are_added_up_without_their_ids(client: Client, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity, "FEW_ISSUES", 2)
    monkeypatch.setattr(bars, "FEW_ISSUES", 2)
    test_every_word_means_what_it_means_in_the_list(client, rows)


def test_what_is_too_much_is_said(client: Client, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest hours are added up whole; issues are counted as far as the list counts them."""
    monkeypatch.setattr(activity, "FEW_ISSUES", 2)
    monkeypatch.setattr(bars, "FEW_ISSUES", 2)
    monkeypatch.setattr(bars, "MOST_HOURS", 4)
    monkeypatch.setattr(queries, "COUNTED", 3)
    for name in "abcd":
        rows.issue(f"Issue {name}", [f"2026-01-03 {hour}:00:00" for hour in ("08", "09")])
    found = client.get("issue-activity", date="2026-01-03", q="issue").json
    assert (found["complete"], found["complete_from"]) == (False, "2026-01-03 09:00:00")
    assert events(found) == {"ERROR": {"2026-01-03 09": 4}}
    assert (found["total"], found["total_exact"], found["statuses_exact"]) == (3, False, False)
    of_two = client.get("issue-activity", q="issue", status="fixed").json
    assert (of_two["total"], of_two["total_exact"], of_two["statuses_exact"]) == (0, True, False)
    assert client.get("issue-activity", date="2026-01-03").json["total_exact"] is False
    month = {"from": "2025-12-20 00:00:00", "to": "2026-01-10 00:00:00"}  # of all issues, days are counted already
    assert sum(client.get("issue-activity", **month).json["series"][0]["counts"]) == 8
    everything = client.get("issue-activity").json
    assert (everything["total"], everything["total_exact"]) == (4, True)


def test_what_was_not_changed_is_not_sent_again(sqlite_client: Client, sqlite_rows: Any) -> None:
    sqlite_rows.issue("a")
    answer = sqlite_client.get("issue-activity", date="2026-01-03")
    same = sqlite_client.request(
        "GET", "/?api=issue-activity&date=2026-01-03", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert same.status == 304


@pytest.mark.parametrize(
    ("name", "value"), [("severity", "loud"), ("status", "done"), ("from", "soon"), ("q", "x" * 501)]
)
def test_bad_values_are_refused_by_name(sqlite_client: Client, name: str, value: str) -> None:
    answer = sqlite_client.get("issue-activity", **{name: value})
    assert answer.status == 422
    assert answer.error.startswith(name)
