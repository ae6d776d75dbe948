"""Taking a grouping out of an issue again: nothing is lost, nothing counted twice."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from snaglist.kernel import Call
from snaglist.kernel.service import Service
from snaglist.plugins.issues import Event, ExceptionInfo, Frame, change_status, hookspecs, tables
from snaglist.plugins.issues.merging import merge_issues
from snaglist.plugins.issues.unmerging import refresh_sample, refreshing, unmerge_grouping
from snaglist.plugins.tags import tables as tag_tables
from snaglist.plugins.tags.assignments import attach_by_hand, detach_by_hand

pytestmark = pytest.mark.servers


def event(message: str, minute: int, **more: Any) -> Event:
    return Event(message, occurred_at=f"2026-01-03 10:{minute:02}:00", **more)


def groupings(desk: Any) -> dict[str, dict[str, Any]]:
    """Groupings by the first word of their template."""
    return {row["parts"]["template"].split()[0]: row for row in desk.rows(tables.groupings)}


def unmerge(desk: Any, issue_id: int, grouping_id: int) -> int:
    with desk.call() as call:
        return unmerge_grouping(call, issue_id, grouping_id)


@pytest.fixture
def merged(desk: Any) -> int:
    """An issue of two merged ones: alpha (2 events) and the later beta (3 events)."""
    stored = desk.store(
        event("alpha failed", 1, environment="staging", release="v1"),
        event("alpha failed", 2),
        event("beta broke", 3, severity="ALERT", channel="worker"),
        event("beta broke", 4, severity="ALERT", channel="worker", release="v1"),
        event("beta broke", 5, severity="ALERT", channel="worker", stack="trace of beta"),
    ).stored
    alpha, beta = stored[0].issue_id, stored[2].issue_id
    with desk.call() as call:
        change_status(call, alpha, "fixed", note="first fix")
        merge_issues(call, [beta], alpha)
    return int(alpha)


def test_the_sample_goes_with_its_event(desk: Any, merged: int) -> None:
    """What stays shows what is known of its own events; never the text of the others."""
    new_id = unmerge(desk, merged, groupings(desk)["beta"]["id"])
    old, new = desk.issue(merged), desk.issue(new_id)
    assert (new["title"], new["severity"], new["channel"]) == ("beta broke", "ALERT", "worker")
    assert (old["title"], old["severity"]) == ("alpha failed", "ERROR")
    texts = {row["issue_id"]: row for row in desk.rows(tables.issue_samples)}
    assert (texts[new_id]["message"], texts[new_id]["stack"]) == ("beta broke", "trace of beta")
    assert (texts[merged]["message"], texts[merged]["stack"]) == ("alpha failed", None)
    for issue in (old, new):
        (row,) = desk.rows(tables.occurrences, tables.occurrences.c.id == issue["sample_occurrence_id"])
        assert (row["issue_id"], row["occurred_at"]) == (issue["id"], issue["last_seen"])


def test_facets_are_split(desk: Any, merged: int) -> None:
    before = {(row["facet"], row["value"]): row["count"] for row in desk.rows(tables.issue_facets)}
    new_id = unmerge(desk, merged, groupings(desk)["alpha"]["id"])
    found: dict[int, dict[tuple[str, str], int]] = {merged: {}, new_id: {}}
    for row in desk.rows(tables.issue_facets):
        found[row["issue_id"]][row["facet"], row["value"]] = row["count"]
    assert found[new_id]["environment", "staging"] == 1 and ("environment", "staging") not in found[merged]
    assert found[new_id]["release", "v1"] == found[merged]["release", "v1"] == 1
    assert (found[new_id]["source", desk.source.path], found[merged]["source", desk.source.path]) == (2, 3)
    joined = {key: found[merged].get(key, 0) + found[new_id].get(key, 0) for key in before}
    assert joined == before


def test_tags_are_copied_and_history_says_so(desk: Any, merged: int) -> None:
    with desk.call() as call:
        both = {"now": call.now, "label": "Local"}
        rows = [{"id": n, "name": f"t{n}", "name_key": f"t{n}", "color": "#000000", "icon": "tag"} for n in (1, 2)]
        call.db.execute(
            tag_tables.tags.insert(), [{**row, "created_at": call.now, "updated_at": call.now} for row in rows]
        )
        attach_by_hand(call.db, [merged], 1, **both)
        attach_by_hand(call.db, [merged], 2, **both)
        detach_by_hand(call.db, [merged], 2, **both)
    new_id = unmerge(desk, merged, groupings(desk)["beta"]["id"])
    tagged = {(row["issue_id"], row["tag_id"], row["source"]) for row in desk.rows(tag_tables.issue_tags)}
    assert tagged == {(merged, 1, "manual"), (new_id, 1, "manual")}
    assert {row["issue_id"] for row in desk.rows(tag_tables.tag_removals)} == {merged, new_id}
    assert [row["event"] for row in desk.history(new_id)] == ["unmerge"]
    assert [row["event"] for row in desk.history(merged)] == ["status", "merge", "unmerge"]
    assert str(new_id) in desk.history(merged)[-1]["note"]


def test_events_that_are_stored_no_more_stay_counted(desk: Any, merged: int) -> None:
    """Retention took alpha's events: its counters go along, its text is what its key says."""
    alpha = groupings(desk)["alpha"]["id"]
    with desk.call() as call:
        events = tables.occurrences
        call.db.execute(events.delete().where(events.c.grouping_id == alpha))
        call.db.execute(tables.issues.update().values(stored_occurrences=3))
    new_id = unmerge(desk, merged, alpha)
    new = desk.issue(new_id)
    assert (new["count"], new["stored_occurrences"], new["title"]) == (2, 0, "alpha failed")
    assert new["sample_occurrence_id"] is None
    assert desk.issue(merged)["count"] == 3


def test_an_exception_without_readable_text_shows_its_class(desk: Any) -> None:
    raised = ExceptionInfo("PayError", "declined", [Frame("pay", "app/pay.py", 3)])
    stored = desk.store(event("later", 9), event("boom", 1, exceptions=[raised], stack="trace")).stored
    with desk.call() as call:
        merge_issues(call, [stored[1].issue_id], stored[0].issue_id)
        new_id = unmerge_grouping(call, stored[0].issue_id, stored[1].grouping_id)
    assert (desk.issue(new_id)["title"], desk.issue(new_id)["exception_class"]) == ("PayError", "PayError")


class TestRefreshingTheSample:
    """The text of the issue whose sample left is read back from its source."""

    @pytest.fixture
    def parted(self, desk: Any, merged: int, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[int]]:
        asked: list[int] = []

        def read(call: Call, occurrence_id: int) -> Event:
            asked.append(occurrence_id)
            return Event("alpha failed for 4711", "INFO", stack="trace of alpha", log_type="json", channel="app")

        unmerge(desk, merged, groupings(desk)["beta"]["id"])
        calls, readers = desk.service.plugins.calls, [(None, read)]
        monkeypatch.setattr(
            desk.service.plugins, "calls", lambda hook: readers if hook is hookspecs.read_occurrence else calls(hook)
        )
        return merged, asked

    def test_it_is_read_back(self, desk: Any, parted: tuple[int, list[int]]) -> None:
        issue_id, asked = parted
        refresh_sample(desk.service.call(), issue_id)
        issue = desk.issue(issue_id)
        assert asked == [issue["sample_occurrence_id"]]
        assert (issue["title"], issue["log_type"], issue["channel"]) == ("alpha failed for 4711", "json", "app")
        assert issue["severity"] == "ERROR", "the level that was counted is kept"
        (text,) = desk.rows(tables.issue_samples, tables.issue_samples.c.issue_id == issue_id)
        assert (text["message"], text["stack"]) == ("alpha failed for 4711", "trace of alpha")
        desk.check_counters()

    def test_a_later_event_wins(self, desk: Any, parted: tuple[int, list[int]], monkeypatch: Any) -> None:
        issue_id, _ = parted
        real = refreshing.read_back

        def read_slowly(call: Call, occurrence_id: int) -> Event | None:
            found = real(call, occurrence_id)
            monkeypatch.setattr("snaglist.plugins.issues.unmerging.refreshing.read_back", real)
            desk.store(event("alpha failed again", 50))
            desk.store(event("alpha failed", 51))
            return found

        monkeypatch.setattr("snaglist.plugins.issues.unmerging.refreshing.read_back", read_slowly)
        refresh_sample(desk.service.call(), issue_id)
        assert (desk.issue(issue_id)["title"], desk.issue(issue_id)["count"]) == ("alpha failed", 3)
        desk.check_counters()

    def test_an_issue_that_is_gone_is_left_alone(self, sqlite_service: Service) -> None:
        refresh_sample(sqlite_service.call(), 987_654)


WORDS = ("alpha", "beta", "gamma", "delta")
STEP = st.one_of(
    st.tuples(
        st.just("store"),
        st.lists(
            st.tuples(st.sampled_from(WORDS), st.integers(0, 59), st.sampled_from(("ERROR", "ALERT"))),
            min_size=1,
            max_size=8,
        ),
    ),
    st.tuples(st.just("merge"), st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.tuples(st.just("unmerge"), st.integers(0, 9)),
)


@settings(max_examples=30)
@given(steps=st.lists(STEP, min_size=2, max_size=10))
def test_counts_are_conserved(sqlite_desk: Any, steps: list[tuple[str, Any]]) -> None:
    """Whatever is merged and taken apart, counting the rows gives the counters."""
    for kind, value in steps:
        issue_ids = [issue["id"] for issue in sqlite_desk.rows(tables.issues)]
        before = sum(issue["count"] for issue in sqlite_desk.rows(tables.issues))
        if kind == "store":
            sqlite_desk.store(*(event(f"{word} failed", minute, severity=level) for word, minute, level in value))
            before += len(value)
        elif kind == "merge" and issue_ids:
            source, target = (issue_ids[number % len(issue_ids)] for number in value)
            with sqlite_desk.call() as call:
                merge_issues(call, [source], target)
        elif kind == "unmerge":
            rows = sqlite_desk.rows(tables.groupings)
            shared = [row for row in rows if sum(row["issue_id"] == other["issue_id"] for other in rows) > 1]
            if shared:
                row = shared[value % len(shared)]
                unmerge(sqlite_desk, row["issue_id"], row["id"])
        sqlite_desk.check_counters()
        assert sum(issue["count"] for issue in sqlite_desk.rows(tables.issues)) == before
        with sqlite_desk.call(write=False) as call:
            sample = select(tables.issues.c.id).join(
                tables.occurrences, tables.occurrences.c.id == tables.issues.c.sample_occurrence_id
            )
            right = sample.where(
                tables.occurrences.c.issue_id == tables.issues.c.id,
                tables.occurrences.c.occurred_at == tables.issues.c.last_seen,
            )
            assert len(call.db.execute(right).all()) == len(sqlite_desk.rows(tables.issues))
