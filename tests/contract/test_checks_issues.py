"""Modules, tags, search, detail, status and jobs."""

import csv
import io
import json
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.whole


def _titles(app, **query):
    return sorted(issue["title"] for issue in app.get("errors", **query).data)


def _tags(app, issue_id):
    return {tag["name"]: tag["source"] for tag in app.get("error", id=issue_id).json["tags"]}


def _make(app, *titles, **fields):
    return [app.post("issues", {"title": title, **fields}).ok(201)["data"]["id"] for title in titles]


# modules


def test_check_77_modules(app):
    made = app.post("modules", {"name": "Billing"}).ok(201)
    assert (made["slug"], made["color"]) == ("billing", "#6366f1")
    app.post("modules", {"name": "BILLING"}).err(422)
    _make(app, "x", module_id=made["id"])
    app.delete("modules", {"id": made["id"]}).err(409)
    gone = app.delete("modules", {"id": made["id"], "move_to": None}).ok()
    assert gone == {"id": made["id"], "deleted": True, "moved_to": None}
    assert app.get("errors").data[0]["module_id"] is None


# tags


def test_check_78_a_tag_is_trimmed_and_has_defaults(app):
    made = app.post("tags", {"name": "  Bug  ", "color": "#ABCDEF"}).ok(201)
    shown = [made[name] for name in ("name", "color", "icon", "match_word", "rules", "issue_count")]
    assert shown == ["Bug", "#abcdef", "tag", "", [], 0]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": "🐞" * 80}, 201),
        ({"name": "🐞" * 81}, 422),
        ({"name": "\u00a0"}, 422),
        ({"name": 5}, 422),
        ({"name": None}, 422),
        ({"name": []}, 422),
        ({}, 422),
    ],
)
def test_check_79_names(app, body, status):
    assert app.post("tags", body).status == status


@pytest.mark.parametrize("color", ["#abc", "abcdef", "#abcdeg", "#abcdef\n"])
def test_check_80_colors(shared, color):
    shared.post("tags", {"name": "x", "color": color}).err(422)


@pytest.mark.parametrize("icon", ["Bug", "1bug", "büg", "b" * 33, "bug\n"])
def test_check_80_icons(shared, icon):
    shared.post("tags", {"name": "x", "icon": icon}).err(422)


def test_check_81_match_words(app):
    assert len(app.post("tags", {"name": "a", "match_word": "w" * 200}).ok(201)["rules"]) == 1
    app.post("tags", {"name": "b", "match_word": "w" * 201}).err(422)
    assert app.post("tags", {"name": "c", "match_word": "   "}).ok(201)["rules"] == []


def test_check_82_names_are_unique(app):
    tag = app.post("tags", {"name": "Bug"}).ok(201)
    app.post("tags", {"name": "bug"}).err(422)
    app.put("tags", {"id": tag["id"], "name": "Bug"}).ok()
    with ThreadPoolExecutor(2) as pool:
        made = pool.map(lambda _: app.post("tags", {"name": "Twice"}).status, range(2))
    assert sorted(made) == [201, 422]


@pytest.mark.parametrize(
    ("word", "tagged", "untagged"),
    [
        ("user_id", "bad user_id given", "bad userXid given"),
        ("100%", "100% full", "100 percent"),
        ("überlauf", "ÜBERLAUF im Puffer", "Uberlauf"),
        ("[a-", "range [a- is open", "range a is open"),
    ],
)
def test_check_83_rules_match_literally(app, word, tagged, untagged):
    yes, no = _make(app, tagged, untagged)
    assert app.post("tags", {"name": "T", "match_word": word}).ok(201)["issue_count"] == 1
    assert (_tags(app, yes), _tags(app, no)) == ({"T": "rule"}, {})


def test_check_84_a_rule_is_applied_before_the_answer(app, issue):
    app.post("tags", {"name": "Orders", "match_word": "ORDER"}).ok(201)
    assert [tag["issue_count"] for tag in app.get("tags").data] == [1]
    assert _tags(app, issue) == {"Orders": "rule"}


def test_check_85_a_rule_is_rebuilt_and_a_hand_respected(app):
    first, second, third = _make(app, "alpha", "beta", "gamma")
    tag = app.post("tags", {"name": "T", "match_word": "alpha"}).ok(201)["id"]
    app.post("issue-tags", {"group_id": third, "tag_id": tag}).ok()
    app.put("tags", {"id": tag, "name": "T", "match_word": "beta"}).ok()
    assert [_tags(app, each) for each in (first, second, third)] == [{}, {"T": "rule"}, {"T": "manual"}]


def test_check_86_put_replaces_and_patch_keeps(app):
    tag = app.post("tags", {"name": "T", "color": "#111111", "icon": "bug", "match_word": "w"}).ok(201)["id"]
    kept = app.patch("tags", {"id": tag, "name": "y"}).ok()
    assert (kept["name"], kept["color"], kept["icon"], len(kept["rules"])) == ("y", "#111111", "bug", 1)
    app.patch("tags", {"id": tag, "color": "#000000"}).err(422)
    replaced = app.put("tags", {"id": tag, "name": "x"}).ok()
    assert [replaced[n] for n in ("name", "color", "icon", "rules")] == ["x", "#64748b", "tag", []]


def test_check_87_a_tag_goes_with_its_assignments(app, issue):
    tag = app.post("tags", {"name": "T", "match_word": "order"}).ok(201)["id"]
    assert app.call("DELETE", "tags", id=tag).ok() == {"id": tag, "deleted": True}
    app.call("DELETE", "tags", id=tag).err(404)
    app.call("DELETE", "tags").err(422)
    assert _tags(app, issue) == {}


def test_check_88_tags_by_hand(app, issue):
    tag = app.post("tags", {"name": "T"}).ok(201)["id"]
    added = app.post("issue-tags", {"group_id": issue, "tag_id": tag}).ok()
    assert added == {"groupId": issue, "tagId": tag, "action": "add"}
    assert _tags(app, issue) == {"T": "manual"}
    app.post("issue-tags", {"group_id": issue, "tag_id": tag, "action": "toggle"}).err(422)
    app.post("issue-tags", {"group_id": issue}).err(422)
    app.post("issue-tags", {"group_id": 999999, "tag_id": tag}).err(404)
    app.post("issue-tags", {"group_id": issue, "tag_id": 999999}).err(404)


def test_check_89_what_was_removed_by_hand_stays_off(app, issue, monolog):
    tag = app.post("tags", {"name": "T", "match_word": "order"}).ok(201)["id"]
    app.post("issue-tags", {"group_id": issue, "tag_id": tag, "action": "remove"}).ok()
    app.take_in(more_log=monolog("Order 4713 failed", start=time.time() + 5))
    app.put("tags", {"id": tag, "name": "T", "match_word": "order"}).ok()
    assert _tags(app, issue) == {}
    app.post("issue-tags", {"group_id": issue, "tag_id": tag}).ok()
    assert _tags(app, issue) == {"T": "manual"}


# search and detail


def test_check_90_search_is_literal_and_folded(app):
    _make(app, "disk 100% full", "disk 100 percent", "snake_case", "snakecase", "Straße gesperrt")
    assert _titles(app, q="100%") == ["disk 100% full"]
    assert _titles(app, q="_") == ["snake_case"]
    assert _titles(app, q="STRASSE") == ["Straße gesperrt"]


def test_check_91_filters_by_lists(app):
    _make(app, "an error", severity="ERROR")
    _make(app, "a warning", severity="warning")
    _make(app, "a note", severity="INFO", status="fixed")
    assert _titles(app, severity="error,warning") == ["a warning", "an error"]
    app.get("errors", severity="loud").err(422)
    assert len(_titles(app, status="open,fixed")) == 3
    assert _titles(app, log_type="unused") == []


def test_check_92_a_range_counts_what_is_in_it(app):
    line = "[2026-01-0{} 10:00:00] production.ERROR: Order {} failed\n"
    app.take_in(app_log="".join(line.format(day, day * 7) for day in (1, 2, 3, 3, 4)))
    scoped = app.get("errors", **{"from": "2026-01-03 00:00:00", "to": "2026-01-04"}).ok()
    assert scoped["meta"]["scoped"] is True
    assert [(issue["count"], issue["count_total"]) for issue in scoped["data"]] == [(2, 5)]
    app.get("errors", **{"date": "2026-01-03", "from": "2026-01-03 00:00:00"}).err(422)


def test_check_93_stacks_on_request(app, issue):
    assert "sample_stack" in app.get("errors", include_stack=1).data[0]
    assert "sample_stack" not in app.get("errors").data[0]
    assert "sample_stack" in app.get("groups").json["items"][0]


def test_check_94_export(app):
    _make(app, "=1+1", 'with "quotes", commas', "a\nb", "plain")
    answer = app.get("errors", format="csv")
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert len(rows) == app.get("errors").json["meta"]["total"] == 4
    assert "'=1+1" in [row["title"] for row in rows]
    lines = app.get("errors", format="ndjson").text.splitlines()
    assert sorted(json.loads(line)["title"] for line in lines) == _titles(app)


def test_check_95_one_issue_in_full(app, issue):
    app.get("error").err(422)
    app.get("error", id=999999).err(404)
    shown = app.get("error", id=issue).ok()
    assert app.get("group", id=issue).ok()["group"] == shown["data"]
    assert "data" not in app.get("group", id=issue).json
    bare = app.get("error", id=issue, include_context="false").ok()
    assert "sample_context" not in bare["data"] and "context_preview" not in bare["occurrences"][0]


def test_check_96_issues_by_hand(app):
    made = app.post("issues", {"title": "x"}).ok(201)
    assert (made["data"]["origin"], made["data"]["count"]) == ("manual", 0)
    assert len(made["status_history"]) == 1
    app.post("issues", {"title": "t" * 501}).err(422)
    app.post("issues", {"title": "x", "tag_ids": [999999]}).err(422)
    app.get("issues").err(405)


# status and jobs


def test_check_98_status(app, issue):
    app.post("issue-status", {"id": issue, "status": "done"}).err(422)
    app.post("issue-status", {"id": 999999, "status": "done"}).err(422)
    app.post("issue-status", {"id": 999999, "status": "open"}).err(404)
    app.post("issue-status", {"id": issue, "status": "open", "note": "still so"}).ok()
    history = app.get("error", id=issue).json["status_history"]
    assert [(row["from_status"], row["to_status"], row["note"]) for row in history] == [("open", "open", "still so")]


def test_check_104_jobs(app, issue):
    app.get("jobs", id=999999).err(404)
    done = app.get("jobs", kind="import").data[0]
    assert done["status"] == "succeeded"
    app.post("jobs", {"id": done["id"], "action": "cancel"}).err(409)
    app.post("jobs", {"id": done["id"], "action": "retry"}).err(409)
    with sqlite3.connect(app.folder / "service.sqlite") as db:  # a job that fails for good takes minutes
        db.execute("UPDATE jobs SET status = 'failed', error = 'The disk is gone.' WHERE id = ?", (done["id"],))
    db.close()
    again = app.post("jobs", {"id": done["id"], "action": "retry"}).ok()
    assert again["id"] > done["id"]
    assert (again["status"], again["kind"], again["attempts"]) == ("queued", "import", 0)
