"""Words of issues whose events do not all say the same: after a merge, and where learning joined messages."""

from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.plugins.issues import Event
from snaglist.plugins.issues.search import hits
from snaglist.testing import Client

pytestmark = pytest.mark.servers
TIMEOUTS, MAILS = 6, 40
NAMES = ("anna", "ben", "carla", "dmitri", "elif", "farid", "grete", "hugo", "ines", "jonas", "kaya", "luca")
DAY = {"from": "2026-01-03 00:00:00", "to": "2026-01-04 00:00:00"}


@pytest.fixture
def merged(desk: Any) -> Client:
    """A client of a database with one issue: of timeouts, and of mails an hour later."""
    timeouts = [
        Event(f"Payment gateway timeout for order {n}", occurred_at=f"2026-01-03 10:00:{n:02}") for n in range(TIMEOUTS)
    ]
    desk.store(*timeouts)
    desk.store(*(Event(f"Mailer refused letter {n}", occurred_at=f"2026-01-03 11:00:{n:02}") for n in range(MAILS)))
    client = Client(desk.service)
    mails, payments = (issue["id"] for issue in client.get("errors", sort="newest").json["data"])
    answer = client.post("bulk-issues", {"ids": [payments], "action": "merge", "target_id": mails})
    assert answer.status in (200, 202), answer.text
    return client


def told(client: Client, text: str, **span: str) -> tuple[Any, Any, Any]:
    """Return how many events the list, the chart and the events of the only issue found say have the words."""
    (issue,) = client.get("errors", q=text, **span).json["data"]
    chart = client.get("issue-activity", q=text, **span).json
    assert chart["counted"] == "matching"
    events = client.get("events", id=issue["id"], q=text, limit=200, **span).json
    assert events["meta"]["complete"] is True
    assert issue["matching"] is None or issue["matching"]["exact"] is True
    listed = issue["count"] if issue["matching"] is None else issue["matching"]["events"]
    return listed, sum(sum(row["counts"]) for row in chart["series"]), len(events["data"])


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("timeout", TIMEOUTS),
        ("timeout order", TIMEOUTS),
        ("timeo*", TIMEOUTS),
        ('"gateway timeout"', TIMEOUTS),
        ('"order 3"', 1),
        ("timeout 3", 1),
        ("3", 2),
        ("mailer", MAILS),
        ("mailer timeout", 0),
        ('value:"3"', 2),
        ("app.log", TIMEOUTS + MAILS),
    ],
)
def test_after_a_merge_all_count_the_same(merged: Client, text: str, events: int) -> None:
    assert told(merged, text, **DAY) == (events,) * 3


@pytest.mark.parametrize(("text", "early", "late"), [("timeout", TIMEOUTS, 0), ("mailer", 0, MAILS)])
def test_in_a_range_its_own_events_are_counted(merged: Client, text: str, early: int, late: int) -> None:
    """Also where the title of the issue has the word."""
    for hour, events in ((10, early), (11, late)):
        span = {"from": f"2026-01-03 {hour}:00:00", "to": f"2026-01-03 {hour + 1}:00:00"}
        (issue,) = merged.get("errors", q=text, **span).json["data"]
        assert issue["matching"] == {"events": events, "exact": True}
        assert merged.get("issue-activity", q=text, **span).json["counted"] == "matching"


def test_where_learning_joined_messages_all_count_the_same(desk: Any) -> None:
    """The first messages have the name as fixed text, later ones as a value."""
    for turn in range(3):
        desk.store(
            *(
                Event(f"Holiday calendar of {name} loaded", occurred_at=f"2026-01-03 10:{turn:02}:{at:02}")
                for at, name in enumerate(NAMES[: 4 + 4 * turn])
            )
        )
    client = Client(desk.service)
    assert len(client.get("errors").json["data"]) == 1
    for name, events in (("anna", 3), ("grete", 2), ("kaya", 1), ("calendar", 24), ("calendar ben", 3)):
        assert told(client, name, **DAY) == (events,) * 3, name
    (issue,) = client.get("errors", q="calendar").json["data"]
    assert issue["matching"] is None


def test_of_many_events_the_newest_are_looked_at(merged: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MOST", 20)
    monkeypatch.setattr(hits, "MOST_TIMES", 20)
    for text, events in (("timeout", 0), ("mailer", 20)):
        (issue,) = merged.get("errors", q=text).json["data"]
        assert issue["matching"] == {"events": events, "exact": False}
        chart = merged.get("issue-activity", q=text, **DAY).json
        assert (chart["counted"], sum(sum(row["counts"]) for row in chart["series"])) == ("all", TIMEOUTS + MAILS)


def test_issues_with_few_events_are_looked_at_first(desk: Any, merged: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.store(*(Event(f"Proxy timeout of host {n}", occurred_at=f"2026-01-03 12:00:{n:02}") for n in range(3)))
    desk.store(*(Event(f"Disk {n} is full", occurred_at=f"2026-01-03 12:10:{n:02}") for n in range(2)))
    disks, proxies = (issue["id"] for issue in merged.get("errors", limit=2).json["data"])
    assert merged.post("bulk-issues", {"ids": [disks], "action": "merge", "target_id": proxies}).status == 200
    monkeypatch.setattr(hits, "MOST", 20)
    found = {issue["id"]: issue["matching"] for issue in merged.get("errors", q="timeout").json["data"]}
    assert found.pop(proxies) == {"events": 3, "exact": True}
    assert list(found.values()) == [{"events": 0, "exact": False}]


@pytest.mark.parametrize(
    "text", ["103", 'value:"103"', "user:jo", 'value:"103" refused', "user:jo order", "refused 103"]
)
def test_hits_before_the_chart_are_not_all_events_of_the_issue(desk: Any, text: str) -> None:
    """None of the events in the chart has it: the last one that does is told instead."""
    now = times.now()
    old = times.add(now, days=-5)
    desk.store(Event("Order 103 was refused", occurred_at=old, user="jo"))
    desk.store(
        *(Event(f"Order {n} was refused", occurred_at=times.add(now, seconds=-n), user="al") for n in range(200, 230))
    )
    chart = Client(desk.service).get("issue-activity", q=text).json
    assert (chart["counted"], chart["series"], chart["last_seen"]) == ("matching", [], old)


def test_a_phrase_does_not_reach_across_a_value(desk: Any) -> None:
    desk.store(*(Event(f"Order {n} was refused", occurred_at=f"2026-01-03 10:00:{n:02}") for n in range(5)))
    client = Client(desk.service)
    assert client.get("errors", q='"order was"').json["data"] == []
    for text, events in (('"order 3 was"', 1), ('"was refused"', 5)):
        assert told(client, text, **DAY) == (events,) * 3


@pytest.mark.parametrize(("text", "matching"), [("103 206", {"events": 0, "exact": True}), ("fuse", None)])
def test_a_title_tells_of_its_own_event_alone(desk: Any, text: str, matching: Any) -> None:
    """The words of the latest event, which is not of that day; only parts of words are looked for in titles."""
    desk.store(
        *(
            Event(f"Order {100 + n} refused on node {200 + n}", occurred_at=f"2026-01-03 10:00:{n:02}")
            for n in range(10)
        ),
        Event("Order 103 refused on node 206", occurred_at="2026-01-05 10:00:00"),
    )
    client = Client(desk.service)
    (issue,) = client.get("errors", q=text, **DAY).json["data"]
    assert (issue["matching"], issue["count"]) == (matching, 10)
    chart = client.get("issue-activity", q=text, **DAY).json
    assert sum(sum(row["counts"]) for row in chart["series"]) == (10 if matching is None else 0)
