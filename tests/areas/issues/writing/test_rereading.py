"""A stretch of a source that is read again: what becomes of the rows, and what is counted."""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

from snaglist.plugins.issues import tables
from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.storing.removing import remove_occurrences
from snaglist.plugins.issues.storing.rereading import Reread, Unstored, reread_events

KEPT = ("id", "received_at", "event_id")


def an_event(second: int = 0, **more: Any) -> Event:
    return Event("m", **{"occurred_at": f"2026-01-03 10:00:0{second}", "fingerprint": "a", **more})


def reread(
    desk: Any, *events: Event, unstored: Callable[[Event], Unstored] | None = None, untouched: Collection[int] = ()
) -> Reread:
    """Read all of the source again."""
    with desk.call() as call:
        how = unstored or (lambda event: Unstored.NEW)
        done: Reread = reread_events(call, desk.source, 0, 10_000, events, unstored=how, untouched=untouched)
        return done


def lose(desk: Any, *events: Event) -> None:
    """Remove the rows of events, which stay counted."""
    places = [event.byte_start for event in events]
    ids = [row["id"] for row in desk.rows(tables.occurrences) if row["byte_start"] in places]
    with desk.call() as call:
        remove_occurrences(call.db, ids)


def test_events_that_are_as_they_were_change_nothing(sqlite_desk: Any) -> None:
    events = [an_event(1), an_event(2), an_event(fingerprint="b")]
    stored = sqlite_desk.store(*events).stored
    kinds = (tables.issues, tables.occurrences, tables.groupings, tables.issue_samples, tables.event_hours)
    before = [sqlite_desk.rows(table) for table in kinds]
    assert reread(sqlite_desk, *events) == Reread(issues={one.issue_id for one in stored})
    assert [sqlite_desk.rows(table) for table in kinds] == before


@pytest.mark.parametrize(
    "change",
    [
        {"severity": "WARNING"}, {"environment": "test"}, {"release": "2"}, {"fingerprint": "b"}, {"user": "jo"},
        {"server_name": "web-2"},
        {"occurred_at": "2026-01-03 11:00:02"},
    ],
)  # fmt: skip
def test_an_event_that_is_counted_elsewhere_keeps_its_row(sqlite_desk: Any, change: dict[str, Any]) -> None:
    stays, moves = an_event(1), an_event(2, event_id="e")
    [first, _] = sqlite_desk.store(stays, moves).stored
    before = sqlite_desk.rows(tables.occurrences)
    done = reread(sqlite_desk, stays, replace(moves, **change))
    assert (done.moved, done.added, done.removed, done.by_type) == (1, 0, 0, {})
    after = sqlite_desk.rows(tables.occurrences)
    assert [[row[name] for name in KEPT] for row in after] == [[row[name] for name in KEPT] for row in before]
    assert [row["byte_start"] for row in after] == [stays.byte_start, moves.byte_start]
    assert after[0] == before[0]
    for row in after:  # the later event was the sample of both; each issue shows an event of its own
        later = row["issue_id"] != first.issue_id or "fingerprint" not in change
        shown = after[1]["id"] if later else after[0]["id"]
        assert sqlite_desk.issue(row["issue_id"])["sample_occurrence_id"] == shown
    sqlite_desk.check_counters()


def test_an_issue_whose_only_event_moved_away_shows_none(sqlite_desk: Any) -> None:
    event = an_event(1)
    [before] = sqlite_desk.store(event).stored
    reread(sqlite_desk, replace(event, fingerprint="b"))
    left = sqlite_desk.issue(before.issue_id)
    assert (left["count"], left["sample_occurrence_id"], left["last_seen"]) == (0, None, event.occurred_at)


def test_an_event_that_is_read_no_more_stays_counted(sqlite_desk: Any) -> None:
    events = [an_event(1), an_event(2), an_event(3)]
    sqlite_desk.store(*events)
    done = reread(sqlite_desk, events[0], untouched=[events[2].byte_start])
    assert (done.removed, done.added, done.moved) == (1, 0, 0)
    assert [row["byte_start"] for row in sqlite_desk.rows(tables.occurrences)] == [0, events[2].byte_start]
    issue = sqlite_desk.issue()
    assert (issue["count"], issue["stored_occurrences"]) == (3, 2)


def test_an_event_that_was_counted_gets_a_row_where_its_grouping_is_known(sqlite_desk: Any) -> None:
    events = [an_event(1), an_event(2), an_event(3)]
    [_, lost, _] = sqlite_desk.store(*events).stored
    lose(sqlite_desk, events[1])
    unknown = replace(an_event(fingerprint="never seen"), byte_start=900)
    fresh = replace(an_event(4), byte_start=901, byte_end=902)
    done = reread(
        sqlite_desk, *events, unknown, fresh,
        unstored=lambda event: Unstored.NEW if event is fresh else Unstored.COUNTED,
    )  # fmt: skip
    assert (done.added, done.removed, done.moved, done.by_type) == (2, 0, 0, {"console": 2})
    assert done.new_issues == set()
    issue = sqlite_desk.issue()
    assert (issue["id"], issue["count"], issue["stored_occurrences"]) == (lost.issue_id, 4, 4)
    sqlite_desk.check_counters()


def test_an_event_that_was_deleted_stays_away(sqlite_desk: Any) -> None:
    events = [an_event(1), an_event(2)]
    sqlite_desk.store(*events)
    lose(sqlite_desk, events[0])
    done = reread(sqlite_desk, *events, unstored=lambda event: Unstored.DROPPED)
    assert (done.added, done.by_type) == (0, {})
    assert len(sqlite_desk.rows(tables.occurrences)) == 1


def test_an_event_that_was_never_counted_is_stored(sqlite_desk: Any) -> None:
    known = an_event(1)
    [before] = sqlite_desk.store(known).stored
    fresh = replace(an_event(2, fingerprint="b"), byte_start=900, byte_end=901)
    done = reread(sqlite_desk, fresh, known)
    [new] = done.new_issues
    assert (done.added, done.by_type, done.issues) == (1, {"console": 1}, {before.issue_id, new})
    sqlite_desk.check_counters()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("occurred_at", "2026-01-03 10:59:59"), ("byte_end", 99), ("provisional", True),
        ("truncated", True), ("time_source", "file"), ("level_source", "words"),
    ],
)  # fmt: skip
def test_what_is_only_shown_of_an_event_is_as_it_is_read_today(sqlite_desk: Any, name: str, value: Any) -> None:
    first, event = an_event(1), an_event(2)
    sqlite_desk.store(first, event)
    before = sqlite_desk.rows(tables.occurrences)
    assert reread(sqlite_desk, first, replace(event, **{name: value})).moved == 0
    assert sqlite_desk.rows(tables.occurrences) == [before[0], {**before[1], name: value}]


def test_a_time_that_was_guessed_stays(sqlite_desk: Any) -> None:
    """By the age of the file, and that only gets worse; a time of its own is better."""
    guessed = an_event(1, time_source="file")
    sqlite_desk.store(guessed)
    reread(sqlite_desk, replace(guessed, occurred_at="2026-01-04 10:00:00"))
    assert sqlite_desk.issue()["last_seen"] == guessed.occurred_at
    reread(sqlite_desk, replace(guessed, occurred_at="2026-01-05 10:00:00", time_source="event"))
    [row] = sqlite_desk.rows(tables.occurrences)
    assert (row["occurred_at"], row["time_source"]) == ("2026-01-05 10:00:00", "event")


@pytest.mark.parametrize(
    "change", [{"message": "other"}, {"channel": "other"}, {"log_type": "monolog"}, {"message": "o", "channel": "o"}]
)
def test_an_issue_shows_its_event_as_it_is_read_today(sqlite_desk: Any, change: dict[str, str]) -> None:
    first, latest = an_event(1), an_event(2)
    sqlite_desk.store(first, latest)
    done = reread(sqlite_desk, replace(first, message="not shown"), replace(latest, **change))
    issue = sqlite_desk.issue()
    [sample] = sqlite_desk.rows(tables.issue_samples)
    shown = {"message": sample["message"], "channel": issue["channel"], "log_type": issue["log_type"]}
    assert shown == {"message": "m", "channel": "", "log_type": "console", **change}
    assert (issue["title"], done.moved) == (shown["message"], 0)
    sqlite_desk.check_counters()
