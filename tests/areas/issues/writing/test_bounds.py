"""What is kept of an event, to the character, and what a batch may hold."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import digest
from snaglist.plugins.issues import tables
from snaglist.plugins.issues.events import Event, ExceptionInfo, Frame
from snaglist.plugins.issues.storing import batch as batches
from snaglist.plugins.issues.storing.batch import MAX_EVENTS, occurrence_row, store_events
from snaglist.plugins.issues.storing.queries import move_occurrences, settle_occurrence
from snaglist.plugins.issues.storing.reoccurrence import note
from snaglist.plugins.issues.storing.replacing import replace_event, withdraw_event
from snaglist.plugins.issues.storing.samples import (
    culprit_frame,
    is_cut,
    sample_fields,
    sample_texts,
    source_frame,
    title,
)
from snaglist.plugins.issues.storing.texts import clean, clean_json, short
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.store.queries import move_events


def test_texts_of_a_sample() -> None:
    shown = sample_texts(Event("m" * 120_001, stack="s" * 120_001, context="c" * 12_001))
    assert [len(shown[name]) for name in ("message", "stack", "context")] == [120_000, 120_000, 12_000]
    assert sample_texts(Event("")) == {"message": "", "stack": None, "context": None, "exceptions": None}


@pytest.mark.parametrize(
    ("fits", "more"),
    [
        ({"message": "m" * 120_000}, {"message": "m" * 120_001}),
        ({"stack": "s" * 120_000}, {"stack": "s" * 120_001}),
        ({"context": "c" * 12_000}, {"context": "c" * 12_001}),
        ({"truncated": False}, {"truncated": True}),
    ],
)
def test_an_event_of_which_something_is_not_kept_says_so(fits: dict[str, Any], more: dict[str, Any]) -> None:
    assert not is_cut(Event(**{"message": "m", **fits}))
    assert is_cut(Event(**{"message": "m", **more}))


def test_exceptions_of_a_sample() -> None:
    """The twenty that were raised last, with two hundred frames each."""
    frames = [Frame("f" * 1_001, "p" * 1_001, line, 7, in_app=False) for line in range(201)]
    raised = [ExceptionInfo(f"{n:02}" + "t" * 1_000, "m" * 120_001, frames) for n in range(21)]
    kept = sample_texts(Event("m", exceptions=raised))["exceptions"]
    assert [one["class"][:2] for one in kept] == [f"{n:02}" for n in range(1, 21)]
    assert (len(kept[0]["class"]), len(kept[0]["message"])) == (1_000, 120_000)
    assert [frame["line"] for frame in kept[0]["frames"]] == list(range(200))
    whole = {"function": "f" * 1_000, "file": "p" * 1_000, "line": 0, "column": 7, "in_app": False}
    assert kept[0]["frames"][0] == whole
    [bare] = sample_texts(Event("m", exceptions=[ExceptionInfo("E", frames=[Frame()])]))["exceptions"]
    assert (bare["frames"][0]["function"], bare["frames"][0]["file"]) == (None, None)


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (Event("\n  first \t line \n second"), "first line"),
        (Event("a" * 180), "a" * 180),
        (Event("a" * 181), "a" * 179 + "…"),
        (Event(" " * 19_999 + "ab"), "a"),
        (Event("", exceptions=[ExceptionInfo("A"), ExceptionInfo("B")]), "B"),
        (Event(" \n "), "(no message)"),
        (Event("nul\0"), "nul\ufffd"),
    ],
)
def test_titles(event: Event, shown: str) -> None:
    assert title(event) == shown


OWN, LIBRARY, NOWHERE = Frame("own", "own.py", 3), Frame("lib", "lib.py", in_app=False), Frame("builtin")


@pytest.mark.parametrize(
    ("chain", "culprit"),
    [
        ([[LIBRARY, OWN]], OWN),
        ([[OWN], [LIBRARY]], OWN),
        ([[Frame("a", "a.py")], [Frame("b", "b.py"), Frame("c", "c.py")]], Frame("b", "b.py")),
        ([[Frame("a", "a.py", in_app=False)], [NOWHERE, LIBRARY]], LIBRARY),
        ([[NOWHERE]], None),
        ([], None),
    ],
)
def test_the_culprit(chain: list[list[Frame]], culprit: Frame | None) -> None:
    assert culprit_frame(Event("m", exceptions=[ExceptionInfo("E", frames=frames) for frames in chain])) == culprit


@pytest.mark.parametrize(
    ("frame", "shown"),
    [
        (OWN, "own.py:3"),
        (Frame("f", "own.py"), "own.py"),
        (Frame("f", "p" * 1_000), "p" * 1_000),
        (Frame("f", "p" * 1_001), "p" * 999 + "…"),
        (NOWHERE, None),
    ],
)
def test_the_place_of_the_culprit(frame: Frame, shown: str | None) -> None:
    assert source_frame(Event("m", exceptions=[ExceptionInfo("E", frames=[frame])])) == shown


def test_columns_of_an_issue() -> None:
    raised = [ExceptionInfo("T" * 256)]
    fields = sample_fields(Event("m" * 2_001, channel="c" * 256, environment="e" * 101, exceptions=raised))
    assert [len(fields[name]) for name in ("channel", "environment", "exception_class")] == [255, 100, 255]
    assert fields["search_text"].count("m") == 179 + 2_000  # the title and the beginning of the message


def test_columns_of_an_occurrence() -> None:
    row = occurrence_row(
        Event("m", environment="e" * 101, release="r" * 121, server_name="s" * 201, event_id="i" * 65,
              context="c" * 12_001)
    )  # fmt: skip
    lengths = {"environment": 100, "release": 120, "server_name": 200, "event_id": 64, "context_preview": 12_000}
    assert {name: len(row[name]) for name in lengths} == lengths
    assert row["truncated"]
    empty = occurrence_row(Event("m", release="", server_name="", event_id="", context="c", preview=""))
    assert [empty[name] for name in lengths if name != "environment"] == [None] * 4
    assert occurrence_row(Event("m", context="c", preview="p"))["context_preview"] == "p"


def test_the_note_of_a_reoccurrence() -> None:
    assert note(Event("m", occurred_at="2026-01-03 10:00:00")) == "Event of 2026-01-03 10:00:00"
    assert note(Event("m", occurred_at="x", release="r" * 121)) == f"Event of x, release {'r' * 120}"


def test_texts_that_no_database_takes() -> None:
    assert clean("a\0b") == "a\ufffdb"
    assert clean("\ud7ff\ud800\udfff\ue000") == "\ud7ff\ufffd\ufffd\ue000"
    assert clean("\0é") == "\ufffdé" and clean("é") == "é"
    assert (short("abc", 3), short("abcd", 3), short("ab\0d", 3)) == ("abc", "abc", "ab\ufffd")
    assert clean_json({"k\0": ["v\0", ("w\0",), 1, None, True]}) == {"k\ufffd": ["v\ufffd", ["w\ufffd"], 1, None, True]}


# -- batches


def test_a_batch_holds_a_thousand_events(sqlite_desk: Any) -> None:
    assert MAX_EVENTS == 1_000
    many = [Event("m", occurred_at="2026-01-03 10:00:00", byte_start=n) for n in range(1_001)]
    with sqlite_desk.call() as call, pytest.raises(ValueError, match="at most 1000 events a batch"):
        store_events(call, sqlite_desk.source, many)


@pytest.mark.parametrize(
    ("field", "value"), [("occurred_at", "2026-01-03T10:00:00"), ("occurred_at", "today"), ("severity", "error")]
)
def test_an_event_that_is_not_as_it_must_be(sqlite_desk: Any, field: str, value: str) -> None:
    given = {"occurred_at": "2026-01-03 10:00:00", field: value}
    with sqlite_desk.call() as call, pytest.raises(ValueError, match=f"{field}: must be .*{value}"):
        store_events(call, sqlite_desk.source, [Event("m", **given)])


def test_an_event_without_a_time_is_of_now(sqlite_desk: Any) -> None:
    event = Event("m")
    with sqlite_desk.call() as call:
        store_events(call, sqlite_desk.source, [event])
        assert (event.occurred_at, event.time_source) == (call.now, "received")


def test_a_batch_that_never_fits_ends(sqlite_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer may store the same events meanwhile: it is tried five times."""
    tries: list[int] = []

    def fail(*given: Any, **how: Any) -> None:
        tries.append(1)
        raise IntegrityError("", {}, Exception())

    monkeypatch.setattr(batches, "_store", fail)
    with sqlite_desk.call() as call, pytest.raises(IntegrityError):
        store_events(call, sqlite_desk.source, [Event("m", occurred_at="2026-01-03 10:00:00")])
    assert len(tries) == 5


def test_events_that_were_not_looked_up_are_when_they_do_not_fit(sqlite_desk: Any) -> None:
    events = [Event("m", occurred_at="2026-01-03 10:00:00", byte_start=n) for n in range(2)]
    with sqlite_desk.call() as call:
        first = store_events(call, sqlite_desk.source, events[:1], unseen=True)
        assert (len(first.stored), first.duplicates) == (1, 0) and first.stored[0].occurrence_id
        second = store_events(call, sqlite_desk.source, events, unseen=True)
        assert ([one.event.byte_start for one in second.stored], second.duplicates) == ([1], 1)


# -- sources that follow their file


def paths(desk: Any) -> dict[str, int]:
    """Return the events by path, as issues count them."""
    found = desk.rows(tables.issue_facets, tables.issue_facets.c.facet == "source")
    return {row["value"]: row["count"] for row in found}


def test_events_are_counted_under_the_new_path(sqlite_desk: Any) -> None:
    sqlite_desk.store(Event("m", occurred_at="2026-01-03 10:00:00"), Event("m", occurred_at="2026-01-03 10:00:00"))
    for old, new in (("logs/app.log", "logs/app.log"), ("logs/app.log", "logs/app.log.1")):
        with sqlite_desk.call() as call:
            move_events(call.db, sqlite_desk.source.id, old, new)
        assert paths(sqlite_desk) == {new: 2}


def test_of_a_path_that_sources_share_each_takes_its_own(sqlite_desk: Any) -> None:
    """A log that was emptied goes on as another source of its path."""
    other = replace(sqlite_desk.add_source("logs/other.log"), path="logs/app.log")
    values = {"path": other.path, "path_hash": digest(other.path), "generation": 2, "occurrence_count": 2}
    sqlite_desk.store(Event("m", occurred_at="2026-01-03 10:00:00"))
    sqlite_desk.store(*(Event("m", occurred_at="2026-01-03 10:00:00") for _ in range(2)), source=other)
    with sqlite_desk.call() as call:
        call.db.execute(update(log_tables.sources).where(log_tables.sources.c.id == other.id).values(**values))
        move_events(call.db, sqlite_desk.source.id, "logs/app.log", "logs/app.log.1")
    assert paths(sqlite_desk) == {"logs/app.log": 2, "logs/app.log.1": 1}


def test_a_source_takes_the_events_of_another_over(sqlite_desk: Any) -> None:
    """And no events of a third one."""
    one, other, third = (sqlite_desk.add_source(f"logs/{name}.log") for name in ("one", "other", "third"))
    for source in (one, other, third):
        sqlite_desk.store(Event("m", occurred_at="2026-01-03 10:00:00"), source=source)
    before = sqlite_desk.rows(tables.occurrences)
    with sqlite_desk.call() as call:
        move_occurrences(call.db, one.id, other.id)
    moved = [row | {"source_id": other.id} if row["source_id"] == one.id else row for row in before]
    assert sqlite_desk.rows(tables.occurrences) == moved


def test_the_last_event_of_a_source_is_settled(sqlite_desk: Any) -> None:
    events = [Event("m", occurred_at="2026-01-03 10:00:00", provisional=True) for _ in range(2)]
    sqlite_desk.store(*events)
    other = sqlite_desk.add_source("logs/other.log")
    sqlite_desk.store(replace(events[1]), source=other, move=False)
    with sqlite_desk.call() as call:
        settle_occurrence(call.db, sqlite_desk.source.id, events[1].byte_start)
    assert [row["provisional"] for row in sqlite_desk.rows(tables.occurrences)] == [True, False, True]


# -- events that grow


def test_an_event_that_grows_uses_a_snooze_up_once(sqlite_desk: Any) -> None:
    """Of its own issue, and of no other."""
    first, other = (Event("m", occurred_at="2026-01-03 10:00:00", fingerprint=name) for name in "ab")
    sqlite_desk.store(first, other)
    with sqlite_desk.call() as call:
        call.db.execute(update(tables.issues).values(snooze_count=5))
        assert replace_event(call, sqlite_desk.source, replace(first, message="m, all of it"))
    assert [row["snooze_count"] for row in sqlite_desk.rows(tables.issues)] == [5, 5]


def test_an_event_that_grows_is_taken_from_the_channel_it_had(sqlite_desk: Any) -> None:
    half = Event("m", occurred_at="2026-01-03 10:00:00", channel="half", fingerprint="a")
    sqlite_desk.store(half)
    with sqlite_desk.call() as call:
        whole = replace(half, channel="whole")
        assert replace_event(call, sqlite_desk.source, whole, channel="half")
    channels = sqlite_desk.rows(tables.issue_facets, tables.issue_facets.c.facet == "channel")
    assert [(row["value"], row["count"]) for row in channels] == [("whole", 1)]


def test_an_event_that_is_none_is_taken_back(sqlite_desk: Any) -> None:
    """With its count; the others of its issue stay, and an issue that it alone had made goes."""
    time = "2026-01-03 10:00:0"
    stays, goes, alone = (Event("m", occurred_at=f"{time}{n}", fingerprint="ab"[n == 3]) for n in (1, 2, 3))
    goes.channel, goes.environment, goes.release = "c" * 256, "e" * 101, "r" * 121
    sqlite_desk.store(stays, goes, alone)
    for event in (goes, alone):
        with sqlite_desk.call() as call:
            assert withdraw_event(call, sqlite_desk.source, event.byte_start, event.channel)
    [row] = sqlite_desk.rows(tables.occurrences)
    issue = sqlite_desk.issue()
    assert (row["byte_start"], issue["count"], issue["sample_occurrence_id"]) == (stays.byte_start, 1, row["id"])
    assert (issue["first_seen"], issue["last_seen"]) == (f"{time}1", f"{time}1")
    facets = {(row["facet"], row["value"]): row["count"] for row in sqlite_desk.rows(tables.issue_facets)}
    assert facets == {("source", "logs/app.log"): 1, ("environment", "production"): 1}
    sqlite_desk.check_counters()


def test_an_issue_shows_an_event_that_it_still_has(sqlite_desk: Any) -> None:
    time = "2026-01-03 10:00:0"
    first, second = (Event("m", occurred_at=f"{time}{n}", fingerprint="a") for n in (1, 2))
    [stays, leaves] = sqlite_desk.store(first, second).stored
    whole = replace(second, fingerprint="b")
    with sqlite_desk.call() as call:
        assert replace_event(call, sqlite_desk.source, whole)
        assert not withdraw_event(call, sqlite_desk.source, 999_999, "")
    rows = {row["byte_start"]: row["id"] for row in sqlite_desk.rows(tables.occurrences)}
    assert leaves.issue_id == stays.issue_id
    assert sqlite_desk.issue(stays.issue_id)["sample_occurrence_id"] == rows[first.byte_start]
