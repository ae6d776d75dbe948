"""Manual issues."""

import json
from importlib.resources import files
from typing import Any

import pytest
from sqlalchemy import insert

from snaglist.kernel import Actor, Call, key
from snaglist.plugins.issues import Event, create_issue, tables
from snaglist.plugins.issues.manual.service import DEFAULTS
from snaglist.plugins.tags import tables as tag_tables
from snaglist.testing import Client

pytestmark = pytest.mark.servers

UNKNOWN = 987_654
NOW = "2026-01-03 10:00:00"


def add_tag(desk: Any, name: str) -> int:
    row = {"name": name, "name_key": key(name), "color": "#64748b", "icon": "tag", "created_at": NOW, "updated_at": NOW}
    with desk.call() as call:
        return int(call.db.execute(insert(tag_tables.tags).values(row)).inserted_primary_key[0])


def test_96_a_title_is_enough(client: Client, desk: Any) -> None:
    answer = client.post("issues", {"title": " x "})
    assert answer.status == 201
    issue = desk.issue()
    assert answer.json["data"]["id"] == issue["id"]
    assert (issue["title"], issue["origin"], issue["log_type"], issue["channel"]) == ("x", "manual", "manual", "manual")
    assert (issue["kind"], issue["severity"], issue["severity_rank"], issue["status"]) == ("issue", "INFO", 6, "open")
    assert (issue["environment"], issue["source_frame"], issue["module_id"]) == ("local", None, None)
    assert (issue["count"], issue["stored_occurrences"]) == (0, 0)
    assert issue["first_seen"] == issue["last_seen"] == issue["created_at"]
    assert len(issue["fingerprint"]) == 64
    (row,) = desk.history(issue["id"])
    assert (row["event"], row["from_status"], row["to_status"]) == ("created", None, "open")
    assert (row["note"], row["actor"]) == ("Created manually", "Local")
    assert desk.rows(tables.issue_samples)[0]["message"] == "x"
    assert desk.rows(tables.groupings) == []
    desk.check_counters()


def test_96_what_is_refused(client: Client, desk: Any) -> None:
    assert client.post("issues", {"title": "t" * 501}).status == 422
    assert client.post("issues", {"title": "x", "tag_ids": [UNKNOWN]}).error == f"tag_ids: unknown tag {UNKNOWN}"
    assert client.post("issues", {"title": "x", "module_id": UNKNOWN}).error == "module_id: unknown module"
    refused = client.get("issues")
    assert refused.status == 405 and "POST" in refused.headers["allow"]
    assert desk.rows(tables.issues) == []


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("title", ["t", "t" * 500, "é" * 500], ["", "  ", None, 5, "t" * 501]),
        ("description", ["", "d" * 120_000], [None, 5, "d" * 120_001]),
        ("kind", ["issue", "bug", "feature_request", "task"], ["error", "Bug", None]),
        ("severity", ["ALERT", "warning", "Debug"], ["FATAL", "", None, 3]),
        ("status", ["open", "in_progress", "fixed", "wont_fix", "reoccurred"], ["done", "OPEN", None]),
        ("source_frame", [None, "f" * 1000], [5, "f" * 1001]),
        ("environment", ["e" * 100], ["", "e" * 101, None]),
        ("note", ["", "n" * 10_000], ["n" * 10_001, 5]),
        ("tag_ids", [[]], [None, 5, ["1"], [True], [0] * 51]),
        ("module_id", [None], ["1", 0, True]),
    ],
)
def test_rules_of_the_fields(sqlite_client: Client, field: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert sqlite_client.post("issues", {"title": "x", field: value}).status == 201, value
    for value in bad:
        answer = sqlite_client.post("issues", {"title": "x", field: value})
        assert answer.status == 422 and answer.error.startswith(field), value


def test_all_fields_are_stored(client: Client, desk: Any) -> None:
    module_id = client.post("modules", {"name": "Shop"}).json["id"]
    tag_ids = [add_tag(desk, "One"), add_tag(desk, "Two")]
    fields = {
        "title": "Pay by invoice",
        "description": "Customers ask\nfor it",
        "kind": "feature_request",
        "severity": "notice",
        "status": "fixed",
        "source_frame": "app/pay.py:7",
        "environment": "all",
        "note": "From the call",
        "tag_ids": [tag_ids[1], tag_ids[0], tag_ids[1]],
        "module_id": module_id,
    }
    assert client.post("issues", fields).status == 201
    issue = desk.issue()
    for name in ("title", "kind", "status", "source_frame", "environment", "module_id"):
        assert issue[name] == fields[name]
    assert (issue["severity"], issue["severity_rank"]) == ("NOTICE", 5)
    assert issue["fixed_at"] == issue["created_at"]
    assert issue["search_text"] == key("Pay by invoice\n\napp/pay.py:7\nmanual\nCustomers ask\nfor it")
    assert desk.rows(tables.issue_samples)[0]["message"] == "Customers ask\nfor it"
    assert [(row["tag_id"], row["source"], row["created_by"]) for row in desk.rows(tag_tables.issue_tags)] == [
        (tag_ids[0], "manual", "Local"),
        (tag_ids[1], "manual", "Local"),
    ]
    assert desk.history(issue["id"])[0]["note"] == "From the call"
    desk.check_counters()


def test_the_defaults_of_code_and_schema_are_the_same() -> None:
    schema = json.loads(files("snaglist.schemas").joinpath("issues", "post-body.json").read_text(encoding="utf-8"))
    documented = {name: rules["default"] for name, rules in schema["properties"].items() if "default" in rules}
    assert documented == {**DEFAULTS, "tag_ids": []}


def test_patch_changes_given_fields_and_keeps_the_rest(client: Client, desk: Any) -> None:
    """A history row, counters and search follow."""
    issue_id = client.post("issues", {"title": "Old", "description": "text", "severity": "ERROR"}).json["data"]["id"]
    module_id = client.post("modules", {"name": "Shop"}).json["id"]
    answer = client.patch("issues", {"title": "New", "severity": "alert", "module_id": module_id}, id=issue_id)
    assert answer.status == 200 and answer.json["data"]["title"] == "New"
    issue = desk.issue()
    assert (issue["title"], issue["severity"], issue["severity_rank"], issue["kind"]) == ("New", "ALERT", 1, "issue")
    assert issue["module_id"] == module_id
    assert issue["search_text"] == key("New\n\n\nmanual\ntext")
    desk.check_counters()
    client.patch("issues", {"id": issue_id, "description": "more", "module_id": None, "source_frame": "a.py:1"})
    assert desk.rows(tables.issue_samples)[0]["message"] == "more"
    assert (desk.issue()["module_id"], desk.issue()["source_frame"]) == (None, "a.py:1")
    edits = [row for row in desk.history(issue_id) if row["event"] == "edit"]
    assert [row["note"] for row in edits] == [
        "Changed: title, severity, module_id",
        "Changed: description, source_frame, module_id",
    ]
    assert {row["actor"] for row in edits} == {"Local"}


def test_patch_without_a_change_writes_nothing(client: Client, desk: Any) -> None:
    issue_id = client.post("issues", {"title": "Same"}).json["data"]["id"]
    assert client.patch("issues", {"id": issue_id, "title": " Same "}).status == 200
    assert len(desk.history(issue_id)) == 1


def test_patch_is_for_manual_issues(client: Client, desk: Any) -> None:
    ingested = desk.store(Event("Order 1 failed", occurred_at=NOW)).stored[0].issue_id
    answer = client.patch("issues", {"id": ingested, "title": "x"})
    assert (answer.status, answer.error) == (422, "id: only manual issues can be edited")
    assert client.patch("issues", {"id": UNKNOWN, "title": "x"}).status == 404
    assert client.patch("issues", {"title": "x"}).status == 422
    issue_id = client.post("issues", {"title": "x"}).json["data"]["id"]
    assert client.patch("issues", {"id": issue_id, "title": ""}).status == 422
    assert client.patch("issues", {"id": issue_id, "module_id": UNKNOWN}).error == "module_id: unknown module"
    assert client.patch("issues", {"id": issue_id, "title": "y"}, id=issue_id + 1).status == 422


def test_plugins_hear_of_created_and_edited_issues(
    sqlite_client: Client, sqlite_desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tag rules run before the answer, so the hook is in the same transaction."""
    heard = []

    def emit(call: Call, hook: Any, change: Any, *check: Any) -> dict[str, Any]:
        heard.append((hook.__name__, change.kind, change.issue_ids, call.db.in_transaction()))
        return {}

    monkeypatch.setattr(Call, "emit", emit)
    issue_id = sqlite_client.post("issues", {"title": "x"}).json["data"]["id"]
    sqlite_client.patch("issues", {"id": issue_id, "title": "y"})
    assert heard == [
        ("issue_changed", "created", (issue_id,), True),
        ("issue_changed", "edit", (issue_id,), True),
    ]


def test_viewers_may_not_write(sqlite_service: Any) -> None:
    """By `issues.write` alone."""
    viewer = Client(sqlite_service, lambda environ, application: Actor("7", "Ana", ("viewer",)))
    assert viewer.post("issues", {"title": "x"}).status == 403
    assert viewer.post("issues", {"title": ""}).status == 403, "the body is not looked at"
    assert viewer.post("modules", {"name": "x"}).status == 403
    assert viewer.get("modules").status == 200
    assert viewer.post("issue-status", {"id": 1, "status": "open"}).status == 403


def test_plugins_create_issues_with_a_title_alone(desk: Any) -> None:
    with desk.call() as call:
        call.actor = None
        issue_id = create_issue(call, {"title": "From a plugin"})
    assert desk.issue(issue_id)["title"] == "From a plugin"
    assert desk.history(issue_id)[0]["actor"] is None
