"""A template that cannot be learned stops nothing and is learned later; on each of the three databases."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from snaglist.plugins.issues import Event, learn_again, noting, store_events, tables
from snaglist.plugins.issues.grouping import key as keys
from snaglist.plugins.issues.learning import model, storing
from snaglist.plugins.issues.learning.tables import learned_later, learned_templates
from snaglist.plugins.issues.storing import samples

pytestmark = pytest.mark.servers

NAMES = ["anna", "ben", "carla", "dmitri", "elif", "farid", "grete", "hugo", "ines", "jonas", "kaya", "luca"]
CORPUS = Path(__file__).parents[3] / "cases" / "odd-lines.txt"


def event(message: str, second: int = 0) -> Event:
    return Event(message, occurred_at=f"2026-01-03 10:{second // 60:02}:{second % 60:02}")


def calendars(names: list[str]) -> list[Event]:
    return [event(f"Holiday calendar of {name} loaded", second) for second, name in enumerate(names)]


class Trap:
    """Makes looking at templates with some words fail, until it is opened; counts how often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
        self.words = words
        self.sprung: list[str] = []
        self.error: Exception = StopIteration()
        original = model.slots

        def slots(context: str, template: str) -> Any:
            if any(word in template for word in self.words):
                self.sprung.append(template)
                raise self.error
            return original(context, template)

        monkeypatch.setattr(model, "slots", slots)


@pytest.fixture(autouse=True)
def _nothing_noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(noting, "_noted", set())
    yield


def later(desk: Any) -> list[dict[str, Any]]:
    return list(desk.rows(learned_later))


def test_the_events_are_stored_and_the_others_are_learned(
    desk: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    Trap(monkeypatch, "hugo", "kaya")
    batch = desk.store(*calendars(NAMES))
    assert len(batch.stored) == len(NAMES)
    counts = sorted(row["count"] for row in desk.rows(tables.issues))
    assert counts == [1, 1, 10]
    assert [row["tries"] for row in later(desk)] == [1, 1]
    assert len(desk.rows(learned_templates, learned_templates.c.role == "events")) == 10
    desk.check_counters()
    (said,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "learning failed for the template" in said.getMessage() and said.exc_info


def test_a_known_template_asks_nothing(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = Trap(monkeypatch, "hugo")
    desk.store(*calendars(NAMES))
    sprung = len(trap.sprung)
    desk.store(*calendars(NAMES))
    assert len(trap.sprung) == sprung
    desk.check_counters()


def test_a_later_batch_learns_what_failed(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = Trap(monkeypatch, "hugo")
    desk.store(*calendars(NAMES[:9]))
    assert len(desk.rows(tables.issues)) == 2
    trap.words = ()
    due = later(desk)[0]["due_at"]
    with desk.call() as call:
        call.now = due
        store_events(
            call, desk.source, [Event("something else entirely", occurred_at=due, byte_start=9_000, byte_end=9_100)]
        )
    assert later(desk) == []
    assert sorted(row["count"] for row in desk.rows(tables.issues)) == [1, 9]
    desk.check_counters()


def test_what_always_fails_is_tried_ever_more_seldom(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = Trap(monkeypatch, "hugo")
    desk.store(*calendars(NAMES[:9]))
    waits, now = [], desk.service.call().now
    for round_ in range(16):
        (row,) = later(desk)
        now = row["due_at"]
        for place, moment in enumerate(["2026-01-01 00:00:00", now]):
            before = len(trap.sprung)
            with desk.call() as call:
                call.now = moment
                word = "abcdefghijklmnopqrs"[round_] * (place + 2)
                start = 9_000 + round_ * 10 + place
                store_events(
                    call, desk.source, [Event(f"{word} here", occurred_at=now, byte_start=start, byte_end=start)]
                )
            assert len(trap.sprung) - before == place  # not before its time
        waits.append(later(desk)[0]["tries"])
    assert waits == list(range(2, 18))
    desk.check_counters()


def test_another_version_tries_at_once(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = Trap(monkeypatch, "hugo")
    desk.store(*calendars(NAMES[:9]))
    trap.words = ()
    monkeypatch.setattr(desk.service, "version", "99.0")
    desk.store(event("something else entirely"))
    assert later(desk) == []
    assert sorted(row["count"] for row in desk.rows(tables.issues)) == [1, 9]
    desk.check_counters()


def test_all_can_be_asked_for(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a reindex does, whatever the time."""
    trap = Trap(monkeypatch, "Holiday")
    desk.store(*calendars(NAMES))
    assert len(later(desk)) == len(desk.rows(tables.issues)) == len(NAMES)
    trap.words = ("luca",)
    last = 0
    while True:
        with desk.call() as call:
            last = learn_again(call, last)
        if not last:
            break
    assert [row["tries"] for row in later(desk)] == [2]
    assert sorted(row["count"] for row in desk.rows(tables.issues)) == [1, len(NAMES) - 1]
    desk.check_counters()


def test_a_failed_statement_does_not_poison_the_transaction(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    original = storing.DatabaseStore.add

    def add(store: Any, groupings: Any) -> Any:
        found = original(store, groupings)
        if any("hugo" in template for _, (_, template) in groupings):
            store._db.execute(text("SELECT nothing FROM nowhere"))
        return found

    monkeypatch.setattr(storing.DatabaseStore, "add", add)
    desk.store(*calendars(NAMES[:9]))
    assert sorted(row["count"] for row in desk.rows(tables.issues)) == [1, 8]
    desk.check_counters()


def test_a_lost_transaction_is_no_failure_of_learning(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = Trap(monkeypatch, "hugo")
    trap.error = OperationalError("", {}, Exception("lost"), connection_invalidated=True)
    with pytest.raises(Exception) as raised:
        desk.store(*calendars(NAMES[:9]))
    assert isinstance(raised.value, DBAPIError) or isinstance(raised.value.__cause__, DBAPIError)
    assert len(trap.sprung) == 1
    trap.words = ()
    assert later(desk) == desk.rows(tables.issues) == []


def test_rows_of_later_go_with_their_groupings(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Trap(monkeypatch, "hugo")
    desk.store(*calendars(NAMES[:9]))
    with desk.call() as call:
        call.db.execute(tables.event_hours.delete())
        call.db.execute(tables.occurrences.delete())
        call.db.execute(tables.groupings.delete())
        assert call.db.execute(select(learned_later)).all() == []


def test_a_message_that_cannot_be_masked_is_stored_under_its_text(
    desk: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original = keys.template

    def template(message: str) -> str:
        if "odd" in message:
            raise RecursionError
        return original(message)

    monkeypatch.setattr(keys, "template", template)
    desk.store(event("odd line 17 of"), event("odd  line 18 of", 1), event("an even line", 2))
    assert sorted(row["count"] for row in desk.rows(tables.issues)) == [1, 2]
    assert sorted(row["key"] for row in desk.rows(tables.groupings)) == [
        "-|text|plain|odd line <*> of",
        "-|text||an even line",
    ]
    assert [record.levelno for record in caplog.records if record.levelno >= logging.WARNING] == [logging.ERROR]
    desk.check_counters()


def test_a_title_that_cannot_be_told_is_the_plain_text(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def title(_: Event) -> str:
        raise ValueError

    monkeypatch.setattr(samples, "title", title)
    desk.store(event("two  words\nand a line"))
    assert desk.issue()["title"] == "two words and a line"
    desk.check_counters()


def test_odd_lines_are_all_counted(desk: Any) -> None:
    lines = [line for line in CORPUS.read_text("utf-8").splitlines() if line[:1] != "#"]
    messages = [line.encode("latin-1", "backslashreplace").decode("unicode_escape") for line in lines]
    desk.store(*(event(message, second) for second, message in enumerate([*messages, *messages])))
    assert sum(row["count"] for row in desk.rows(tables.issues)) == 2 * len(messages)
    assert later(desk) == []
    desk.check_counters()
