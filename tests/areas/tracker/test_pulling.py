"""`tracker-sync` pull: what is taken in, how issues show it, where it goes on."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import times
from snaglist.plugins.tracker import Item, Label, Viewer, Wanted
from snaglist.plugins.tracker.position import Position
from snaglist.plugins.tracker.storing import is_wanted

doubles: Any = None


@pytest.fixture(autouse=True)
def _doubles(double_of: Any) -> None:
    global doubles
    doubles = __import__("tracker_doubles")


@pytest.mark.servers
def test_items_on_each_database(site: Any) -> None:
    first = site.double.add("  Refund\n fails  ", body="It does.\r\nAlways.", assignee={"login": "ana"},
                            assignees=[{"login": "ana", "id": 7}])  # fmt: skip
    site.double.add("No text")
    site.double.label(first, "Billing")
    done = site.sync()
    assert (done["pulled"], done["created"], done["tags_created"]) == (2, 2, 1)
    found = {issue["external_id"]: issue for issue in site.issues()}
    issue = found["octo/shop#1"]
    assert issue["title"] == "Refund fails" and issue["assignee"] == "ana" and issue["channel"] == "octo/shop"
    assert site.issue(issue["id"])["data"]["sample_message"] == "It does.\r\nAlways."
    assert site.issue(found["octo/shop#2"]["id"])["data"]["sample_message"] == "No text"
    summary = site.client.get("summary").json
    assert summary["status"] == [{"status": "open", "groups_count": 2, "occurrences": 0}]
    assert summary["types"] == [{"log_type": "tracker", "groups_count": 2, "occurrences": 0}]
    assert [one["id"] for one in site.issues(origin="tracker", assignee="ANA")] == [issue["id"]]
    assert len(site.issues(q="always")) == 1
    site.double.change(1, title="Renamed", body=None, assignee=None, assignees=[])
    assert site.sync()["updated"] == 1
    data = site.issue(issue["id"])["data"]
    assert (data["title"], data["sample_message"], data["assignee"]) == ("Renamed", "Renamed", None)
    assert len(site.issues(q="always")) == 0
    site.double.close(1)
    assert site.sync()["status_changed"] == 1
    assert [one["status"] for one in site.client.get("summary").json["status"]] == ["open", "fixed"]
    assert site.sync()["updated"] == 0
    assert (
        site.client.post(
            "bulk-issues", {"action": "delete", "ids": [issue["id"]], "confirmation": "DELETE ISSUES"}
        ).json["updated"]
        == 1
    )


def test_hostile_texts(site: Any) -> None:
    site.double.add("\ud83d a\0b <b>" + "x" * 600, body="\ud800\0" + "y" * 130_000, html_url="javascript:alert(1)")
    site.double.add("", body="")
    site.sync()
    first, second = site.issues()
    assert len(first["title"]) == 500 and "\0" not in first["title"] and first["external_url"] is None
    assert second["title"] == "(no title)"


def test_rules_run_and_removed_tags_stay_off(site: Any) -> None:
    site.client.post("tags", {"name": "Money", "match_word": "refund"})
    item = site.double.add("Refund fails")
    site.double.label(item, "Billing")
    site.sync()
    (issue,) = site.issues()
    tags = {tag["name"]: tag for tag in issue["tags"]}
    assert {name: tag["source"] for name, tag in tags.items()} == {"Money": "rule", "Billing": "tracker"}
    site.client.post("issue-tags", {"group_id": issue["id"], "tag_id": tags["Billing"]["id"], "action": "remove"})
    site.double.label(item, "Billing", "Ops")
    site.sync()
    assert [tag["name"] for tag in site.issues()[0]["tags"]] == ["Money", "Ops"]
    site.client.post("issue-tags", {"group_id": issue["id"], "tag_id": tags["Billing"]["id"]})
    site.double.label(item)
    site.sync()
    shown = [(tag["name"], tag["source"]) for tag in site.issues()[0]["tags"]]
    assert shown == [("Billing", "manual"), ("Money", "rule")]


def test_of_an_ingested_issue_only_the_link_is_taken(site: Any) -> None:
    issue_id = site.store("Order 4711 failed: gateway timeout")
    (entry,) = site.sync("create", ids=[issue_id])["results"]
    before = site.issue(issue_id)
    number = int(entry["external_id"].partition("#")[2])
    site.double.change(number, title="Renamed", assignee={"login": "bo"}, assignees=[{"login": "bo"}])
    site.double.label(number, "Billing")
    site.sync()
    after = site.issue(issue_id)
    assert after["data"]["assignee"] == "bo"
    changed = {name for name in after["data"] if after["data"][name] != before["data"][name]}
    assert changed <= {"assignee", "updated_at"} and after["tags"] == []


def test_pull_requests_are_left_out(site_with: Callable[..., Any]) -> None:
    site = site_with("github", tracker__page_size=1)
    for number in range(4):
        site.double.add(f"Item {number}", **({"pull_request": {"url": "x"}} if number % 2 else {}))
    assert site.sync()["pulled"] == 2


@pytest.mark.parametrize("provider", ["github", "gitlab"])
def test_items_of_one_second_fill_several_pages(site_with: Callable[..., Any], provider: str) -> None:
    site = site_with(provider, tracker__page_size=3)
    for number in range(11):
        site.double.add(f"Item {number}")
        site.double.clock -= 1
    site.double.clock += 5
    site.double.add("Last")
    done = site.sync()
    assert done["created"] == 12 and len(site.issues()) == 12


@pytest.mark.parametrize("provider", ["github", "gitlab", "jira", "linear"])
def test_an_item_that_changes_during_the_walk_hides_no_other(site_with: Callable[..., Any], provider: str) -> None:
    site = site_with(provider, tracker__page_size=2)
    ids = [site.double.add(f"Item {number}") for number in range(8)]
    changes = iter(ids[:3])

    def meanwhile(request: Any) -> Any:
        answer = site.double.answer(request)
        if (item := next(changes, None)) is not None:
            site.double.change(item)
            site.double.fail.append(meanwhile)
        return answer

    if provider == "jira":  # its double pages by number within the query, so only what it finds is looked at
        site.double.add("More")
    else:
        site.double.fail = [meanwhile]
    site.sync()
    site.sync()
    assert {issue["title"] for issue in site.issues()} >= {f"Item {number}" for number in range(8)}


def test_long_answers_are_asked_for_in_smaller_pages(site_with: Callable[..., Any]) -> None:
    site = site_with("github", tracker__page_size=8)
    for number in range(8):
        site.double.add(f"Item {number}", body="x" * 200_000)
    assert site.sync()["created"] == 8
    assert [request.query["per_page"] for request in site.double.asked("GET", "/issues$")][:2] == ["8", "4"]


def test_one_item_that_is_too_long_is_told(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    site.double.add("Long", body="x" * 1_100_000)
    job = site.job(site.queue())
    assert job["status"] == "failed" and "over 1048576 bytes" in job["error"]
    assert "over 1048576 bytes" in site.client.get("tracker-settings").json["sync"]["last_error"]


def test_a_cursor_that_is_refused_begins_the_pass_anew(site_with: Callable[..., Any]) -> None:
    site = site_with("jira", tracker__page_size=2)
    for number in range(5):
        site.double.add(f"Item {number}")
    site.double.fail = [lambda request: None, doubles.Answer(500)]
    job = site.job(site.queue())
    assert job["status"] == "failed" and len(site.issues()) == 2
    site.double.tokens.clear()
    assert site.sync()["phase"] == "backfill" and len(site.issues()) == 5
    assert site.client.get("tracker-settings").json["sync"]["last_error"] is None


def test_short_pauses_are_waited_out(site_with: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("snaglist.plugins.tracker.web.time.sleep", slept.append)
    site = site_with("github")
    site.double.add("One")
    site.double.fail = [doubles.Answer(403, {"message": "secondary"}, {"Retry-After": "2"})]
    assert site.sync()["created"] == 1 and slept == [2.0]
    site.double.fail = [doubles.Answer(429, None, {"Retry-After": "1"})] * 4
    job = site.job(site.queue())
    assert job["status"] == "failed" and "asks to wait" in job["error"]


@pytest.mark.parametrize("provider", ["github", "linear"])
def test_long_pauses_are_kept(site_with: Callable[..., Any], provider: str) -> None:
    site = site_with(provider)
    site.double.add("One")
    reset = str(int(times.read(times.now()).timestamp()) + 600)
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    answer = doubles.Answer(403, {"message": "API rate limit exceeded"}, headers)
    site.double.fail = [site.double.limited(600) if provider == "linear" else answer]
    job = site.job(site.queue())
    assert job["status"] == "failed" and "asks to wait for" in job["error"]
    call = site.service.call(actor=None)
    from snaglist.plugins.tracker.syncing import due

    def is_due(minutes: int) -> bool:
        call.now = times.add(times.now(), seconds=60 * minutes)
        with call.transaction(write=False):
            return due(call) is not None

    assert not is_due(0) and not is_due(9) and is_due(11)


def test_it_is_due_after_the_interval(site_with: Callable[..., Any]) -> None:
    from snaglist.plugins.tracker.syncing import due

    site = site_with("github", tracker__interval_minutes=3)
    call = site.service.call(actor=None)

    def is_due(minutes: float) -> bool:
        call.now = times.add(times.now(), seconds=60 * minutes)
        with call.transaction(write=False):
            return due(call) == {"action": "pull"}

    assert is_due(0)
    site.sync()
    assert not is_due(2) and is_due(3.1)
    site.client.patch("tracker-settings", {"enabled": False})
    assert not is_due(60)


def test_settings_that_change_stop_a_pull(site_with: Callable[..., Any]) -> None:
    site = site_with("github", tracker__page_size=2)
    for number in range(4):
        site.double.add(f"Item {number}")

    def meanwhile(request: Any) -> Any:
        site.settings(labels=["Ops"])

    site.double.fail = [meanwhile]
    job = site.job(site.queue())
    assert job["status"] == "failed" and "settings were changed" in job["error"]
    assert site.issues() == []


# -- what is asked for


@pytest.mark.parametrize(
    ("provider", "fields", "body", "named"),
    [
        ("github", {"enabled": False}, {}, "enabled"),
        ("linear", {"team_key": ""}, {}, "labels"),
        ("generic", {}, {}, "action"),
        ("github", {}, {"action": "push"}, "ids"),
        ("github", {}, {"action": "create", "ids": []}, "ids"),
        ("github", {}, {"action": "create", "ids": [999]}, "ids"),
        ("github", {}, {"action": "create", "ids": list(range(1, 202))}, "ids"),
        ("github", {}, {"action": "create", "ids": ["1"]}, "ids"),
        ("github", {}, {"action": "mirror"}, "action"),
    ],
)
def test_what_cannot_be_done_is_named(
    site_with: Callable[..., Any], provider: str, fields: Any, body: Any, named: str
) -> None:
    site = site_with(provider)
    site.settings(**fields)
    answer = site.client.post("tracker-sync", body)
    assert answer.status == 422 and named in answer.error, answer.text


def test_one_at_a_time(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    assert site.client.post("tracker-sync").status == 202
    assert site.client.get("tracker-settings").json["sync"]["in_progress"]
    assert site.client.post("tracker-sync").status == 409


def test_waiting_for_it(site_with: Callable[..., Any]) -> None:
    site = site_with("github", jobs=True)
    site.double.add("One")
    answer = site.client.post("tracker-sync", {}, wait=True)
    assert answer.status == 200, answer.text
    expected = {
        "status": "succeeded",
        "ok": True,
        "action": "pull",
        "pulled": 1,
        "created": 1,
        "results": [],
        "pushed": 0,
    }
    assert answer.json.items() >= expected.items()
    assert answer.json["synced_at"]
    site.double.fail = [doubles.Answer(401)]
    answer = site.client.post("tracker-sync", {}, wait=True)
    assert answer.status == 502 and answer.error == "The tracker rejected the key."


def test_the_filter_of_linear(site_with: Callable[..., Any]) -> None:
    site = site_with("linear")
    wanted = site.double.add(
        "Mine", assignee={"id": "u1", "name": "Ana", "displayName": "ana", "email": "ana@example.com"}
    )
    site.double.add("Nobody's")
    site.settings(assigned_to_me=True, assignees=["Ana@example.com", "bo"], labels=["Ops"], project="Shop")
    sent: list[Any] = []
    site.double.fail = [
        lambda request: None,
        lambda request: sent.append(json.loads(request.raw)["variables"]["filter"]) or doubles.Answer(500),
    ]
    site.queue()
    assert sent == [{
        "team": {"key": {"eq": "ENG"}}, "project": {"name": {"eqIgnoreCase": "Shop"}},
        "or": [
            {"labels": {"some": {"name": {"eqIgnoreCase": "Ops"}}}},
            {"assignee": {"email": {"eqIgnoreCase": "ana@example.com"}}},
            {"assignee": {"displayName": {"eqIgnoreCase": "bo"}}}, {"assignee": {"name": {"eqIgnoreCase": "bo"}}},
            {"assignee": {"isMe": {"eq": True}}},
        ],
    }]  # fmt: skip
    site.settings(assigned_to_me=True)
    site.sync()
    assert [issue["external_id"] for issue in site.issues()] == [site.double.identifier(wanted)]


# -- properties

NAMES = st.sampled_from(["ops", "OPS", "billing", "ana@example.com", "bo", "ENG", "eng", "shop"])


def an_item(places: list[str], labels: list[str], people: list[str]) -> Item:
    now = "2026-01-02 08:00:00"
    return Item("1", "1", "x", "open", "open", now, now, places=tuple(places),
                labels=tuple(map(Label, labels)), people=tuple(people))  # fmt: skip


@given(
    st.lists(NAMES), st.lists(NAMES), st.lists(NAMES), st.lists(NAMES), st.lists(NAMES),
    st.sampled_from(["", "ENG", "shop"]), st.booleans(),
)  # fmt: skip
def test_labels_or_people_and_place(
    places: Any, labels: Any, people: Any, by: Any, who: Any, place: str, me: bool
) -> None:
    wanted = Wanted(place, "", tuple(by), tuple(who), me)
    viewer = Viewer("u1", "Bo", "", ("bo",))
    item = an_item(places, labels, people)
    fold = [{name.lower() for name in names} for names in (places, labels, people, by, who)]
    either = fold[1] & fold[3] or fold[2] & fold[4] or (me and "bo" in fold[2])
    asked = bool(by or who or me)
    expected = (not place or place.lower() in fold[0]) and (bool(either) if asked else bool(place))
    assert is_wanted(item, wanted, viewer) == expected
    assert wanted.anything == (asked or bool(place))


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), max_size=20))
def test_the_mark_never_falls(pages: list[tuple[int, bool]]) -> None:
    where, marks = Position(), [""]
    for second, more in pages:
        where = where.begun().passed(f"2026-01-02 08:00:{second:02}", [1] if more else None, "2026-01-03 08:00:00")
        marks.append(where.mark or "")
        assert where.backfill_complete == any(not one for _, one in pages[: len(marks) - 1])
        assert (where.cursor is None) == (not more)
    assert marks == sorted(marks)


@pytest.mark.parametrize("provider", ["linear", "github", "gitlab", "jira"])
def test_a_tracker_that_sends_back_what_it_got_tells_no_secret(site_with: Callable[..., Any], provider: str) -> None:
    site = site_with(provider)

    def echo(request: Any) -> Any:
        said = f"I got {request.headers['authorization']} \ud800\0"
        return doubles.Answer(400, {"message": said, "errorMessages": [said], "errors": [{"message": said}]})

    site.double.fail = [echo]
    tried = site.client.post("tracker-test").json["message"]
    site.double.fail = [echo]
    job = site.job(site.queue())
    told = site.client.get("tracker-settings").json["sync"]["last_error"]
    assert job["status"] == "failed" and job["error"] == told
    for text in (tried, told):
        assert "…" in text and doubles.KEY not in text and not {"\0", "\ud800"}.intersection(text)
        assert base64.b64encode(doubles.KEY.encode()).decode()[8:-8] not in text
    if provider == "jira":
        pair = base64.b64encode(f"{site.double.account}:{doubles.KEY}".encode()).decode()
        assert pair not in tried + told


def test_an_item_of_tomorrow_does_not_hide_the_others(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    site.double.real_time = True
    site.double.add("Of another age", updated_at="9999-12-31T23:59:59Z")
    assert site.sync()["created"] == 1
    site.double.add("Of today")
    assert site.sync()["created"] == 1


def test_an_item_of_the_first_year_does_not_stop_the_pull(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    site.double.add("Old", created_at="0001-01-01T00:00:00Z", updated_at="0001-01-01T00:00:00Z")
    assert site.sync()["created"] == 1
    assert site.sync()["ok"]
    assert site.issues()[0]["last_seen"] == "1970-01-01 00:00:00"


@pytest.mark.servers
def test_names_that_no_database_takes(site: Any) -> None:
    site.double.add("T", repository_url="x/octo\0/shop\ud800", html_url="http://t.example/\ud800\0")
    assert site.sync()["pulled"] == 0  # it is of another repository
    site.double.issues.clear()
    site.double.add("T", state_reason="\ud800\0", state="closed", html_url="http://t.example/\ud800\0")
    assert site.sync()["created"] == 1
    assert site.issues()[0]["external_url"] == "http://t.example/\ufffd\ufffd"


@pytest.mark.parametrize("provider", ["linear", "jira", "github", "gitlab"])
def test_a_list_that_goes_round_is_left(site_with: Callable[..., Any], provider: str) -> None:
    site = site_with(provider, tracker__page_size=2)
    for _ in range(5):
        site.double.add()
    first: list[Any] = []

    def again(request: Any) -> Any:
        """Answer with the first page to everything, and say that there is more."""
        if not first:
            answer = site.double.answer(request)
            first.append(doubles.Answer(answer.status, answer.data, answer.headers))
        return first[0]

    site.double.fail = [again] * 50
    job = site.job(site.queue())
    assert job["status"] == "failed" and job["error"] == "The tracker gives the same page again and again."
    assert len(site.double.got) < 15
    site.double.fail = []
    assert site.sync()["ok"] and len(site.issues()) == 5
