"""A program that is upgraded writes otherwise from some line on: the layout is judged again, by the bytes alone."""

from random import Random

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader, judging

WINDOW, SAMPLE = 128 * 1024, 16 * 1024  # so that small files have several places where the layout is judged
NOW = "2026-01-01 00:00:00"
OLD = "2025-02-11 {h:02d}:{m:02d}:{s:02d} {level} till: basket {n} is {word}\n"
NEW = {
    "letters first": "{letter} ({n}) till: basket {n} is {word}\n",
    "no level": "11/Feb/2025:{h:02d}:{m:02d}:{s:02d} +0000 till opened basket {n}\n",
    "level in a word of its own": "{h:02d}:{m:02d}:{s:02d} till pump {level} basket {n}\n",
}


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "WINDOW", WINDOW)
    monkeypatch.setattr(judging, "SAMPLE", SAMPLE)


def lines(form: str, size: int, seed: int) -> bytes:
    chance, made, number, total = Random(seed), [], 0, 0
    while total < size:
        number += 1
        level = chance.choice(("INFO", "ERROR", "WARN"))
        moment = {"h": number // 3600 % 24, "m": number // 60 % 60, "s": number % 60}
        word = chance.choice(("full", "empty", "gone"))
        made.append(form.format(**moment, n=number, level=level, letter=level[0], word=word))
        total += len(made[-1])
    return "".join(made).encode()


def read(data: bytes, start: int = 0, piece: int = 100_000) -> list[Event]:
    def earlier(place: int, size: int) -> bytes:
        return data[place : place + size]

    reader = Reader(data, start=start, modified_at="2025-02-12 12:00:00", now=NOW, earlier=earlier)
    events: list[Event] = []
    for place in range(start, len(data), piece):
        events += reader.feed(data[place : place + piece])
    return [*events, *reader.close()]


def shown(events: list[Event]) -> list[tuple[int, int, str, str]]:
    return [(event.byte_start, event.byte_end, event.severity, event.message) for event in events]


@pytest.fixture(params=NEW)
def log(request: pytest.FixtureRequest) -> tuple[bytes, int]:
    """A log of several windows, and where it begins to be another."""
    before = lines(OLD, WINDOW // 2, 1)
    return before + lines(NEW[request.param], 3 * WINDOW, 2), len(before)


def test_behind_the_next_place_lines_are_entries_of_the_new_layout(log: tuple[bytes, int]) -> None:
    data, _ = log
    settled = WINDOW + SAMPLE
    events = [event for event in read(data) if event.byte_start > settled]
    assert len(events) >= data[settled:].count(b"\n") - 1


def test_pieces_change_nothing(log: tuple[bytes, int]) -> None:
    data, _ = log
    assert shown(read(data)) == shown(read(data, piece=7_777))


def test_reading_that_is_resumed_decides_the_same(log: tuple[bytes, int]) -> None:
    """At an entry before, within and behind each place where the layout is judged."""
    data, change = log
    whole = shown(read(data))
    wanted = [change, WINDOW - 100, WINDOW + 100, WINDOW + SAMPLE + 100, 2 * WINDOW - 1, 2 * WINDOW + 1, 3 * WINDOW]
    for place in wanted:
        index = next(index for index, one in enumerate(whole) if one[0] >= place)
        assert shown(read(data, whole[index][0])) == whole[index:], place


def test_a_file_that_goes_on_as_it_began_is_read_by_its_beginning() -> None:
    data = lines(OLD, 3 * WINDOW, 3)
    assert len(read(data)) == data.count(b"\n")
