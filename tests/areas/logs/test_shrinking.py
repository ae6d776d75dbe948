"""A log that is cut down to its own first lines is not counted again; one that was emptied and filled is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues import tables
from snaglist.plugins.logs.identify import compare

Line = Callable[..., str]
TRACE = 'Traceback (most recent call last):\n  File "/srv/app/orders.py", line 4, in charge\n    pay()\nKeyError: 1\n'


def lines(line: Line, first: int, end: int, level: str = "ERROR") -> list[str]:
    return [line(f"failed {number % 4}", level, seconds=number) for number in range(first, end)]


def test_a_log_that_is_cut_to_its_first_lines(store: Any, tmp_path: Path, line: Line) -> None:
    log, text = tmp_path / "app.log", lines(line, 0, 30)
    log.write_text("".join(text))
    assert store.scan(log) == 30
    log.write_text("".join(text[:10]))
    assert store.scan(log) == 0
    assert store.scan(log) == 0
    with log.open("a") as stream:
        stream.write("".join(lines(line, 30, 35)))
    assert store.scan(log) == 5
    assert store.count(tables.occurrences) == 35
    store.check_counters()


def test_a_log_whose_first_lines_cannot_be_read_again_is_another_one(
    sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of a parser stops no file: it may count events twice, and loses none."""

    def fail(*given: Any) -> Any:
        raise compare.ParseFailure("cannot be parsed (ValueError)")

    log, text = tmp_path / "app.log", lines(line, 0, 6)
    log.write_text("".join(text))
    sqlite_store.scan(log)
    log.write_text("".join(text[:2]))
    monkeypatch.setattr(compare, "_events", fail)
    assert sqlite_store.scan(log) == 2
    assert sqlite_store.source(log).status == "ok"


def test_it_went_on_before_it_was_read_again(store: Any, tmp_path: Path, line: Line) -> None:
    log, text = tmp_path / "app.log", lines(line, 0, 30)
    log.write_text("".join(text))
    store.scan(log)
    log.write_text("".join([*text[:10], *lines(line, 30, 35)]))
    assert store.scan(log) == 5
    assert store.count(tables.occurrences) == 35
    with log.open("a") as stream:  # longer than it ever was
        stream.write("".join(lines(line, 35, 70)))
    assert store.scan(log) == 35
    store.check_counters()


def test_it_is_cut_again_and_again(store: Any, tmp_path: Path, line: Line) -> None:
    log, text = tmp_path / "app.log", lines(line, 0, 30)
    log.write_text("".join(text))
    store.scan(log)
    for end in (20, 10, 5):
        log.write_text("".join(text[:end]))
        assert store.scan(log) == 0
    with log.open("a") as stream:
        stream.write(line("anew", seconds=99))
    assert store.scan(log) == 1


def test_a_log_that_was_emptied_and_filled_anew(store: Any, tmp_path: Path, line: Line) -> None:
    """The same messages at other times are other events."""
    log = tmp_path / "app.log"
    log.write_text("".join(lines(line, 0, 30)))
    store.scan(log)
    log.write_text("".join(line(f"failed {number % 4}", seconds=60 + number) for number in range(10)))
    assert store.scan(log) == 10


def test_other_messages_of_the_same_second(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text("".join(line("old failed", seconds=number // 5) for number in range(10)))
    store.scan(log)
    log.write_text("".join(line("new failed", seconds=number // 5) for number in range(7)))
    assert store.scan(log) == 7


def test_a_shorter_message_of_the_same_second(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("alpha broke") + line("beta broke"))
    store.scan(log)
    log.write_text(line("gamma"))
    assert store.scan(log) == 1


def test_lines_without_a_time_tell_nothing(store: Any, tmp_path: Path) -> None:
    """A program that was started again says the same again."""
    log = tmp_path / "app.log"
    log.write_text("ERROR one\nERROR two\nERROR three\n")
    assert store.scan(log) == 3
    log.write_text("ERROR one\nERROR two\n")
    assert store.scan(log) == 2


def test_an_error_where_there_was_none_is_counted(store: Any, tmp_path: Path, line: Line) -> None:
    """Lines below the severities that are stored are known by nothing: what stands in their place may be new."""
    log = tmp_path / "app.log"
    first = line("failed")
    log.write_text(first + "".join(lines(line, 1, 30, "INFO")))
    assert store.scan(log) == 1
    log.write_text(first + line("failed", seconds=1))
    assert store.scan(log) == 1
    assert store.count(tables.occurrences) == 2


def test_the_cut_goes_through_a_trace(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    text = line("one") + line("Payment failed", seconds=1) + TRACE
    log.write_text(text + line("two", seconds=2))
    assert store.scan(log) == 3
    log.write_text(text.removesuffix("KeyError: 1\n"))
    assert store.scan(log) == 0
    with log.open("a") as stream:
        stream.write(line("three", seconds=3))
    assert store.scan(log) == 1
    store.check_counters()


def test_a_cut_within_a_line_is_read_from_that_line(store: Any, tmp_path: Path, line: Line) -> None:
    log, text = tmp_path / "app.log", lines(line, 0, 30)
    log.write_text("".join(text))
    store.scan(log)
    log.write_text("".join(text[:10]) + text[10][:-4])
    store.scan(log)
    assert store.count(tables.occurrences) <= 32  # the line that is cut, and the one it may go on with
    with log.open("a") as stream:
        stream.write(text[10][-4:] + line("after", seconds=50))
    store.scan(log)
    assert store.count(tables.occurrences) <= 33
    store.check_counters()


def test_a_long_log_is_compared_in_pages(
    sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "_PAGE", 7)
    monkeypatch.setattr(compare, "CHUNK_BYTES", 100)
    log, text = tmp_path / "app.log", lines(line, 0, 200)
    log.write_text("".join(text))
    sqlite_store.scan(log)
    log.write_text("".join(text[:150]))
    assert sqlite_store.scan(log) == 0


def test_an_older_copy_that_is_put_back(store: Any, tmp_path: Path, line: Line) -> None:
    """Another file with the same beginning, as an editor or a restore leaves it."""
    log, text = tmp_path / "app.log", lines(line, 0, 30)
    log.write_text("".join(text))
    store.scan(log)
    (tmp_path / "other").write_text("".join(text[:12]))
    (tmp_path / "other").replace(log)
    assert store.scan(log) == 0
