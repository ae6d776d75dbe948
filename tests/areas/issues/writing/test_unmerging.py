"""Taking a grouping out of an issue, and that learning remembers it."""

from typing import Any

import pytest
from sqlalchemy import update

from snaglist.kernel import Call, Invalid, NotFound
from snaglist.plugins.issues import Event, tables, unmerge_grouping
from snaglist.plugins.issues.merging import merge_issues
from snaglist.plugins.tags import tables as tag_tables
from snaglist.testing import Client

pytestmark = pytest.mark.servers

NAMES = ["anna", "ben", "carla", "dmitri", "elif", "farid", "grete", "hugo"]


def event(message: str, minute: int, **more: Any) -> Event:
    return Event(message, occurred_at=f"2026-01-03 10:{minute:02}:00", **more)


def unmerge(desk: Any, issue_id: int, grouping_id: int) -> int:
    with desk.call() as call:
        return unmerge_grouping(call, issue_id, grouping_id)


@pytest.fixture
def merged(desk: Any) -> tuple[int, int, int]:
    """An issue of two groupings merged by hand, and the grouping of each."""
    stored = desk.store(
        event("alpha failed", 5, environment="staging"),
        event("beta failed", 1, severity="ALERT", release="v1"),
        event("beta failed", 9, severity="ALERT", release="v2", context="ctx"),
        event("alpha failed", 7),
    ).stored
    with desk.call() as call:
        merge_issues(call, [stored[1].issue_id], stored[0].issue_id)
    return stored[0].issue_id, stored[0].grouping_id, stored[1].grouping_id


def test_counters_split_again(desk: Any, merged: tuple[int, int, int]) -> None:
    issue_id, alpha, beta = merged
    new_id = unmerge(desk, issue_id, beta)
    old, new = desk.issue(issue_id), desk.issue(new_id)
    assert (old["count"], old["first_seen"], old["last_seen"]) == (2, "2026-01-03 10:05:00", "2026-01-03 10:07:00")
    assert (new["count"], new["first_seen"], new["last_seen"]) == (2, "2026-01-03 10:01:00", "2026-01-03 10:09:00")
    assert (new["status"], new["origin"], new["title"], new["severity"]) == ("open", "ingested", "beta failed", "ALERT")
    assert {row["issue_id"] for row in desk.rows(tables.groupings, tables.groupings.c.id == alpha)} == {issue_id}
    facets = {(row["issue_id"], row["facet"], row["value"]): row["count"] for row in desk.rows(tables.issue_facets)}
    assert facets[new_id, "release", "v1"] == facets[new_id, "release", "v2"] == 1
    assert facets[issue_id, "environment", "staging"] == facets[issue_id, "environment", "production"] == 1
    assert (issue_id, "release", "v1") not in facets and (new_id, "environment", "staging") not in facets
    assert [row["event"] for row in desk.history(issue_id)] == ["merge", "unmerge"]
    assert [(row["event"], row["actor"]) for row in desk.history(new_id)] == [("unmerge", "Local")]
    desk.check_counters()


def test_the_event_shown_goes_with_its_grouping(desk: Any, merged: tuple[int, int, int]) -> None:
    """The texts of files that cannot be read any more are what the grouping says."""
    issue_id, alpha, beta = merged
    assert desk.issue(issue_id)["title"] == "beta failed"
    new_id = unmerge(desk, issue_id, beta)
    client = Client(desk.service)
    shown = client.get("error", id=new_id).json
    assert (shown["data"]["sample_message"], shown["data"]["sample_context"]) == ("beta failed", "ctx")
    left = client.get("error", id=issue_id).json
    assert (left["data"]["title"], left["data"]["severity"]) == ("alpha failed", "ERROR")
    assert left["data"]["sample_message"] == "alpha failed"
    assert [row["id"] for row in left["groupings"]] == [alpha]


def test_a_grouping_whose_event_is_not_shown(desk: Any, merged: tuple[int, int, int]) -> None:
    issue_id, alpha, _ = merged
    new_id = unmerge(desk, issue_id, alpha)
    assert desk.issue(issue_id)["title"] == "beta failed"
    assert (desk.issue(new_id)["title"], desk.issue(new_id)["environment"]) == ("alpha failed", "production")
    desk.check_counters()


def test_the_id_of_a_merged_issue_follows_its_events(desk: Any, merged: tuple[int, int, int]) -> None:
    """Into the issue that they are taken out to, back by a merge, and out again."""
    issue_id, _, beta = merged
    (alias,) = desk.rows(tables.issue_aliases)
    old_id = alias["old_id"]
    client = Client(desk.service)

    def means(number: int) -> int:
        found: int = client.get("error", id=number).json["data"]["id"]
        return found

    assert means(old_id) == issue_id
    first = unmerge(desk, issue_id, beta)
    assert means(old_id) == first and means(issue_id) == issue_id
    with desk.call() as call:
        merge_issues(call, [first], issue_id)
    assert means(old_id) == means(first) == issue_id
    second = unmerge(desk, issue_id, beta)
    assert means(old_id) == means(first) == second
    assert client.get("issue-state", id=old_id).json["id"] == second


def test_the_id_of_a_merged_issue_stays_where_most_of_its_events_are(desk: Any) -> None:
    stored = desk.store(*(event(f"{name} failed", 1) for name in ("alpha", "beta", "gamma", "beta"))).stored
    alpha, beta, gamma = (row.issue_id for row in stored[:3])
    groupings = {row.issue_id: row.grouping_id for row in stored}
    with desk.call() as call:
        merge_issues(call, [gamma], beta)
        merge_issues(call, [beta], alpha)
    client = Client(desk.service)
    taken = unmerge(desk, alpha, groupings[gamma])
    assert [client.get("error", id=number).json["data"]["id"] for number in (beta, gamma)] == [alpha, taken]


def test_ids_merged_by_versions_before_stay(desk: Any, merged: tuple[int, int, int]) -> None:
    """Of them nobody knows which events they had."""
    issue_id, _, beta = merged
    with desk.call() as call:
        call.db.execute(update(tables.issue_aliases).values(grouping_id=None))
    (alias,) = desk.rows(tables.issue_aliases)
    unmerge(desk, issue_id, beta)
    assert Client(desk.service).get("error", id=alias["old_id"]).json["data"]["id"] == issue_id


def test_later_events_follow_their_grouping(desk: Any, merged: tuple[int, int, int]) -> None:
    issue_id, _, beta = merged
    new_id = unmerge(desk, issue_id, beta)
    batch = desk.store(event("beta failed", 30), event("alpha failed", 31))
    assert batch.counts == {issue_id: (2, 3), new_id: (2, 3)}
    desk.check_counters()


def test_what_cannot_be_taken_out(desk: Any, merged: tuple[int, int, int]) -> None:
    """Unknown issue 404; a grouping of another issue, or the only one, 422."""
    issue_id, alpha, beta = merged
    with pytest.raises(NotFound):
        unmerge(desk, 987_654, beta)
    with pytest.raises(Invalid):
        unmerge(desk, issue_id, 987_654)
    unmerge(desk, issue_id, beta)
    with pytest.raises(Invalid):
        unmerge(desk, issue_id, alpha)


def calendar(name: str, minute: int = 0) -> Event:
    return event(f"Holiday calendar of {name} loaded", minute)


def test_learning_remembers(desk: Any) -> None:
    """Reversible and remembered; the rest stays together and goes on to learn."""
    stored = desk.store(*(calendar(name, minute) for minute, name in enumerate(NAMES[:6]))).stored
    issue_id = desk.issue()["id"]
    taken = {row.event.message: row.grouping_id for row in stored}["Holiday calendar of anna loaded"]
    new_id = unmerge(desk, issue_id, taken)
    batch = desk.store(calendar("hugo", 20), calendar("anna", 21), calendar("grete", 22))
    assert batch.counts == {issue_id: (5, 7), new_id: (1, 2)} and not batch.new_issues
    shown = Client(desk.service).get("error", id=new_id).json
    assert (shown["groupings"][0]["learned"], shown["suggestions"]) == (None, [])
    desk.check_counters()


def test_learning_remembers_every_grouping_taken_out(desk: Any) -> None:
    """Also that by which the open slot led to the issue."""
    stored = desk.store(*(calendar(name) for name in NAMES[:6])).stored
    issue_id = desk.issue()["id"]
    taken = [row.grouping_id for row in stored[:5]]
    for grouping_id in taken:
        unmerge(desk, issue_id, grouping_id)
    batch = desk.store(calendar("hugo"), calendar("grete"))
    assert batch.counts == {issue_id: (1, 3)}
    assert len(desk.rows(tables.issues)) == 6
    desk.check_counters()


def test_tags_are_copied_and_plugins_hear_of_it(sqlite_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite_desk.store(*(calendar(name) for name in NAMES))
    issue_id = sqlite_desk.issue()["id"]
    client = Client(sqlite_desk.service)
    tag_id = client.post("tags", {"name": "Calendars"}).json["id"]
    client.post("issue-tags", {"group_id": issue_id, "tag_id": tag_id})
    heard = []

    def emit(call: Call, hook: Any, change: Any, *check: Any) -> dict[str, Any]:
        heard.append((hook.__name__, change.kind, change.issue_ids, dict(change.details)))
        return really(call, hook, change, *check)

    grouping_id = sqlite_desk.rows(tables.groupings)[0]["id"]
    really = Call.emit
    with monkeypatch.context() as patch:
        patch.setattr(Call, "emit", emit)
        new_id = unmerge(sqlite_desk, issue_id, grouping_id)
    assert heard == [("issue_changed", "unmerge", (issue_id, new_id), {"grouping_id": grouping_id, "new_id": new_id})]
    assert {row["issue_id"] for row in sqlite_desk.rows(tag_tables.issue_tags)} == {issue_id, new_id}
