"""An event that was stored before all of it had arrived."""

from typing import Any

import pytest

from snaglist.plugins.issues import Event, change_status, facets, replace_event, tables

pytestmark = pytest.mark.servers


def event(message: str, **more: Any) -> Event:
    fields = {"occurred_at": "2026-01-03 10:00:00", "channel": "app.log", "release": "v1", "byte_start": 500, **more}
    return Event(message, byte_end=600, **fields)


def store(desk: Any, *events: Event) -> Any:
    return desk.store(*events, move=False)


def replace(desk: Any, whole: Event) -> Any:
    with desk.call() as call:
        return replace_event(call, desk.source, whole)


def test_the_same_key_is_replaced_in_place(desk: Any) -> None:
    """Same occurrence id, counted once, the whole text is shown."""
    store(desk, event("Order 1 failed", byte_start=0), event("Order 2 failed", provisional=True))
    (before,) = desk.rows(tables.occurrences, tables.occurrences.c.byte_start == 500)
    whole = event("Order 2 failed", stack="line 1\nline 2", byte_start=500)
    whole.byte_end = 900
    batch = replace(desk, whole)
    (after,) = desk.rows(tables.occurrences, tables.occurrences.c.byte_start == 500)
    assert (after["id"], after["byte_end"], after["provisional"]) == (before["id"], 900, False)
    issue = desk.issue()
    assert (issue["count"], issue["stored_occurrences"], issue["sample_occurrence_id"]) == (2, 2, before["id"])
    assert batch.new_issues == set()
    assert desk.rows(tables.issue_samples)[0]["stack"] == "line 1\nline 2"
    desk.check_counters()


def test_another_severity_leaves_no_empty_day(desk: Any) -> None:
    store(desk, event("Order 1 failed", severity="INFO", provisional=True))
    replace(desk, event("Order 1 failed", severity="ERROR"))
    assert [(row["severity"], row["count"]) for row in desk.rows(tables.event_days)] == [("ERROR", 1)]
    desk.check_counters()


def test_another_key_moves_it_and_its_own_issue_goes(desk: Any) -> None:
    """An issue that only the provisional form had made goes again, silently."""
    store(desk, event("Half a", provisional=True))
    first = desk.issue()["id"]
    (before,) = desk.rows(tables.occurrences)
    replace(desk, event("Half a message was not all"))
    issue = desk.issue()
    assert issue["id"] != first and issue["title"] == "Half a message was not all"
    (after,) = desk.rows(tables.occurrences)
    assert after["id"] == before["id"] == issue["sample_occurrence_id"]
    desk.check_counters()


def test_another_key_leaves_older_events_where_they_are(desk: Any) -> None:
    store(desk, event("Half a", byte_start=0, occurred_at="2026-01-03 09:00:00"), event("Half a", provisional=True))
    first = desk.issue()["id"]
    replace(desk, event("Half a message was not all"))
    issue = desk.issue(first)
    assert (issue["count"], issue["last_seen"]) == (1, "2026-01-03 09:00:00")
    (grouping,) = desk.rows(tables.groupings, tables.groupings.c.issue_id == first)
    assert (grouping["count"], grouping["last_seen"]) == (1, "2026-01-03 09:00:00")
    desk.check_counters()


def test_an_issue_that_somebody_worked_on_stays(desk: Any) -> None:
    store(desk, event("Half a", provisional=True))
    first = desk.issue()["id"]
    with desk.call() as call:
        change_status(call, first, "in_progress")
    replace(desk, event("Half a message was not all"))
    assert desk.issue(first)["count"] == 0 and len(desk.rows(tables.issues)) == 2


def test_a_value_that_counts_as_other_is_taken_from_there(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets, "MAX_VALUES", 1)
    store(desk, event("Order 1 failed", byte_start=0), event("Order 2 failed", release="v2", provisional=True))
    replace(desk, event("Order 2 failed", release="v2"))
    releases = desk.rows(tables.issue_facets, tables.issue_facets.c.facet == "release")
    assert {row["value"]: row["count"] for row in releases} == {"v1": 1, "(other)": 1}
    desk.check_counters()


def test_nothing_is_replaced_where_nothing_is_stored(desk: Any) -> None:
    assert replace(desk, event("Order 1 failed")) is None
    assert desk.rows(tables.issues) == []
