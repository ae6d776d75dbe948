"""Merging issues."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, update

from snaglist.kernel import Call, NotFound
from snaglist.plugins.issues import Event, change_status, resolve_issue_id, tables
from snaglist.plugins.issues.merging import merge_issues
from snaglist.plugins.tags import tables as tag_tables
from snaglist.plugins.tags.assignments import attach_automatic, attach_by_hand, detach_by_hand

pytestmark = pytest.mark.servers

NOW = "2026-01-03 12:00:00"


def event(message: str, minute: int, **more: Any) -> Event:
    return Event(message, occurred_at=f"2026-01-03 10:{minute:02}:00", **more)


def merge(desk: Any, issue_ids: list[int], target: int) -> None:
    with desk.call() as call:
        merge_issues(call, issue_ids, target)


@pytest.fixture
def three(desk: Any) -> list[int]:
    """Three issues, the last one with the latest event."""
    stored = desk.store(
        event("alpha failed", 5, environment="staging"),
        event("beta failed", 1, severity="ALERT", release="v1"),
        event("beta failed", 9, severity="ALERT", release="v2"),
        event("gamma failed", 30, severity="WARNING", log_type="json", stack="trace of gamma"),
    ).stored
    return [stored[0].issue_id, stored[1].issue_id, stored[3].issue_id]


def test_all_goes_to_the_target(desk: Any, three: list[int]) -> None:
    alpha, beta, gamma = three
    with desk.call() as call:
        change_status(call, beta, "wont_fix", note="a note")
        change_status(call, alpha, "fixed")
        call.db.execute(update(tables.issues).where(tables.issues.c.id == alpha).values(snooze_count=7))
    merge(desk, [beta, gamma, alpha], alpha)
    issue = desk.issue()
    assert (issue["id"], issue["status"], issue["snooze_count"]) == (alpha, "fixed", 7)
    assert (issue["count"], issue["stored_occurrences"]) == (4, 4)
    assert (issue["first_seen"], issue["last_seen"]) == ("2026-01-03 10:01:00", "2026-01-03 10:30:00")
    assert (issue["title"], issue["severity"], issue["log_type"]) == ("gamma failed", "WARNING", "json")
    (sample,) = desk.rows(tables.issue_samples)
    assert (sample["issue_id"], sample["message"], sample["stack"]) == (alpha, "gamma failed", "trace of gamma")
    groupings = desk.rows(tables.groupings)
    assert {row["issue_id"] for row in groupings} == {alpha} and len(groupings) == 3
    assert issue["fingerprint"] == max(groupings, key=lambda row: row["id"])["fingerprint"]
    facets = {(row["facet"], row["value"]): row["count"] for row in desk.rows(tables.issue_facets)}
    assert facets["environment", "production"] == 3 and facets["environment", "staging"] == 1
    assert facets["release", "v1"] == facets["release", "v2"] == 1 and facets["source", desk.source.path] == 4
    history = [(row["event"], row["note"], row["actor"]) for row in desk.history(alpha)]
    assert history == [
        ("status", "a note", "Local"),
        ("status", None, "Local"),
        ("merge", f"Merged: {', '.join(map(str, sorted([beta, gamma])))}", "Local"),
    ]
    desk.check_counters()


def test_merged_ids_stay_usable_through_several_merges(desk: Any, three: list[int]) -> None:
    alpha, beta, gamma = three
    merge(desk, [alpha], beta)
    merge(desk, [beta], gamma)
    with desk.call(write=False) as call:
        assert [resolve_issue_id(call.db, issue_id) for issue_id in three] == [gamma] * 3
        with pytest.raises(NotFound):
            resolve_issue_id(call.db, 987_654)
    batch = desk.store(event("alpha failed", 40), event("beta failed", 41))
    assert (batch.new_issues, batch.counts) == (set(), {gamma: (4, 6)})
    desk.check_counters()


def test_an_older_sample_does_not_replace_the_targets(desk: Any, three: list[int]) -> None:
    alpha, _, gamma = three
    before = desk.issue(gamma)
    merge(desk, [alpha], gamma)
    after = desk.issue(gamma)
    for name in ("title", "severity", "sample_occurrence_id", "last_seen"):
        assert after[name] == before[name]


def test_tags_are_joined_and_manual_wins(desk: Any, three: list[int]) -> None:
    """What was taken off the target by hand stays off, unless put on by hand elsewhere."""
    alpha, beta, gamma = three
    with desk.call() as call:
        rows = [
            {
                "id": n,
                "name": f"t{n}",
                "name_key": f"t{n}",
                "color": "#000000",
                "icon": "tag",
                "created_at": NOW,
                "updated_at": NOW,
            }
            for n in range(1, 7)
        ]
        call.db.execute(insert(tag_tables.tags), rows)
        both = {"now": NOW, "label": "Local"}
        attach_automatic(
            call.db, [(alpha, 1), (beta, 1), (beta, 2), (gamma, 4), (alpha, 5), (beta, 6)], "rule", now=NOW
        )
        attach_by_hand(call.db, [beta], 1, **both)
        attach_by_hand(call.db, [gamma], 3, **both)
        attach_by_hand(call.db, [alpha], 4, **both)
        detach_by_hand(call.db, [alpha], 4, **both)
        attach_by_hand(call.db, [alpha], 3, **both)
        detach_by_hand(call.db, [alpha], 3, **both)
        detach_by_hand(call.db, [beta], 6, **both)
        merge_issues(call, [beta, gamma], alpha)
    found = {row["tag_id"]: (row["issue_id"], row["source"]) for row in desk.rows(tag_tables.issue_tags)}
    assert found == {1: (alpha, "manual"), 2: (alpha, "rule"), 3: (alpha, "manual"), 5: (alpha, "rule")}
    removed = [(row["issue_id"], row["tag_id"]) for row in desk.rows(tag_tables.tag_removals)]
    assert removed == [(alpha, 4), (alpha, 6)]


def test_plugins_hear_of_a_merge_while_the_old_rows_are_there(
    sqlite_desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = sqlite_desk.store(event("alpha failed", 1), event("beta failed", 2)).stored
    one, other = sorted(row.issue_id for row in stored)
    heard = []

    def emit(call: Call, hook: Any, change: Any, *check: Any) -> dict[str, Any]:
        alive = call.db.execute(tables.issues.select().where(tables.issues.c.id.in_(change.issue_ids))).all()
        heard.append((hook.__name__, change.kind, change.issue_ids, dict(change.details), len(alive)))
        return {}

    monkeypatch.setattr(Call, "emit", emit)
    merge(sqlite_desk, [other], one)
    assert heard == [("issue_changed", "merge", (other,), {"target_id": one}, 1)]


def test_unknown_issues_are_refused(desk: Any, three: list[int]) -> None:
    with desk.call() as call, pytest.raises(NotFound):
        merge_issues(call, [three[0], 987_654], three[1])
    assert len(desk.rows(tables.issues)) == 3


WORDS = ("alpha", "beta", "gamma", "delta")
STEP = st.one_of(
    st.tuples(
        st.just("store"),
        st.lists(
            st.tuples(
                st.sampled_from(WORDS),
                st.integers(0, 59),
                st.sampled_from(("ERROR", "ALERT", "INFO")),
                st.sampled_from((None, "v1", "v2")),
            ),
            min_size=1,
            max_size=8,
        ),
    ),
    st.tuples(st.just("status"), st.tuples(st.integers(0, 9), st.sampled_from(("open", "fixed", "wont_fix")))),
    st.tuples(st.just("merge"), st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.tuples(st.just("repeat"), st.none()),
)


@settings(max_examples=25)
@given(steps=st.lists(STEP, min_size=1, max_size=8))
def test_counters_are_exact_after_any_steps(sqlite_desk: Any, steps: list[tuple[str, Any]]) -> None:
    """Whatever happens in whatever order, counting the rows gives the counters."""
    last: list[Event] = []
    for kind, value in steps:
        issue_ids = [issue["id"] for issue in sqlite_desk.rows(tables.issues)]
        if kind == "store":
            last = [
                event(f"{word} failed", minute, severity=severity, release=release)
                for word, minute, severity, release in value
            ]
            sqlite_desk.store(*last)
        elif kind == "repeat" and last:
            assert sqlite_desk.store(*last, move=False).duplicates == len(last)
        elif kind == "status" and issue_ids:
            with sqlite_desk.call() as call:
                call.now = "2026-01-03 10:30:00"
                change_status(call, issue_ids[value[0] % len(issue_ids)], value[1])
        elif kind == "merge" and issue_ids:
            merge(sqlite_desk, [issue_ids[value[0] % len(issue_ids)]], issue_ids[value[1] % len(issue_ids)])
        sqlite_desk.check_counters()
