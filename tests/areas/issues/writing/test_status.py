"""Status changes by people and plugins."""

from typing import Any

import pytest
from sqlalchemy import insert

from snaglist.kernel import Call, Conflict, Invalid, NotFound
from snaglist.plugins.issues import STATUSES, Event, change_status, tables
from snaglist.plugins.issues.status import Wanted, change_statuses
from snaglist.testing import Client

UNKNOWN = 987_654


@pytest.fixture
def issue_id(desk: Any) -> int:
    found: int = desk.store(Event("Order 1 failed", occurred_at="2026-01-03 10:00:00")).stored[0].issue_id
    return found


def test_98_statuses_and_ids_are_checked(client: Client, issue_id: int) -> None:
    """The status is checked before the issue."""
    assert "status:" in client.post("issue-status", {"id": issue_id, "status": "done"}).error
    assert client.post("issue-status", {"id": UNKNOWN, "status": "done"}).status == 422
    assert client.post("issue-status", {"id": UNKNOWN, "status": "fixed"}).status == 404
    assert client.post("issue-status", {"id": 0, "status": "fixed"}).status == 422
    assert client.post("issue-status", {"status": "fixed"}).status == 422
    assert client.post("issue-status", {"id": issue_id, "status": "Fixed"}).status == 422
    assert client.get("issue-status").status == 405


def test_98_the_same_status_adds_a_note(client: Client, desk: Any, issue_id: int) -> None:
    answer = client.post("issue-status", {"id": issue_id, "status": "open", "note": "  seen it "})
    assert answer.status == 200
    assert answer.json == {
        "id": issue_id,
        "from_status": "open",
        "status": "open",
        "note": "seen it",
        "fixed_at": None,
        "fixed_release": None,
        "changed_at": desk.issue(issue_id)["status_updated_at"],
        "fixes": {},
    }
    (row,) = desk.history(issue_id)
    assert (row["event"], row["from_status"], row["to_status"]) == ("status", "open", "open")
    assert (row["note"], row["actor"]) == ("seen it", "Local")
    desk.check_counters()


def test_a_status_that_somebody_else_set_is_not_overwritten(client: Client, desk: Any, issue_id: int) -> None:
    """Whoever says which status they saw changes nothing when it is another one, and learns who was there before."""
    seen = {"id": issue_id, "status": "wont_fix", "expected": "open"}
    assert client.post("issue-status", {"id": issue_id, "status": "fixed", "expected": "open"}).status == 200
    refused = client.post("issue-status", seen)
    when = desk.history(issue_id)[-1]["created_at"]
    assert refused.status == 409
    assert refused.error == f"Local set the status to fixed at {when} UTC. Nothing was changed."
    assert (desk.issue()["status"], len(desk.history(issue_id))) == ("fixed", 1)
    client.post("issue-status", {"id": issue_id, "status": "wont_fix"})
    assert "set the status to won't fix at" in client.post("issue-status", {**seen, "status": "open"}).error
    assert client.post("issue-status", {**seen, "expected": "done"}).status == 422
    assert client.post("issue-status", {**seen, "expected": None}).json["from_status"] == "wont_fix"


def test_a_status_that_nobody_set_is_not_overwritten_either(desk: Any, issue_id: int) -> None:
    with desk.call() as call, pytest.raises(Conflict, match="The status is open by now"):
        change_status(call, issue_id, "fixed", expected="in_progress")


@pytest.mark.parametrize("start", STATUSES)
def test_any_status_follows_any(desk: Any, issue_id: int, start: str) -> None:
    """No transition matrix, one history row each, totals follow."""
    with desk.call() as call:
        change_status(call, issue_id, start)
        for end in STATUSES:
            answer = change_status(call, issue_id, end)
            assert answer["status"] == end
            change_status(call, issue_id, start)
    assert desk.issue()["status"] == start
    assert len(desk.history(issue_id)) == 1 + 2 * len(STATUSES)
    desk.check_counters()


def test_fixed_keeps_its_time_until_a_release_is_given(desk: Any, issue_id: int) -> None:
    now = "2026-01-04 00:00:0{}"

    def change(second: int, status: str, release: str | None = None) -> tuple[Any, Any]:
        with desk.call() as call:
            call.now = now.format(second)
            answer = change_status(call, issue_id, status, release=release)
        issue = desk.issue()
        assert (issue["fixed_at"], issue["fixed_release"]) == (answer["fixed_at"], answer["fixed_release"])
        assert issue["status_updated_at"] == now.format(second)
        return answer["fixed_at"], answer["fixed_release"]

    assert change(1, "fixed") == (now.format(1), None)
    assert change(2, "fixed") == (now.format(1), None)
    assert change(3, "fixed", "v2") == (now.format(3), "v2")
    assert change(4, "fixed") == (now.format(3), "v2")
    assert change(5, "reoccurred") == (now.format(3), "v2")
    assert change(6, "fixed") == (now.format(6), None)
    assert change(7, "wont_fix") == (None, None)
    assert change(8, "reoccurred") == (None, None)


@pytest.mark.parametrize("fixes", [None, {}])
def test_what_is_fixed_is_so_since_a_time(client: Client, desk: Any, issue_id: int, fixes: Any) -> None:
    """Or it would never reoccur: a row without one gets it, and so does a change taken back that tells of none."""
    with desk.call() as call:
        call.db.execute(tables.issues.update().values(status="fixed"))
        change_statuses(call, [issue_id], Wanted("fixed", note="told", fixes=fixes))
    issue = desk.issue()
    assert issue["fixed_at"] == issue["status_updated_at"] is not None
    with desk.call() as call:
        call.db.execute(tables.issues.update().values(fixed_at=None))
    answer = client.post("issue-status", {"id": issue_id, "status": "open"}).json
    assert answer["fixes"] == {str(issue_id): [answer["changed_at"], None]}


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "fixed"])
def test_a_release_goes_with_fixed_only(client: Client, issue_id: int, status: str) -> None:
    answer = client.post("issue-status", {"id": issue_id, "status": status, "release": "v2"})
    assert answer.status == 422 and answer.error.startswith("release:")
    assert client.post("issue-status", {"id": issue_id, "status": status, "release": "  "}).status == 200
    fixed = client.post("issue-status", {"id": issue_id, "status": "fixed", "release": " v2 "})
    assert fixed.json["fixed_release"] == "v2"


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("note", "n" * 10_000, 200),
        ("note", "n" * 10_001, 422),
        ("note", None, 200),
        ("note", " \n ", 200),
        ("note", 5, 422),
        ("release", "r" * 120, 200),
        ("release", "r" * 121, 422),
        ("release", None, 200),
        ("comment", False, 200),
        ("comment", "no", 422),
    ],
)
def test_limits_of_the_fields(sqlite_client: Client, sqlite_desk: Any, field: str, value: Any, status: int) -> None:
    issue_id = sqlite_desk.store(Event("Order 1 failed", occurred_at="2026-01-03 10:00:00")).stored[0].issue_id
    answer = sqlite_client.post("issue-status", {"id": issue_id, "status": "fixed", field: value})
    assert answer.status == status
    if field == "note" and status == 200:
        assert answer.json["note"] == ((value or "").strip() or None)


def test_a_refused_change_stores_nothing(desk: Any, issue_id: int) -> None:
    with desk.call() as call, pytest.raises(Invalid, match="release"):
        change_status(call, issue_id, "open", release="v2")
    with desk.call() as call, pytest.raises(NotFound):
        change_status(call, UNKNOWN, "open")
    assert desk.history(issue_id) == []


def test_a_merged_id_means_its_target(client: Client, desk: Any, issue_id: int) -> None:
    with desk.call() as call:
        call.db.execute(insert(tables.issue_aliases), {"old_id": UNKNOWN, "issue_id": issue_id})
    assert client.post("issue-status", {"id": UNKNOWN, "status": "fixed"}).json["id"] == issue_id


def test_what_plugins_return_is_in_the_answer(
    client: Client, desk: Any, issue_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each plugin that reacts adds one key."""
    seen = []

    def emit(call: Call, hook: Any, change: Any, *check: Any) -> dict[str, Any]:
        seen.append((hook.__name__, change))
        return {"tracker": {"attempted": True, "queued": True, "job_id": 57}}

    monkeypatch.setattr(Call, "emit", emit)
    answer = client.post("issue-status", {"id": issue_id, "status": "fixed", "comment": False})
    assert answer.json["tracker"] == {"attempted": True, "queued": True, "job_id": 57}
    ((hook, change),) = seen
    assert (hook, change.kind, change.issue_ids) == ("issue_changed", "status", (issue_id,))
    assert (change.details["previous"], change.details["comment"]) == ({issue_id: "open"}, False)
