"""Events of issues, found by what they hold: alike on the three databases."""

import csv
import io
import json
from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.plugins.issues import Event, ExceptionInfo, Frame, reread_events
from snaglist.plugins.issues.search import activity, finding, hits
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.storing import Unstored
from snaglist.testing import Client

pytestmark = pytest.mark.servers
STACK = [Frame("charge", "/srv/shop/payment.py", 57), Frame("pay", "/srv/shop/orders.py", 12)]


def events() -> list[Event]:
    """Payments of orders that fail, mails that bounce, and a trace."""
    found = [
        Event(
            f"Payment of order {52040 + n} failed: gateway timeout after {1000 + n * 100} ms on web-{n % 3}",
            occurred_at=f"2026-01-03 10:00:{n:02}",
            context=json.dumps({"gateway": "cards", "user_id": n % 4, "ratio": n / 8}),
            server_name=f"host-{n % 2}",
            release="v1" if n < 10 else "v2",
        )
        for n in range(20)
    ]
    found += [
        Event(f"Mail to user{n}@example.com bounced", occurred_at=f"2026-01-03 11:00:{n:02}", user=f"user{n}")
        for n in range(5)
    ]
    raised = ExceptionInfo("CardError", "card 77 refused", STACK)
    text = 'File "/srv/shop/payment.py", line 57, in charge'
    return [*found, Event("Checkout broke", exceptions=[raised], stack=text, occurred_at="2026-01-03 12:00:00")]


@pytest.fixture
def shop(desk: Any) -> Client:
    """A client of a database with the events."""
    desk.store(*events())
    desk.check_counters()
    return Client(desk.service)


PAYMENT, MAIL, BROKE = "Payment of order", "Mail to user", "Checkout broke"


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("52045", {PAYMENT: 1}),
        ("timeout 52045", {PAYMENT: 1}),
        ("web-2", {PAYMENT: 6}),
        ("5204*", {PAYMENT: 10}),
        ('"order 52045 failed"', {PAYMENT: 1}),
        ('"gateway timeout"', {PAYMENT: None}),
        ('value:"52045"', {PAYMENT: 1}),
        ('value:"1500 ms"', {PAYMENT: 1}),
        ('value:"cards"', {PAYMENT: 20}),
        ('value:"1500"', {}),
        ("user:2", {PAYMENT: 5}),
        ("user:user3", {MAIL: 1}),
        ("user3@example.com", {MAIL: 1}),
        ("host-1", {PAYMENT: 10}),
        ("stack:charge", {BROKE: None}),
        ('File "/srv/shop/payment.py", line 57, in charge', {BROKE: None}),
        ("CardError", {BROKE: None}),
        ("77", {BROKE: 1}),
        ("-bounced", {PAYMENT: None, BROKE: None}),
        ("-payment", {MAIL: None}),
        ("bounced -user3", {}),
        ("52045 52046", {PAYMENT: 0}),
        ("imeou", {PAYMENT: None}),
        ("520", {PAYMENT: None}),
        ("nowhere", {}),
    ],
)
def test_issues_are_found_by_what_their_events_hold(shop: Client, text: str, titles: dict[str, int | None]) -> None:
    found = shop.get("errors", q=text).json
    hits = {issue["title"]: issue["matching"] for issue in found["data"]}
    shown = {title: next((hit for name, hit in hits.items() if name.startswith(title)), "none") for title in titles}
    assert len(hits) == len(titles), hits
    assert shown == {title: None if n is None else {"events": n, "exact": True} for title, n in titles.items()}
    assert found["meta"]["search"]["complete"] is True


@pytest.mark.parametrize(
    ("text", "hours", "titles"),
    [
        ("52045", ("09", "11"), {PAYMENT: 1}),
        ("52045", ("12", "20"), {}),
        ("60000", ("12", "20"), {PAYMENT: 1}),
        ("60000", ("09", "11"), {}),
        ("5204*", ("12", "20"), {}),
        ("timeout 52045", ("12", "20"), {}),
        ('"order 60000 failed"', ("09", "11"), {}),
        ('"order 60000 failed"', ("12", "20"), {PAYMENT: 1}),
        ('value:"52045"', ("12", "20"), {}),
        ("user:2", ("09", "11"), {PAYMENT: 5}),
        ("user:2", ("12", "20"), {}),
        ("user:late", ("12", "20"), {PAYMENT: 1}),
        ("user:late", ("09", "11"), {}),
        ("timeout", ("12", "20"), {PAYMENT: None}),
        ("web-1", ("09", "11"), {PAYMENT: 7}),
        ("web-1", ("12", "20"), {PAYMENT: 1}),
        ("-52045", ("12", "20"), {PAYMENT: None, BROKE: None}),
    ],
)
def test_in_a_range_its_own_events_must_have_the_words(
    desk: Any, shop: Client, text: str, hours: tuple[str, str], titles: dict[str, int | None]
) -> None:
    """Not other events of an issue that has some in the range; also where its title shows the words."""
    last = "Payment of order 60000 failed: gateway timeout after 9 ms on web-1"
    desk.store(Event(last, occurred_at="2026-01-03 15:00:00", user="late"))
    start, end = (f"2026-01-03 {hour}:00:00" for hour in hours)
    found = shop.get("errors", q=text, **{"from": start, "to": end}).json
    matched = {issue["title"]: issue["matching"] for issue in found["data"]}
    assert len(matched) == len(titles), matched
    for title, events in titles.items():
        (matching,) = (hit for name, hit in matched.items() if name.startswith(title))
        assert (matching and matching["events"]) == events
    activity = shop.get("issue-activity", q=text, **{"from": start, "to": end}).json
    assert activity["total"] == len(titles)
    if any(titles.values()):
        bars = sum(sum(row["counts"]) for row in activity["series"])
        assert (activity["counted"], bars) == ("matching", sum(filter(None, titles.values())))


def test_the_chart_of_a_search_has_the_events_with_its_words(
    desk: Any, shop: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the last one of them, whatever the range; of too many, all events of the issues."""
    desk.store(Event("Mail to user9@example.com bounced", occurred_at="2026-01-03 13:00:00", user="user9"))
    day = {"date": "2026-01-03"}

    def told(**query: str) -> tuple[Any, ...]:
        found = shop.get("issue-activity", **query).json
        return found["counted"], sum(sum(row["counts"]) for row in found["series"]), found["last_seen"]

    assert told(q="52045", **day) == ("matching", 1, "2026-01-03 10:00:05")
    assert told(q="52045", date="2026-01-02") == ("matching", 0, "2026-01-03 10:00:05")
    assert told(q="bounced", **day) == ("matching", 6, "2026-01-03 13:00:00")
    assert told(q="web-2", **day) == ("matching", 6, "2026-01-03 10:00:17")
    assert told(q="52045 52046", **day) == ("matching", 0, None)
    assert told(**day) == ("all", 27, "2026-01-03 13:00:00")
    monkeypatch.setattr(hits, "MOST_TIMES", 3)
    assert told(q="web-2", **day) == ("all", 20, "2026-01-03 10:00:19")
    assert told(q="52045", **day) == ("matching", 1, "2026-01-03 10:00:05")
    payment = "Payment of order 52077 failed: gateway timeout after 2700 ms on web-2"
    desk.store(Event(payment, occurred_at="2026-01-05 13:00:00"))
    assert told(q="web-2", **day) == ("all", 20, "2026-01-05 13:00:00")
    assert told(q="web-2", date="2026-01-05") == ("matching", 1, "2026-01-05 13:00:00")
    # None in the range and too many elsewhere: nobody can say when the last one was.
    desk.store(Event(payment.replace("web-2", "web-9"), occurred_at="2026-01-06 13:00:00"))
    assert told(q="web-2", date="2026-01-06") == ("all", 0, None)
    now = times.now()
    desk.store(Event(payment.replace("web-2", "web-9"), occurred_at=now))
    assert told(q="web-2") == ("all", 1, now)  # of the issues that were found


def test_a_search_is_done_again_only_where_its_range_has_nothing(
    desk: Any, shop: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Scope] = []

    def noted(call: Any, text: str, scope: Scope) -> Any:
        looked.append(scope)
        return finding.search(call, text, scope)

    monkeypatch.setattr(activity, "search", noted)
    shop.get("issue-activity", q="bounced", date="2026-01-03")
    assert [bool(scope) for scope in looked] == [True]
    shop.get("issue-activity", q="bounced", date="2026-01-02")
    assert [bool(scope) for scope in looked] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("martha.quinn", [2]),
        ("martha.quinn@brightmail.test", [1]),
        ("brightmail.test", [1]),
        ("quinn", [2]),
        ("marth", []),
        ("martha.qui", []),
        ("10.20", [1]),
        ("#481516", [1]),
        ("“481516 of”", [1]),
        ("martha.quinn -481516", [2]),
    ],
)
def test_a_word_of_several_parts_is_found_by_some_in_order(desk: Any, text: str, found: list[int]) -> None:
    addresses = (
        "martha.quinn@brightmail.test",
        "martha.quinn@dimmail.test",
        "martha.quinnley@dimmail.test",
        "q@10.20.30.40",
    )
    desk.store(*(Event(f"Refund 99{n} of {address} failed") for n, address in enumerate(addresses)))
    desk.store(Event("Order 481516 of shop 7 broke"))
    answer = Client(desk.service).get("errors", q=text).json
    assert [issue["matching"]["events"] for issue in answer["data"]] == found


def ids_of(shop: Client) -> dict[str, int]:
    return {title: issue["id"] for issue in shop.get("errors").json["data"] for title in (PAYMENT, MAIL, BROKE)
            if issue["title"].startswith(title)}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "orders"),
    [
        ({}, [52059, 52058, 52057]),
        ({"q": "52045"}, [52045]),
        ({"q": "5204*"}, [52049, 52048, 52047]),
        ({"q": "web-1 -52056"}, [52059, 52053, 52050]),
        ({"value": "order=52045"}, [52045]),
        ({"value": "gateway=cards,on=web-0"}, [52058, 52055, 52052]),
        ({"user": "2"}, [52058, 52054, 52050]),
        ({"host": "host-1", "release": "v1"}, [52049, 52047, 52045]),
        ({"from": "2026-01-03 10:00:05", "to": "2026-01-03 10:00:06"}, [52046, 52045]),
        ({"q": "nowhere"}, []),
    ],
)
def test_events_are_filtered(shop: Client, query: dict[str, str], orders: list[int]) -> None:
    found = shop.get("events", id=ids_of(shop)[PAYMENT], limit=3, **query).json
    assert [int(event["values"][0]["value"]) for event in found["data"]] == orders
    assert found["meta"]["complete"] is True
    more = found["meta"]["next_cursor"]
    if len(orders) == 3 and more:
        rest = shop.get("events", id=ids_of(shop)[PAYMENT], limit=50, cursor=more, **query).json
        assert {event["id"] for event in rest["data"]}.isdisjoint(event["id"] for event in found["data"])


def test_an_event_shows_its_message_and_its_values(shop: Client) -> None:
    (event,) = shop.get("events", id=ids_of(shop)[PAYMENT], q="52045").json["data"]
    assert event["message"] == "Payment of order 52045 failed: gateway timeout after 1500 ms on web-2"
    assert [(one["name"], one["value"]) for one in event["values"]] == [
        ("order", "52045"), ("after", "1500 ms"), ("on", "web-2"),
    ]  # fmt: skip
    for one in event["values"]:
        assert event["message"][one["start"] :].startswith(one["value"])
    assert event["fields"] == {"gateway": "cards", "user_id": "1", "ratio": "0.625"}
    assert (event["user"], event["server_name"]) == ("1", "host-1")


def test_next_and_previous_keep_the_filter(shop: Client) -> None:
    issue = ids_of(shop)[PAYMENT]
    (event,) = shop.get("events", id=issue, q="52045").json["data"]
    for walk, order in (("newer_than", 52048), ("older_than", 52042)):
        (other,) = shop.get("events", id=issue, q="web-2", limit=1, **{walk: event["id"]}).json["data"]
        assert other["values"][0]["value"] == str(order)
    assert shop.get("events", id=issue, older_than=event["id"], cursor="x").status == 422
    assert shop.get("events", id=ids_of(shop)[MAIL], older_than=event["id"]).status == 404


def test_values_are_counted(shop: Client) -> None:
    found = shop.get("event-values", id=ids_of(shop)[PAYMENT]).json
    by_name = {one["name"]: one for one in found["data"]}
    assert found["meta"] == {"events": 20, "complete": True, "since": None, "left_out": 0}
    assert by_name["on"]["values"][0] == {"value": "web-0", "count": 7}
    assert (by_name["order"]["distinct"], by_name["order"]["numbers"]) == (20, None)
    assert by_name["after"]["numbers"] == {"min": 1000.0, "median": 1900.0, "p95": 2800.0, "max": 2900.0}
    assert by_name["after"]["unit"] == "ms"
    assert (by_name["user"]["kind"], by_name["user"]["distinct"]) == ("event", 4)
    assert (by_name["gateway"]["kind"], by_name["gateway"]["values"]) == ("context", [{"value": "cards", "count": 20}])
    some = shop.get("event-values", id=ids_of(shop)[PAYMENT], value="on=web-1").json
    assert some["meta"]["events"] == 7


@pytest.mark.parametrize(("last", "most"), [("905 ms", 905.0), ("1 s", None)])
def test_numbers_of_different_units_have_no_distribution(desk: Any, last: str, most: float | None) -> None:
    desk.store(*(Event(f"Report failed, took {took}") for took in (*(f"{900 + n} ms" for n in range(5)), last)))
    (took,) = (one for one in Client(desk.service).get("event-values", id=1).json["data"] if one["name"] == "took")
    assert (took["numbers"] or {}).get("max") == most


def test_what_the_context_says_again_counts_once(desk: Any) -> None:
    said = {"host": "db-1", "release": "v0", "order": "7"}
    desk.store(Event("order=7 failed", context=json.dumps(said), server_name="db-1", release="v1"))
    found = Client(desk.service).get("event-values", id=1).json["data"]
    counted = {(one["kind"], one["name"]): (one["values"][0]["value"], one["events"]) for one in found}
    assert counted[("event", "host")] == ("db-1", 1) and ("context", "host") not in counted
    assert counted[("event", "release")] == ("v1", 1) and counted[("context", "release")] == ("v0", 1)
    assert counted[("message", "order")] == ("7", 1) and ("context", "order") not in counted


def test_events_are_exported(shop: Client) -> None:
    issue = ids_of(shop)[PAYMENT]
    lines = shop.get("events", id=issue, format="ndjson", q="web-1").text.splitlines()
    assert len(lines) == 7 and all("on web-1" in json.loads(line)["message"] for line in lines)
    rows = list(csv.DictReader(io.StringIO(shop.get("events", id=issue, format="csv").text)))
    assert len(rows) == 20
    assert (rows[0]["value: order"], rows[0]["value: gateway"], rows[0]["user"]) == ("52059", "cards", "3")


def test_issues_are_sorted_by_users(shop: Client) -> None:
    listed = [(issue["title"][:7], issue["users"]) for issue in shop.get("errors", sort="users").json["data"]]
    assert listed == [("Mail to", 5), ("Payment", 4), ("Checkou", 0)]


def test_merged_and_unmerged_issues_keep_the_values(desk: Any, shop: Client) -> None:
    ids = ids_of(shop)
    merged = shop.post("bulk-issues", {"ids": [ids[MAIL]], "action": "merge", "target_id": ids[PAYMENT]})
    assert merged.status in (200, 202), merged.text
    desk.check_counters()
    assert [issue["id"] for issue in shop.get("errors", q="user3@example.com").json["data"]] == [ids[PAYMENT]]
    (event,) = shop.get("events", id=ids[PAYMENT], q="user3").json["data"]
    assert event["message"] == "Mail to user3@example.com bounced"


def test_reading_again_gives_old_events_their_values(desk: Any) -> None:
    """A database of a version before this one: a reindex brings messages, words, hosts and users."""
    from sqlalchemy import delete, update

    from snaglist.plugins.issues import tables

    first = events()[:5]
    desk.store(*first)
    columns = dict.fromkeys(("layout_id", "slots", "words", "user_name"))
    with desk.call() as call:
        call.db.execute(update(tables.occurrences).values(columns))
        call.db.execute(delete(tables.grouping_texts))
        call.db.execute(delete(tables.issue_facets).where(tables.issue_facets.c.facet.in_(("host", "user"))))
        call.db.execute(update(tables.issues).values(users=0))
    client = Client(desk.service)
    assert client.get("errors", q="52043").json["data"] == []
    assert client.get("error", id=1).json["occurrences"][0]["message"] is None
    end = first[-1].byte_end
    with desk.call() as call:
        done = reread_events(call, desk.source, 0, end, first, unstored=lambda _: Unstored.DROPPED)
    assert (done.moved, done.added, done.removed) == (0, 0, 0)
    desk.check_counters()
    (found,) = client.get("errors", q="52043").json["data"]
    assert (found["matching"], found["users"]) == ({"events": 1, "exact": True}, 4)


def test_removed_events_are_found_no_more(desk: Any, shop: Client) -> None:
    from snaglist.plugins.issues.storing.removing import remove_occurrences

    (event,) = shop.get("events", id=ids_of(shop)[PAYMENT], q="52045").json["data"]
    with desk.call() as call:
        remove_occurrences(call.db, [event["id"]])
    assert shop.get("errors", q="52045").json["data"] == []


@pytest.mark.parametrize("word", ["предупреждение", "п" * 60])
def test_long_words_of_any_script_are_found(desk: Any, word: str) -> None:
    """Longer than what the index of MariaDB takes for a word, as it is written there."""
    desk.store(Event("Report 7 failed", context=json.dumps({"subject": word}), occurred_at="2026-01-03 10:00:00"))
    client = Client(desk.service)
    for text in (word, f"{word[:-2]}*", f'value:"{word}"'):
        assert [issue["matching"]["events"] for issue in client.get("errors", q=text).json["data"]] == [1], text
    assert client.get("errors", q=f"{word[:-1]}а").json["data"] == []
