"""Comments on issues: part of the history, and no change of anything else."""

from typing import Any

import pytest

from snaglist.plugins.issues import Event, forget_empty
from snaglist.plugins.issues.merging import merge_issues
from snaglist.testing import Client

pytestmark = pytest.mark.servers

UNKNOWN = 987_654
TEXT = "The bank answers again.\n\n- retried 14 payments\n- order 4711 is still open"


@pytest.fixture
def issue_id(desk: Any) -> int:
    found: int = desk.store(Event("Order 1 failed", occurred_at="2026-01-03 10:00:00")).stored[0].issue_id
    return found


def test_a_comment_is_an_entry_of_the_history_and_changes_nothing_else(
    client: Client, desk: Any, issue_id: int
) -> None:
    before = client.get("error", id=issue_id).json
    answer = client.post("issue-comments", {"id": issue_id, "text": f"  {TEXT}\n"})
    assert answer.status == 201
    assert answer.json == {
        "id": answer.json["id"],
        "group_id": issue_id,
        "event": "comment",
        "from_status": None,
        "to_status": None,
        "note": TEXT,
        "created_at": answer.json["created_at"],
        "actor": "Local",
    }
    after = client.get("error", id=issue_id).json
    assert after["status_history"] == [answer.json]
    assert after["data"] == before["data"]
    desk.check_counters()


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 10_001, None, 7])
def test_what_is_no_comment_is_refused(client: Client, desk: Any, issue_id: int, text: Any) -> None:
    answer = client.post("issue-comments", {"id": issue_id, "text": text})
    assert (answer.status, desk.history(issue_id)) == (422, [])
    assert "text:" in answer.error


def test_ids_are_checked(client: Client) -> None:
    assert client.post("issue-comments", {"id": UNKNOWN, "text": "x"}).status == 404
    assert client.post("issue-comments", {"text": "x"}).status == 422
    assert client.post("issue-comments", {"id": 0, "text": "x"}).status == 422
    assert client.get("issue-comments").status == 405


def test_the_longest_comment_is_taken_in_every_script(client: Client, issue_id: int) -> None:
    text = "é👩‍🚀" * 2_500
    assert client.post("issue-comments", {"id": issue_id, "text": text}).json["note"] == text


def test_comments_go_along_with_a_merge(client: Client, desk: Any, issue_id: int) -> None:
    other = desk.store(Event("The mailer gave up", occurred_at="2026-01-03 10:00:00")).stored[0].issue_id
    client.post("issue-comments", {"id": other, "text": TEXT})
    with desk.call() as call:
        merge_issues(call, [other], issue_id)
    said = client.post("issue-comments", {"id": other, "text": "to the old number"})
    assert said.json["group_id"] == issue_id
    history = client.get("error", id=issue_id).json["status_history"]
    assert [row["note"] for row in history if row["event"] == "comment"] == ["to the old number", TEXT]


def test_a_comment_keeps_an_issue_that_all_events_left(client: Client, desk: Any, issue_id: int) -> None:
    """Somebody worked on it."""
    client.post("issue-comments", {"id": issue_id, "text": TEXT})
    with desk.call() as call:
        assert not forget_empty(call.db, issue_id)


def test_state_tells_of_comments_and_statuses(client: Client, desk: Any, issue_id: int) -> None:
    """By which a page that shows the issue sees that it changed; unchanged, it costs no body."""
    first = client.get("issue-state", id=issue_id)
    assert first.json == {
        "id": issue_id,
        "status": "open",
        "count": 1,
        "stored_occurrences": 1,
        "users": 0,
        "last_seen": "2026-01-03 10:00:00",
        "updated_at": first.json["updated_at"],
        "last_history_id": None,
    }
    tag = first.headers["etag"]
    again = client.request("GET", f"/?api=issue-state&id={issue_id}", headers={"If-None-Match": tag})
    assert (again.status, again.content) == (304, b"")
    made = client.post("issue-comments", {"id": issue_id, "text": "x"}).json
    assert client.get("issue-state", id=issue_id).json["last_history_id"] == made["id"]
    client.post("issue-status", {"id": issue_id, "status": "fixed"})
    assert client.get("issue-state", id=issue_id).json["status"] == "fixed"
    desk.store(Event("Order 2 failed", occurred_at="2026-01-03 11:00:00"), reoccur=False)
    assert client.get("issue-state", id=issue_id).json["count"] == 2
    assert client.get("issue-state", id=UNKNOWN).status == 404
