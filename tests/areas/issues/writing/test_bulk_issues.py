"""Bulk actions."""

import itertools
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import insert

from snaglist.kernel import Call, Invalid, store, times
from snaglist.plugins.issues import Event, StoredBatch, tables
from snaglist.plugins.issues.bulk import actions, handlers, jobs, kept
from snaglist.plugins.issues.bulk.actions import ACTIONS
from snaglist.plugins.issues.bulk.outcome import Outcome
from snaglist.plugins.issues.deleting import delete_issues
from snaglist.plugins.issues.merging import merge_issues
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.system import jobs_table
from snaglist.plugins.tags import tables as tag_tables
from snaglist.testing import Client

pytestmark = pytest.mark.servers

DONE = {"status": "fixed", "changed_at": "2026-01-03 10:00:00", "previous": {"1": "open"}, "fixes": {}}
UNKNOWN = 987_654


def event(message: str, minute: int = 0, **more: Any) -> Event:
    return Event(message, occurred_at=f"2026-01-03 10:{minute:02}:00", **more)


def add_tag(desk: Any, name: str = "t") -> int:
    with desk.call() as call:
        row = {"name": name, "name_key": name, "color": "#000000", "icon": "tag"}
        made = call.db.execute(insert(tag_tables.tags), {**row, "created_at": call.now, "updated_at": call.now})
        return int(made.inserted_primary_key[0])


def count_in_source(desk: Any) -> None:
    """Do what a caller of `store_events` does: the source's own count."""
    stored = len(desk.rows(tables.occurrences))
    with desk.call() as call:
        call.db.execute(log_tables.sources.update().values(occurrence_count=stored))


@pytest.fixture
def three(desk: Any) -> list[int]:
    stored = desk.store(event("alpha failed", 1), event("beta broke", 2), event("gamma gone", 3)).stored
    return [row.issue_id for row in stored]


@pytest.fixture
def sqlite_three(sqlite_desk: Any) -> list[int]:
    stored = sqlite_desk.store(event("alpha failed", 1), event("beta broke", 2), event("gamma gone", 3)).stored
    return [row.issue_id for row in stored]


def bulk(client: Client, action: str, **body: Any) -> Any:
    return client.post("bulk-issues", {"action": action, **body})


def test_status(client: Client, desk: Any, three: list[int]) -> None:
    """Two history rows; the statuses before are in the answer."""
    alpha, beta, gamma = three
    bulk(client, "status", ids=[beta], status="wont_fix")
    answer = bulk(client, "status", ids=[gamma, beta, gamma], status="in_progress", note=" triage ")
    assert answer.status == 200
    assert answer.json == {
        "action": "status",
        "status": "in_progress",
        "note": "triage",
        "changed_at": desk.issue(gamma)["status_updated_at"],
        "fixes": {},
        "updated": 2,
        "ids": sorted([beta, gamma]),
        "previous": {str(beta): "wont_fix", str(gamma): "open"},
    }
    assert [(row["from_status"], row["to_status"], row["note"]) for row in desk.history(gamma)] == [
        ("open", "in_progress", "triage")
    ]
    assert len(desk.history(beta)) == 2 and desk.history(alpha) == []
    desk.check_counters()


def test_what_has_the_status_already_is_left_as_it_is(client: Client, desk: Any, three: list[int]) -> None:
    """No word of its history says so, unless there is a note; and an undo leaves it alone."""
    bulk(client, "status", ids=three[:1], status="fixed", release="1.0")
    fixed = desk.issue(three[0])
    answer = bulk(client, "status", ids=three, status="fixed")
    assert (answer.json["updated"], sorted(answer.json["previous"])) == (3, sorted(map(str, three[1:])))
    assert (desk.issue(three[0]), len(desk.history(three[0]))) == (fixed, 1)
    bulk(client, "status", ids=three, status="fixed", note="told")
    assert [row["note"] for row in desk.history(three[0])] == [None, "told"]


def test_a_request_is_undone_as_a_job_is(client: Client, desk: Any, three: list[int]) -> None:
    """By what it answered: where nobody has touched an issue since, and with when and where it was fixed."""
    bulk(client, "status", ids=three[:1], status="fixed", release="1.0")
    fixed = desk.issue(three[0])
    answer = bulk(client, "status", ids=three, status="wont_fix").json
    client.post("issue-status", {"id": three[1], "status": "reoccurred"})
    undone = bulk(client, "undo", done={name: answer[name] for name in DONE})
    assert (undone.status, undone.json["ids"]) == (200, sorted([three[0], three[2]])), undone.text
    after = desk.issue(three[0])
    assert [after[name] for name in ("status", "fixed_at", "fixed_release")] == [
        fixed[name] for name in ("status", "fixed_at", "fixed_release")
    ]
    assert [desk.issue(issue_id)["status"] for issue_id in three[1:]] == ["reoccurred", "open"]
    assert [row["note"] for row in desk.history(three[2])] == [None, "Undo"]
    one = client.post("issue-status", {"id": three[0], "status": "open"}).json
    done = {**{name: one[name] for name in DONE if name != "previous"}, "previous": {str(one["id"]): "fixed"}}
    assert bulk(client, "undo", done=done).json["updated"] == 1
    assert desk.issue(three[0])["fixed_release"] == "1.0"
    desk.check_counters()


def test_a_fix_names_its_release(client: Client, desk: Any, three: list[int]) -> None:
    assert bulk(client, "status", ids=three, status="fixed", release="v2").status == 200
    assert {row["fixed_release"] for row in desk.rows(tables.issues)} == {"v2"}
    assert bulk(client, "status", ids=three, status="open", release="v2").status == 422


def test_all_or_nothing(client: Client, desk: Any, three: list[int]) -> None:
    """With one unknown id nothing changes."""
    answer = bulk(client, "status", ids=[*three, UNKNOWN], status="fixed")
    assert (answer.status, answer.error) == (422, f"ids: unknown issue {UNKNOWN}")
    assert {row["status"] for row in desk.rows(tables.issues)} == {"open"}
    assert desk.rows(tables.status_history) == []


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "action"),
        ({"action": "explode", "ids": [1]}, "action"),
        ({"action": "Status", "ids": [1], "status": "open"}, "action"),
        ({"action": "status", "ids": [1]}, "status"),
        ({"action": "status", "ids": [1], "status": "done"}, "status"),
        ({"action": "status", "ids": [], "status": "open"}, "ids"),
        ({"action": "status", "ids": list(range(1, 202)), "status": "open"}, "ids"),
        ({"action": "status", "ids": [0], "status": "open"}, "ids"),
        ({"action": "status", "ids": ["1"], "status": "open"}, "ids"),
        ({"action": "status", "ids": [True], "status": "open"}, "ids"),
        ({"action": "status", "ids": 1, "status": "open"}, "ids"),
        ({"action": "status", "status": "open"}, "ids"),
        ({"action": "status", "ids": [1], "filter": {}, "status": "open"}, "ids"),
        ({"action": "status", "filter": [], "status": "open"}, "filter"),
        ({"action": "status", "filter": {"sort": "newest"}, "status": "open"}, "filter.sort"),
        ({"action": "status", "filter": {"page": 1}, "status": "open"}, "filter.page"),
        ({"action": "status", "filter": {"cursor": "x"}, "status": "open"}, "filter.cursor"),
        ({"action": "status", "filter": {"format": "csv"}, "status": "open"}, "filter.format"),
        ({"action": "status", "filter": {"include_stack": True}, "status": "open"}, "filter.include_stack"),
        ({"action": "status", "filter": {"severity": "loud"}, "status": "open"}, "filter.severity"),
        ({"action": "status", "filter": {"has_stack": "yes"}, "status": "open"}, "filter.has_stack"),
        ({"action": "status", "filter": {"severity": ""}, "status": "open"}, "filter.severity"),
        ({"action": "status", "filter": {"severty": "error"}, "status": "open"}, "filter.severty"),
        ({"action": "add_tag", "ids": [1]}, "tag_id"),
        ({"action": "remove_tag", "ids": [1], "tag_id": 0}, "tag_id"),
        ({"action": "assign", "ids": [1], "assigned_to_id": 7}, "assigned_to_id"),
        ({"action": "snooze", "ids": [1]}, "until"),
        ({"action": "snooze", "ids": [1], "until": "2999-01-01 00:00:00", "count": 3}, "until"),
        ({"action": "snooze", "ids": [1], "count": 0}, "count"),
        ({"action": "snooze", "ids": [1], "count": 1_000_001}, "count"),
        ({"action": "snooze", "ids": [1], "until": "soon"}, "until"),
        ({"action": "undo"}, "job_id"),
        ({"action": "undo", "job_id": 1}, "job_id"),
        ({"action": "undo", "job_id": 1, "ids": [1]}, "ids"),
        ({"action": "undo", "job_id": 1, "done": DONE}, "job_id"),
        ({"action": "undo", "done": DONE | {"previous": {}}}, "done.previous"),
        ({"action": "undo", "done": DONE | {"previous": {"one": "open"}}}, "done.previous"),
        ({"action": "undo", "done": DONE | {"fixes": {"1": ["soon", None]}}}, "done.fixes.1"),
        ({"action": "undo", "done": DONE | {"fixes": {"1": ["2026-13-03 10:00:00", None]}}}, "done.fixes.1"),
        ({"action": "undo", "done": DONE | {"previous": {"1": "fixed"}}}, "done.fixes"),
        ({"action": "undo", "done": DONE | {"changed_at": "soon"}}, "done.changed_at"),
        ({"action": "undo", "done": DONE | {"changed_at": "9999-01-01 00:00:00"}}, "done.changed_at"),
        ({"action": "undo", "done": DONE | {"fixes": {"1": ["9999-01-01 00:00:00", None]}}}, "done.fixes.1"),
        ({"action": "undo", "done": DONE | {"fixes": {"1": ["2026-01-03 10:00:00", ""]}}}, "done.fixes.1"),
        ({"action": "undo", "done": DONE | {"fixes": {"1": ["2026-01-03 10:00:00", " "]}}}, "done.fixes.1"),
        ({"action": "undo", "done": DONE | {"fixes": {"1": ["2026-01-03 10:00:00", "1.0\n2"]}}}, "done.fixes.1"),
        ({"action": "undo", "job_id": 1, "filter": {}}, "filter"),
        ({"action": "undo", "done": DONE, "status": "open"}, "status"),
        ({"action": "undo", "job_id": 1, "release": "1.0"}, "release"),
        ({"action": "undo", "job_id": 1, "count": 3}, "count"),
        ({"action": "status", "ids": [1], "status": "open", "job_id": 1}, "job_id"),
        ({"action": "status", "ids": [1], "status": "open", "done": DONE}, "done"),
        ({"action": "merge", "ids": [1]}, "target_id"),
        ({"action": "unmerge", "id": 1}, "grouping_id"),
        ({"action": "unmerge", "grouping_id": 1}, "id"),
        ({"action": "unmerge", "id": 1, "grouping_id": 1, "ids": [1]}, "ids"),
        ({"action": "delete", "ids": [1]}, "confirmation"),
        ({"action": "delete", "ids": [1], "confirmation": "delete issues"}, "confirmation"),
    ],
)
def test_refused_bodies(sqlite_client: Client, sqlite_three: list[int], body: dict[str, Any], named: str) -> None:
    answer = sqlite_client.post("bulk-issues", body)
    assert answer.status == 422
    assert answer.error.startswith((f"{named}:", f"{named}[")), answer.error


@pytest.mark.parametrize("name", ["previous", "fixes"])
def test_an_undo_of_too_many_names_the_limit(sqlite_client: Client, name: str) -> None:
    values = {"previous": "open", "fixes": ["2026-01-03 10:00:00", "1.0"]}
    many = {str(number): values[name] for number in range(1, 202)}
    answer = bulk(sqlite_client, "undo", done=DONE | {name: many})
    assert (answer.status, answer.error.split(":")[0]) == (422, f"done.{name}")
    assert "200 issues" in answer.error


def test_tags(client: Client, desk: Any, three: list[int]) -> None:
    tag_id = add_tag(desk)
    answer = bulk(client, "add_tag", ids=three[:2], tag_id=tag_id)
    assert answer.json == {
        "action": "add_tag",
        "tag_id": tag_id,
        "updated": 2,
        "ids": sorted(three[:2]),
        "previous": {},
    }
    assert {row["source"] for row in desk.rows(tag_tables.issue_tags)} == {"manual"}
    assert bulk(client, "remove_tag", ids=three, tag_id=tag_id).json["updated"] == 3
    assert desk.rows(tag_tables.issue_tags) == []
    assert [row["issue_id"] for row in desk.rows(tag_tables.tag_removals)] == sorted(three[:2])
    assert bulk(client, "add_tag", ids=three, tag_id=UNKNOWN).error == "tag_id: unknown tag"
    assert desk.rows(tables.status_history) == []


def test_assign_without_a_host_stores_nothing(client: Client, desk: Any, three: list[int]) -> None:
    answer = bulk(client, "assign", ids=three, assigned_to_id="7", assigned_to_label="Ana")
    assert answer.status == 200
    assert (answer.json["assigned_to_id"], answer.json["assigned_to_label"]) == (None, None)
    assert answer.json["updated"] == 3
    assert desk.rows(tables.status_history) == []


def test_snooze_until_a_time(client: Client, desk: Any, three: list[int]) -> None:
    """A passed time reads as null."""
    until = times.add(times.now(), seconds=3600)
    answer = bulk(client, "snooze", ids=three[:1], until=f"{until.replace(' ', 'T')}Z")
    assert (answer.json["snoozed_until"], answer.json["snooze_count"]) == (until, None)
    assert client.get("errors", snoozed="true").json["meta"]["total"] == 1
    assert client.get("error", id=three[0]).json["data"]["snoozed_until"] == until
    assert [(row["event"], row["note"]) for row in desk.history(three[0])] == [("snooze", f"Until {until}")]
    with desk.call() as call:
        call.db.execute(tables.issues.update().values(snoozed_until="2026-01-01 00:00:00"))
    assert client.get("error", id=three[0]).json["data"]["snoozed_until"] is None
    assert client.get("errors", snoozed="true").json["meta"]["total"] == 0
    past = bulk(client, "snooze", ids=three, until=times.now())
    assert (past.status, past.error) == (422, "until: must be in the future")


def test_snooze_for_a_number_of_events(client: Client, desk: Any, three: list[int]) -> None:
    """The field counts down and becomes null; the batch says which of its events are silent."""
    bulk(client, "snooze", ids=three[:1], until=times.add(times.now(), seconds=60))
    answer = bulk(client, "snooze", ids=three[:1], count=3)
    assert (answer.json["snoozed_until"], answer.json["snooze_count"]) == (None, 3)
    found: list[tuple[dict[int, int], Any]] = []
    for batch in (
        [event("alpha failed", 10)],
        [event("alpha failed", n) for n in (11, 12, 13)],
        [event("alpha failed", 14)],
    ):
        stored: StoredBatch = desk.store(*batch)
        found.append((stored.silent, client.get("error", id=three[0]).json["data"]["snooze_count"]))
    assert found == [({three[0]: 1}, 2), ({three[0]: 2}, None), ({}, None)]
    assert client.get("error", id=three[0]).json["data"]["status"] == "open"


def test_events_read_again_use_up_no_snooze(sqlite_client: Client, sqlite_desk: Any, sqlite_three: list[int]) -> None:
    bulk(sqlite_client, "snooze", ids=sqlite_three[:1], count=2)
    batch = sqlite_desk.store(event("alpha failed", 10), reoccur=False)
    assert (batch.silent, sqlite_desk.issue(sqlite_three[0])["snooze_count"]) == ({}, 2)


def test_unsnooze(client: Client, desk: Any, three: list[int]) -> None:
    bulk(client, "snooze", ids=three, count=3)
    answer = bulk(client, "unsnooze", ids=three)
    assert answer.json == {"action": "unsnooze", "updated": 3, "ids": sorted(three), "previous": {}}
    assert {row["snooze_count"] for row in desk.rows(tables.issues)} == {None}
    assert [row["note"] for row in desk.history(three[0])] == ["For 3 more events", "Ended"]


def test_merge_and_unmerge(client: Client, desk: Any, three: list[int]) -> None:
    alpha, beta, gamma = three
    answer = bulk(client, "merge", ids=[alpha, beta], target_id=gamma)
    assert answer.json["target_id"] == gamma and answer.json["ids"] == sorted([alpha, beta])
    shown = client.get("error", id=alpha).json
    assert (shown["data"]["id"], shown["data"]["count"], len(shown["groupings"])) == (gamma, 3, 3)
    again = bulk(client, "status", ids=[alpha, beta, gamma], status="fixed")
    assert (again.json["ids"], again.json["updated"]) == ([gamma], 1), "merged ids mean their target"
    grouping_id = shown["groupings"][0]["id"]
    parted = bulk(client, "unmerge", id=alpha, grouping_id=grouping_id).json
    new_id = parted.pop("new_id")
    assert parted == {
        "action": "unmerge", "id": gamma, "grouping_id": grouping_id, "updated": 1, "ids": [gamma], "previous": {}
    }  # fmt: skip
    counts = [client.get("error", id=issue_id).json["data"]["count"] for issue_id in (gamma, new_id)]
    assert counts == [2, 1]
    desk.check_counters()


def test_merges_that_are_refused(client: Client, desk: Any, three: list[int]) -> None:
    alpha, beta, _ = three
    manual = client.post("issues", {"title": "By hand"}).json["data"]["id"]
    merged = client.post("issues", {"title": "Target"}).json["data"]["id"]
    for ids, target, named in (
        ([alpha], UNKNOWN, "target_id"),
        ([alpha, beta], alpha, "target_id"),
        ([alpha, manual], beta, "ids"),
        ([alpha], merged, "ids"),
    ):
        answer = bulk(client, "merge", ids=ids, target_id=target)
        assert (answer.status, answer.error.split(":")[0]) == (422, named)
    assert len(desk.rows(tables.issues)) == 5


def test_unmerges_that_are_refused(client: Client, desk: Any, three: list[int]) -> None:
    (grouping, *_) = desk.rows(tables.groupings)
    assert bulk(client, "unmerge", id=UNKNOWN, grouping_id=grouping["id"]).status == 404
    assert bulk(client, "unmerge", id=three[0], grouping_id=UNKNOWN).status == 422
    only = bulk(client, "unmerge", id=grouping["issue_id"], grouping_id=grouping["id"])
    assert (only.status, only.error) == (422, "grouping_id: must not be the only grouping of the issue")


@pytest.mark.parametrize(
    ("ids", "target_id", "problem"),
    [([0, UNKNOWN], 1, f"ids: Unknown issue {UNKNOWN}."), ([0], UNKNOWN, "target_id: unknown issue")],
)
def test_merging_what_another_request_took_away(
    desk: Any, three: list[int], ids: list[int], target_id: int, problem: str
) -> None:
    """An issue may go between the check of the request and its turn: still a fault of a field, not an unknown page."""
    known = dict(enumerate(three))
    with desk.call() as call, pytest.raises(Invalid) as refused:
        ACTIONS["merge"](call, [known.get(id_, id_) for id_ in ids], {"target_id": known.get(target_id, target_id)})
    assert refused.value.message == problem


def test_delete(client: Client, desk: Any, three: list[int]) -> None:
    """All that belongs to the issues goes; the same key makes a new issue."""
    tag_id = add_tag(desk)
    bulk(client, "add_tag", ids=three, tag_id=tag_id)
    bulk(client, "status", ids=three, status="fixed")
    with desk.call() as call:
        merge_issues(call, [three[1]], three[0])
    count_in_source(desk)
    answer = bulk(client, "delete", ids=[three[1]], confirmation="DELETE ISSUES")
    assert answer.json == {"action": "delete", "updated": 1, "ids": [three[0]], "previous": {}}
    for table in (tables.issues, tables.groupings, tables.issue_samples, tag_tables.issue_tags, tables.occurrences):
        column = table.c.id if table is tables.issues else table.c.issue_id
        assert {row[column.name] for row in desk.rows(table)} == {three[2]}, table.name
    assert desk.rows(tables.issue_aliases) == []
    assert {row["issue_id"] for row in desk.rows(tables.status_history)} == {three[2]}
    desk.check_counters()
    assert client.get("error", id=three[0]).status == 404
    assert client.get("error", id=three[1]).status == 404
    summary = client.get("summary").json
    assert summary["total"]["groups_count"] == 1 and summary["trend"] == [{"day": "2026-01-03", "count": 1}]
    batch = desk.store(event("alpha failed", 30))
    assert len(batch.new_issues) == 1 and not batch.reoccurred_issues
    desk.check_counters()


def test_delete_takes_back_events_that_are_stored_no_more(client: Client, desk: Any) -> None:
    """Retention removed the rows; the application's figures lose these events as well."""
    stored = desk.store(
        event("alpha failed", 1), event("alpha failed", 2, severity="ALERT"), event("beta broke")
    ).stored
    with desk.call() as call:
        events = tables.occurrences
        call.db.execute(events.delete().where(events.c.issue_id == stored[0].issue_id, events.c.severity == "ERROR"))
        mine = tables.issues.c.id == stored[0].issue_id
        call.db.execute(tables.issues.update().where(mine).values(stored_occurrences=1))
    count_in_source(desk)
    bulk(client, "delete", ids=[stored[0].issue_id], confirmation="DELETE ISSUES")
    assert [row["count"] for row in desk.rows(tables.event_days)] == [1]
    assert client.get("summary").json["total"]["occurrences"] == 1


def test_a_deletion_lowers_the_count_of_its_source(client: Client, desk: Any, three: list[int]) -> None:
    count_in_source(desk)
    bulk(client, "delete", ids=three[:2], confirmation="DELETE ISSUES")
    assert [row["occurrence_count"] for row in desk.rows(log_tables.sources)] == [1]


def test_manual_issues_can_be_deleted(client: Client, desk: Any) -> None:
    issue_id = client.post("issues", {"title": "By hand"}).json["data"]["id"]
    assert bulk(client, "delete", ids=[issue_id], confirmation="DELETE ISSUES").status == 200
    assert desk.rows(tables.issues) == []
    desk.check_counters()


class TestFilters:
    """`filter`: all issues that a search finds."""

    @pytest.mark.parametrize(
        ("given", "found"),
        [
            ({}, [0, 1, 2]),
            ({"q": "ALPHA"}, [0]),
            ({"q": "100%"}, []),
            ({"severity": "error,alert"}, [0, 1]),
            ({"severity": ["alert"]}, [1]),
            ({"status": "open", "has_stack": "false"}, [0, 1, 2]),
            ({"has_stack": True}, []),
            ({"date": "2026-01-03"}, [0, 1, 2]),
            ({"from": "2026-01-03 11:00:00"}, [2]),
            ({"log_type": "unused"}, []),
        ],
    )
    def test_values_as_in_the_query(self, client: Client, desk: Any, given: dict[str, Any], found: list[int]) -> None:
        stored = desk.store(
            event("alpha failed"),
            event("beta broke", severity="ALERT"),
            Event("gamma gone", "INFO", occurred_at="2026-01-03 11:30:00"),
        ).stored
        answer = bulk(client, "status", filter=given, status="fixed")
        assert answer.json["ids"] == sorted(stored[n].issue_id for n in found)
        fixed = {row["id"] for row in desk.rows(tables.issues) if row["status"] == "fixed"}
        assert fixed == set(answer.json["ids"])

    def test_contradicting_times(self, sqlite_client: Client) -> None:
        answer = bulk(sqlite_client, "status", filter={"date": "2026-01-03", "to": "2026-01-04"}, status="fixed")
        assert answer.status == 422

    def test_the_target_of_a_merge_may_match(self, client: Client, desk: Any, three: list[int]) -> None:
        answer = bulk(client, "merge", filter={}, target_id=three[1])
        assert answer.json["ids"] == sorted([three[0], three[2]])
        assert desk.issue()["count"] == 3


RACING = {
    "status": {"status": "fixed"}, "snooze": {"count": 3}, "unsnooze": {}, "assign": {}, "add_tag": {"tag_id": 1},
    "remove_tag": {"tag_id": 1}, "delete": {"confirmation": "DELETE ISSUES"},
}  # fmt: skip


@pytest.mark.parametrize("action", RACING)
def test_an_issue_that_another_request_deletes_meanwhile(
    client: Client, desk: Any, three: list[int], action: str
) -> None:
    """All or nothing, on every database: the answer never counts an issue that was gone."""
    alpha, beta, gamma = three
    add_tag(desk)
    with ThreadPoolExecutor(2) as pool:
        with desk.call() as call:
            delete_issues(call, [alpha])
            named = pool.submit(bulk, client, action, ids=[alpha, beta], **RACING[action])
            time.sleep(0.3)  # it waits for the lock by then, or has not begun
        refused = named.result()
    assert (refused.status, refused.error) == (422, f"ids: unknown issue {alpha}")
    assert client.get("error", id=beta).json["status_history"] == []
    with ThreadPoolExecutor(2) as pool:
        with desk.call() as call:
            delete_issues(call, [beta])
            found = pool.submit(bulk, client, action, filter={}, **RACING[action])
            time.sleep(0.3)
        answer = found.result().json
    assert (answer["updated"], answer["ids"]) == (1, [gamma])


def test_an_issue_that_is_deleted_while_it_is_assigned(
    client: Client, desk: Any, three: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.service, "assignable_users", lambda environ, app: [{"id": "7", "label": "Ana"}])
    with ThreadPoolExecutor(1) as pool:
        with desk.call() as call:
            delete_issues(call, [three[0]])
            assigned = pool.submit(client.post, "assign-issue", {"id": three[0], "assigned_to_id": "7"})
            time.sleep(0.3)
        assert (assigned.result().status, assigned.result().error) == (404, "Unknown issue.")


class TestJobs:
    """Large work runs as a job of kind `bulk_issues`, in batches, under the asker's name."""

    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(handlers, "MAX_ISSUES", 2)
        monkeypatch.setattr(handlers, "MAX_OCCURRENCES", 2)
        monkeypatch.setattr(jobs, "BATCH", 2)
        monkeypatch.setattr(jobs, "OCCURRENCES", 2)

    def test_status(self, client: Client, desk: Any, three: list[int]) -> None:
        queued = client.post("bulk-issues", {"action": "status", "filter": {}, "status": "fixed"})
        assert queued.status == 202 and queued.json["status"] == "queued"
        answer = client.post("bulk-issues", {"action": "status", "filter": {}, "status": "wont_fix"}, wait=True)
        assert answer.status == 200
        assert answer.json["job_id"] and answer.json["status"] == "wont_fix"
        assert answer.json["ids"] == sorted(three)
        assert answer.json["previous"] == dict.fromkeys(map(str, three), "fixed")
        history = desk.history(three[2])
        assert [(row["to_status"], row["actor"]) for row in history] == [("fixed", "Local"), ("wont_fix", "Local")]
        job = client.get("jobs", kind="bulk_issues").json["data"][0]
        assert (job["progress"]["done"], job["progress"]["total"], job["progress"]["unit"]) == (3, 3, "issues")
        assert _jobs_with_batches(desk) == {answer.json["job_id"]}  # not the one that succeeded before it
        desk.check_counters()

    def test_undo_gives_back_what_nobody_touched_since(self, client: Client, desk: Any) -> None:
        """Not a status that somebody set after the job, the same one again included, and nothing that is gone."""
        stored = desk.store(*(event(f"{word} failed", n) for n, word in enumerate(("a b", "c d", "e f", "g h", "i j"))))
        ids = sorted(row.issue_id for row in stored.stored)
        bulk(client, "status", ids=ids[:1], status="in_progress")
        body = {"action": "status", "filter": {}, "status": "fixed"}
        job = client.post("bulk-issues", body, wait=True).json["job_id"]
        client.post("issue-status", {"id": ids[2], "status": "reoccurred"})
        with desk.call() as call:
            later = {"status_updated_at": times.add(call.now, seconds=60)}
            call.db.execute(tables.issues.update().where(tables.issues.c.id == ids[3]).values(later))
            delete_issues(call, ids[4:])
        undone = client.post("bulk-issues", {"action": "undo", "job_id": job}, wait=True)
        assert undone.status == 200, undone.text
        assert (undone.json["updated"], undone.json["ids"]) == (2, ids[:2])
        assert undone.json["previous"] == dict.fromkeys(map(str, ids[:2]), "fixed")
        found = {row["id"]: row["status"] for row in desk.rows(tables.issues)}
        assert found == dict(zip(ids, ("in_progress", "open", "reoccurred", "fixed"), strict=False))
        assert [row["note"] for row in desk.history(ids[1])] == [None, "Undo"]
        desk.check_counters()
        again = client.post("bulk-issues", {"action": "undo", "job_id": job}, wait=True)
        assert (again.json["updated"], again.json["ids"]) == (0, [])
        # The worker of the service takes no job that has a lease.
        running = {"status": "running", "lease_owner": "another", "heartbeat_at": times.add(times.now(), days=1)}
        for values in (running, {"status": "queued", "node": "another"}):
            with desk.call() as call:
                call.db.execute(jobs_table.update().where(jobs_table.c.id == job).values(**values))
            refused = bulk(client, "undo", job_id=job)
            assert (refused.status, refused.error) == (409, "The job is not finished, so it cannot be undone yet.")

    def test_a_job_that_0_4_finished_cannot_be_undone(self, client: Client, desk: Any, three: list[int]) -> None:
        """It did not keep since when issues were fixed."""
        job = client.post("bulk-issues", {"action": "status", "filter": {}, "status": "fixed"}, wait=True).json[
            "job_id"
        ]
        (row,) = desk.rows(jobs_table)
        result = {name: value for name, value in row["result"].items() if name not in ("fixes", "changed_at")}
        with desk.call() as call:
            call.db.execute(jobs_table.update().values(result=result))
        self.is_refused_as_of_an_earlier_version(client, job)
        assert [desk.issue(one)["status"] for one in three] == ["fixed"] * 3

    def is_refused_as_of_an_earlier_version(self, client: Client, job: int) -> None:
        refused = bulk(client, "undo", job_id=job)
        why = "The job was begun by an earlier version of snaglist, so it cannot be undone."
        assert (refused.status, refused.error) == (409, why)

    @pytest.mark.parametrize(("status", "release"), [("open", None), ("fixed", "2.0")])
    def test_undo_gives_back_since_when_and_in_which_release_issues_are_fixed(
        self, client: Client, desk: Any, three: list[int], status: str, release: str | None
    ) -> None:
        bulk(client, "status", ids=three[:1], status="fixed", release="1.0")
        before = desk.issue(three[0])
        body = {"action": "status", "filter": {}, "status": status} | ({"release": release} if release else {})
        job = client.post("bulk-issues", body, wait=True).json["job_id"]
        assert desk.issue(three[0])["fixed_release"] == release
        undone = client.post("bulk-issues", {"action": "undo", "job_id": job}, wait=True).json
        assert undone["updated"] == (1 if status == "open" else 3)  # two are open already
        after = desk.issue(three[0])
        kept = ("status", "fixed_at", "fixed_release")
        assert [after[name] for name in kept] == [before[name] for name in kept]
        assert [(row["status"], row["fixed_at"]) for row in map(desk.issue, three[1:])] == [("open", None)] * 2

    @pytest.mark.parametrize("cancelled", [False, True])
    def test_undo_of_a_job_that_did_nothing(self, client: Client, desk: Any, three: list[int], cancelled: bool) -> None:
        """Its issues were gone when it came to them, or it never began."""
        gone = [issue_id + UNKNOWN for issue_id in three]
        args = {"action": "status", "ids": gone, "fields": {"status": "fixed", "comment": True}, "actor": None}
        with desk.call() as call:
            job = call.enqueue("bulk_issues", args, total=3)
            if cancelled:
                call.service.jobs.cancel(call, job)
        while desk.rows(jobs_table)[0]["status"] in ("queued", "running"):
            time.sleep(0.05)
        undone = bulk(client, "undo", job_id=job)
        assert (undone.status, undone.json["updated"], undone.json["ids"]) == (200, 0, []), undone.text

    def test_an_undo_that_died_counts_what_it_did(
        self, sqlite_client: Client, sqlite_desk: Any, monkeypatch: Any
    ) -> None:
        """Not what somebody touched since, nor what was fixed before and forgotten on the way."""
        stored = sqlite_desk.store(*(event(f"{word} failed", n) for n, word in enumerate(("a b", "c d", "e f", "g h"))))
        ids = sorted(row.issue_id for row in stored.stored)
        bulk(sqlite_client, "status", ids=ids[:1], status="fixed", release="1.0")
        body = {"action": "status", "filter": {}, "status": "wont_fix"}
        real = jobs.ACTIONS["status"], jobs.ACTIONS["undo"]

        def fail_once(action: Any) -> Any:
            failures = [OSError("the disk is away")]

            def run(call: Call, some: Any, fields: Any) -> Any:
                if some == ids[2:] and failures:
                    raise failures.pop()
                return action(call, some, fields)

            return run

        monkeypatch.setattr(jobs, "ACTIONS", {"status": fail_once(real[0]), "undo": fail_once(real[1])})
        monkeypatch.setattr("snaglist.plugins.system.jobs.queue.RETRY_SECONDS", 0)
        job = sqlite_client.post("bulk-issues", body, wait=True).json["job_id"]
        sqlite_client.post("issue-status", {"id": ids[1], "status": "in_progress"})
        undone = sqlite_client.post("bulk-issues", {"action": "undo", "job_id": job}, wait=True).json
        assert (undone["updated"], undone["ids"]) == (3, [ids[0], *ids[2:]])
        assert undone["previous"] == dict.fromkeys(map(str, (ids[0], *ids[2:])), "wont_fix")
        assert (sqlite_desk.issue(ids[0])["status"], sqlite_desk.issue(ids[0])["fixed_release"]) == ("fixed", "1.0")

    def test_an_undo_reads_what_the_job_did_once(
        self, sqlite_client: Client, sqlite_desk: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Not for each batch, as it names every issue: once to ask for it, and once in the job."""
        sqlite_desk.store(*(event(f"{word} failed", n) for n, word in enumerate(("a b", "c d", "e f", "g h", "i j"))))
        body = {"action": "status", "filter": {}, "status": "fixed"}
        job = sqlite_client.post("bulk-issues", body, wait=True).json["job_id"]
        batches: list[int] = []
        real = jobs.ACTIONS["undo"]
        monkeypatch.setattr(jobs, "ACTIONS", {"undo": lambda *given: batches.append(1) or real(*given)})
        looked: list[int] = []
        found = actions.done_before
        monkeypatch.setattr(actions, "done_before", lambda *given: looked.append(1) or found(*given))
        undone = sqlite_client.post("bulk-issues", {"action": "undo", "job_id": job}, wait=True)
        assert (undone.json["updated"], len(batches), len(looked)) == (5, 3, 2)

    def test_only_statuses_can_be_undone(self, client: Client, desk: Any, three: list[int]) -> None:
        job = client.post("bulk-issues", {"action": "snooze", "filter": {}, "count": 3}, wait=True).json["job_id"]
        refused = bulk(client, "undo", job_id=job)
        assert (refused.status, refused.error) == (422, "job_id: not a job that set statuses")

    def test_a_job_that_died_goes_on(self, sqlite_client: Client, sqlite_desk: Any, monkeypatch: Any) -> None:
        """A batch that was done is not done again, and the answer is as if nothing had happened."""
        words = ("a b", "c d", "e f", "g h", "i j")
        stored = sqlite_desk.store(*(event(f"{word} failed", n) for n, word in enumerate(words))).stored
        ids = sorted(row.issue_id for row in stored)
        real = jobs.ACTIONS["status"]
        failures = [OSError("the disk is away")]
        kept: list[list[str]] = []

        def fail_once(call: Call, some: Any, fields: Any) -> Any:
            if some == ids[4:] and failures:
                found = sqlite_desk.rows(store.settings, _bulk_settings())
                kept.extend(sorted(row["value"]["previous"]) for row in found)
                raise failures.pop()
            return real(call, some, fields)

        monkeypatch.setattr(jobs, "ACTIONS", {"status": fail_once})
        monkeypatch.setattr("snaglist.plugins.system.jobs.queue.RETRY_SECONDS", 0)
        body = {"action": "status", "filter": {}, "status": "fixed"}
        answer = sqlite_client.post("bulk-issues", body, wait=True)
        assert answer.json["previous"] == dict.fromkeys(map(str, ids), "open")
        assert [len(sqlite_desk.history(issue_id)) for issue_id in ids] == [1] * 5
        assert sorted(kept) == [[*map(str, ids[:2])], [*map(str, ids[2:4])]]  # each batch by itself
        assert sqlite_client.get("jobs", kind="bulk_issues").json["data"][0]["attempts"] == 2

    @pytest.mark.parametrize("ended", ["cancelled", "failed"])
    def test_what_a_job_did_that_did_not_finish_can_be_undone(
        self, client: Client, desk: Any, three: list[int], monkeypatch: pytest.MonkeyPatch, ended: str
    ) -> None:
        """What it had done by then stays done, and is known as long as the job is; so is what its retry did."""
        ids = sorted(three)
        bulk(client, "status", ids=ids[:1], status="fixed", release="1.0")
        real = jobs._portions

        def portions(call: Any, *given: Any) -> Iterator[Any]:
            for some in real(call, *given):
                yield some
                if ended == "failed":
                    raise Invalid("it fails")
                client.post("jobs", {"id": call.job_id, "action": "cancel"})

        with monkeypatch.context() as patched:
            patched.setattr(jobs, "_portions", portions)
            body = {"action": "status", "filter": {}, "status": "wont_fix"}
            client.post("bulk-issues", body, wait=True)
        (row,) = desk.rows(jobs_table)
        assert row["status"] == ended
        assert [desk.issue(issue_id)["status"] for issue_id in ids] == ["wont_fix", "wont_fix", "open"]
        retried = client.post("jobs", {"id": row["id"], "action": "retry"}).json["id"]
        while desk.rows(jobs_table, jobs_table.c.id == retried)[0]["status"] in ("queued", "running"):
            time.sleep(0.05)
        for job_id, undone in ((retried, ids[2:]), (row["id"], ids[:2])):
            answer = client.post("bulk-issues", {"action": "undo", "job_id": job_id}, wait=True)
            assert (answer.status, answer.json["ids"]) == (200, undone), answer.text
        found = [tuple(desk.issue(one)[name] for name in ("status", "fixed_release")) for one in ids]
        assert found == [("fixed", "1.0"), ("open", None), ("open", None)]
        desk.check_counters()
        assert row["id"] in _jobs_with_batches(desk)
        with desk.call() as call:
            call.db.execute(jobs_table.delete().where(jobs_table.c.id == row["id"]))
        assert client.post("bulk-issues", body, wait=True).status == 200
        assert row["id"] not in _jobs_with_batches(desk)

    def test_a_job_whose_worker_died_before_it_told_can_be_undone(
        self, client: Client, desk: Any, three: list[int]
    ) -> None:
        """Its end was not written, but what its batches did."""
        ids = sorted(three)
        bulk(client, "status", ids=ids[:1], status="fixed")
        fixed = desk.issue(ids[0])
        job = client.post("bulk-issues", {"action": "status", "filter": {}, "status": "wont_fix"}, wait=True).json
        again = self.gone_on_with(desk, desk.rows(jobs_table)[0]["id"])
        told = ("updated", "ids", "previous", "fixes", "status", "note")
        assert [again["result"][name] for name in told] == [job[name] for name in told]
        undone = client.post("bulk-issues", {"action": "undo", "job_id": again["id"]}, wait=True)
        assert undone.json["ids"] == ids, undone.text
        assert (desk.issue(ids[0])["status"], desk.issue(ids[0])["fixed_at"]) == ("fixed", fixed["fixed_at"])
        assert again["id"] not in _jobs_with_batches(desk)

    def gone_on_with(self, desk: Any, job: int) -> dict[str, Any]:
        """Return a job that another worker took up, as if the first one had died before it told of the end."""
        lost = {"status": "running", "result": None, "finished_at": None, "heartbeat_at": "2026-01-01 00:00:00"}
        with desk.call() as call:
            call.db.execute(jobs_table.update().values(**lost, lease_owner="another"))
        desk.service.jobs.wake()
        while (again := desk.rows(jobs_table, jobs_table.c.id == job)[0])["status"] == "running":
            time.sleep(0.05)
        return dict(again)

    def test_a_job_that_0_4_began_goes_on_and_cannot_be_undone(
        self, client: Client, desk: Any, three: list[int]
    ) -> None:
        """0.4 kept how far it came, and not what the issues were before."""
        ids = sorted(three)
        body = {"action": "status", "filter": {}, "status": "wont_fix", "note": "Old"}
        job = client.post("bulk-issues", body, wait=True).json["job_id"]
        (row,) = desk.rows(jobs_table)
        with desk.call() as call:
            call.db.execute(store.settings.delete().where(_bulk_settings()))
            fields = {name: row["result"][name] for name in ("status", "note")}
            store.put_setting(call.db, f"bulk_issues.{job}", {"position": ids[1], "fields": fields})
            left = tables.issues.update().where(tables.issues.c.id == ids[2])
            call.db.execute(left.values(status="open"))
            history = tables.status_history
            call.db.execute(history.delete().where(history.c.issue_id == ids[2]))
        again = self.gone_on_with(desk, job)
        assert (again["status"], again["result"]["ids"], again["result"]["note"]) == ("succeeded", ids, "Old")
        assert [desk.issue(one)["status"] for one in ids] == ["wont_fix"] * 3
        assert [[row["note"] for row in desk.history(one)] for one in ids] == [["Old"]] * 3
        self.is_refused_as_of_an_earlier_version(client, job)

    def test_what_another_worker_did_meanwhile_is_not_done_twice(
        self, sqlite_client: Client, sqlite_desk: Any, monkeypatch: Any
    ) -> None:
        """It had lost its lease, and ended the batch while this one waited for its locks."""
        stored = sqlite_desk.store(event("a b failed"), event("c d failed"), event("e f failed"))
        ids = sorted(one.issue_id for one in stored.stored)
        other = Outcome(
            {"status": "fixed", "note": None, "changed_at": "2026-01-03 10:00:00"}, dict.fromkeys(ids, "open")
        )
        found = itertools.cycle((None, other))  # before, and behind the work of each batch
        monkeypatch.setattr(kept, "kept_of_batch", lambda *_: next(found))
        body = {"action": "status", "filter": {}, "status": "fixed", "note": "Once"}
        done = sqlite_client.post("bulk-issues", body, wait=True).json
        assert (done["updated"], done["changed_at"]) == (3, "2026-01-03 10:00:00")
        assert [sqlite_desk.issue(one)["status"] for one in ids] == ["open"] * 3
        assert [sqlite_desk.history(one) for one in ids] == [[], [], []]

    def test_delete(self, client: Client, desk: Any, three: list[int]) -> None:
        desk.store(*(event("alpha failed", n) for n in range(20, 27)))
        answer = client.post(
            "bulk-issues", {"action": "delete", "ids": three[:2], "confirmation": "DELETE ISSUES"}, wait=True
        )
        assert (answer.status, answer.json["updated"]) == (200, 2)
        assert desk.issue()["id"] == three[2]
        desk.check_counters()

    def test_a_cancelled_deletion_leaves_exact_counters(self, desk: Any, three: list[int]) -> None:
        desk.store(*(event("alpha failed", n) for n in range(20, 27)))
        with desk.call() as call:
            assert jobs.take_out_some(call, three[0], 5)
        assert desk.issue(three[0])["count"] == 3
        assert sum(row["count"] for row in desk.rows(tables.event_days)) == 5
        assert desk.issue(three[0])["stored_occurrences"] == len(
            desk.rows(tables.occurrences, tables.occurrences.c.issue_id == three[0])
        )

    def test_merge_and_unmerge(self, client: Client, desk: Any, three: list[int]) -> None:
        desk.store(*(event("alpha failed", n) for n in range(20, 25)))
        alpha, beta, _ = three
        merged = client.post("bulk-issues", {"action": "merge", "ids": [alpha], "target_id": beta}, wait=True)
        assert merged.json["job_id"] and desk.issue(beta)["count"] == 7
        (row,) = [row for row in desk.rows(tables.groupings) if row["count"] == 6]
        parted = client.post("bulk-issues", {"action": "unmerge", "id": beta, "grouping_id": row["id"]}, wait=True)
        assert parted.json["job_id"] and desk.issue(parted.json["new_id"])["count"] == 6
        desk.check_counters()

    def test_a_tag_that_goes_meanwhile(self, sqlite_client: Client, sqlite_desk: Any, monkeypatch: Any) -> None:
        sqlite_desk.store(event("a b failed"), event("c d failed"), event("e f failed"))
        body = {"action": "add_tag", "filter": {}, "tag_id": UNKNOWN}
        answer = sqlite_client.post("bulk-issues", body, wait=True)
        assert (answer.status, answer.error) == (422, "tag_id: unknown tag")


def _bulk_settings() -> Any:
    return store.settings.c.key.startswith("bulk_issues", autoescape=True)


def _jobs_with_batches(desk: Any) -> set[int]:
    """Return the jobs of which is kept what their batches did."""
    return {int(row["key"].split(".")[1]) for row in desk.rows(store.settings, _bulk_settings())}
