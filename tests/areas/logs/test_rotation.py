"""Files that rotate. The cases FL-… are those of the area `files`; everything through the command
line's own way of reading, on all three databases where rows move."""

import bz2
import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import zstandard
from sqlalchemy import Row

from snaglist.plugins.issues import tables
from snaglist.plugins.logs import Ingestion, Reading, import_file
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.identify import compare, search
from snaglist.plugins.logs.identify.compare import holds
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, Trail
from snaglist.plugins.logs.identify.moved import follow_file
from snaglist.plugins.logs.read.files import open_file

Line = Callable[..., str]


def append(path: Path, *texts: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write("".join(texts))


@pytest.fixture
def numbered(line: Line) -> Callable[[int], str]:
    """A line with a number of its own."""
    return lambda number: line(f"line {'x' * (number % 7)} number={number}", seconds=number)


Numbered = Callable[[int], str]


def test_fl01_63_rename(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(3)))
    assert store.scan(tmp_path) == 3
    log.rename(old)
    append(log, numbered(3), numbered(4))
    assert store.scan(tmp_path) == 2
    assert store.scan(tmp_path) == 0
    assert store.count(tables.occurrences) == 5
    sources = {row.path: row for row in store.rows(log_tables.sources)}
    assert set(sources) == {str(log), str(old)}
    assert {row.offset for row in sources.values()} == {log.stat().st_size, old.stat().st_size}
    assert (sources[str(old)].id, sources[str(old)].channel) == (1, "app.log")
    store.check_counters()
    by_file = {row.value: row.count for row in store.rows(tables.issue_facets) if row.facet == "source"}
    assert set(by_file) == {str(log), str(old)}


def test_fl02_lines_written_late_to_the_old_file(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(3)))
    store.scan(tmp_path)
    with log.open("a", encoding="utf-8") as writer:
        log.rename(old)
        append(log, numbered(3), numbered(4))
        writer.write(numbered(5))
        writer.flush()
        assert store.scan(tmp_path) == 3
        writer.write(numbered(6))
    assert store.scan(tmp_path) == 1
    assert store.count(tables.occurrences) == 7
    store.check_counters()


def test_fl03_fl09a_63_copytruncate(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(4)))
    store.scan(tmp_path)
    shutil.copy(log, old)
    with log.open("r+b") as stream:
        stream.truncate(0)
    append(log, numbered(4))
    assert store.scan(tmp_path) == 1
    assert store.scan(tmp_path) == 0
    assert store.count(tables.occurrences) == 5
    assert store.source(old).id == 1
    assert store.source(log).id == 2
    store.check_counters()


def test_a_copy_seen_before_the_truncation_adds_nothing(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """The raw text is found in the copy afterwards."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(4)))
    store.scan(tmp_path)
    append(log, numbered(4))
    shutil.copy(log, old)
    assert store.scan(tmp_path) == 1
    assert store.states[-1] == "duplicate"
    with log.open("r+b") as stream:
        stream.truncate(0)
    append(log, numbered(5))
    assert store.scan(tmp_path) == 1
    assert [(row.path, row.status) for row in store.rows(log_tables.sources)] == [(str(old), "ok"), (str(log), "ok")]
    assert store.count(tables.occurrences) == 6
    store.check_counters()


def test_lines_between_copy_and_truncation_count_once(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """The copy is shorter than what was read of its original, which is still there."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(40)))
    shutil.copy(log, old)
    append(log, numbered(40))
    assert sqlite_store.scan(tmp_path) == 41
    with log.open("r+b") as stream:
        stream.truncate(0)
    assert sqlite_store.scan(tmp_path) == 0
    assert sqlite_store.count(tables.occurrences) == 41
    sqlite_store.check_counters()


def test_a_copy_that_goes_on_by_itself_is_read_on(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, other = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(4)))
    shutil.copy(log, other)
    assert sqlite_store.scan(tmp_path) == 4
    append(log, numbered(4))
    append(other, numbered(5))
    assert sqlite_store.scan(tmp_path) == 2
    sqlite_store.check_counters()


def test_a_second_name_of_the_same_file_is_not_read(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, link = tmp_path / "app.log", tmp_path / "b.log"
    append(log, numbered(0))
    os.link(log, link)
    assert sqlite_store.scan(tmp_path) == 1
    append(log, numbered(1))
    assert sqlite_store.scan(tmp_path) == 1
    assert sqlite_store.count(log_tables.sources) == 1


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstandard.ZstdCompressor().compress)],
)
def test_fl11_63_compressed_after_rotation(
    sqlite_store: Any, tmp_path: Path, numbered: Numbered, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    old, packed = tmp_path / "app.log.1", tmp_path / f"app.log.1{suffix}"
    append(old, *map(numbered, range(4)))
    sqlite_store.scan(tmp_path)
    packed.write_bytes(pack(old.read_bytes()))
    old.unlink()
    assert sqlite_store.scan(tmp_path) == 0
    assert sqlite_store.source(packed).id == 1
    (tmp_path / f"app.log.2{suffix}").write_bytes(pack((numbered(4) + numbered(5)).encode()))
    assert sqlite_store.scan(tmp_path) == 2
    assert sqlite_store.count(tables.occurrences) == 6
    sqlite_store.check_counters()


def test_an_archive_with_unread_lines_is_read_to_the_end(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, packed = tmp_path / "app.log", tmp_path / "app.log.1.gz"
    append(log, *map(numbered, range(4)))
    store.scan(tmp_path)
    append(log, numbered(4))
    packed.write_bytes(gzip.compress(log.read_bytes()))
    log.write_text(numbered(5))
    assert store.scan(tmp_path) == 2
    assert store.source(packed).occurrence_count == 5
    assert not any(row.provisional for row in store.rows(tables.occurrences) if row.source_id == 1)
    store.check_counters()


def test_a_whole_chain_moves_at_once(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """app.log → .1 → .2 → .3.gz between two scans."""
    for number, name in enumerate(("app.log.2", "app.log.1", "app.log")):
        append(tmp_path / name, *map(numbered, range(number * 10, number * 10 + 5)))
    assert store.scan(tmp_path) == 15
    (tmp_path / "app.log.3.gz").write_bytes(gzip.compress((tmp_path / "app.log.2").read_bytes()))
    (tmp_path / "app.log.1").rename(tmp_path / "app.log.2")
    (tmp_path / "app.log").rename(tmp_path / "app.log.1")
    append(tmp_path / "app.log.1", numbered(25))
    append(tmp_path / "app.log", numbered(30))
    assert store.scan(tmp_path) == 2
    assert store.scan(tmp_path) == 0
    assert {Path(row.path).name: row.occurrence_count for row in store.rows(log_tables.sources)} == {
        "app.log": 1, "app.log.1": 6, "app.log.2": 5, "app.log.3.gz": 5,
    }  # fmt: skip
    store.check_counters()


def test_an_event_goes_on_in_the_rotated_file(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """The provisional event is replaced where its file went."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, numbered(0), numbered(1)[:-10])
    store.scan(tmp_path)
    append(log, numbered(1)[-10:])
    log.rename(old)
    append(log, numbered(2))
    assert store.scan(tmp_path) == 1
    assert store.count(tables.occurrences) == 3
    moved = [row for row in store.rows(tables.occurrences) if row.source_id == 1]
    assert max(row.byte_end for row in moved) == old.stat().st_size
    store.check_counters()


def test_fl15_a_link_that_moves_every_day(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    first, second, link = (tmp_path / name for name in ("app-01.log", "app-02.log", "current.log"))
    append(first, numbered(0))
    link.symlink_to(first)
    assert sqlite_store.scan(tmp_path) == 1
    append(second, numbered(1), numbered(2))
    link.unlink()
    link.symlink_to(second)
    append(first, numbered(3))
    assert sqlite_store.scan(tmp_path) == 3


def test_fl16_a_file_is_not_readable_for_a_while(
    store: Any, tmp_path: Path, numbered: Numbered, monkeypatch: pytest.MonkeyPatch
) -> None:
    from snaglist.plugins.logs.read import importing

    logs = [tmp_path / f"{name}.log" for name in "abc"]
    real = importing.open_file

    def refuse(path: Path, **options: Any) -> Any:
        if path == logs[1]:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, **options)

    number = iter(range(100))
    for log in logs:
        append(log, numbered(next(number)))
    assert store.scan(tmp_path) == 3
    for log in logs:
        append(log, numbered(next(number)))
    with monkeypatch.context() as patch:
        patch.setattr(importing, "open_file", refuse)
        assert store.scan(tmp_path) == 2
        offset = store.source(logs[1]).offset
        assert store.source(logs[1]).last_error == "Permission denied"
    for log in logs:
        append(log, numbered(next(number)))
    assert store.scan(tmp_path) == 4
    assert store.source(logs[1]).offset > offset
    store.check_counters()


def test_fl18_an_empty_placeholder_under_the_new_name(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(3)))
    old.touch()
    assert store.scan(tmp_path) == 3
    log.replace(old)
    append(log, numbered(3))
    assert store.scan(tmp_path) == 1
    assert store.scan(tmp_path) == 0
    assert store.count(log_tables.sources) == 2
    store.check_counters()


def test_names_of_another_family_are_independent(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    append(tmp_path / "a.log", numbered(0))
    shutil.copy(tmp_path / "a.log", tmp_path / "b.log")
    assert sqlite_store.scan(tmp_path) == 2


def test_a_file_that_was_away_goes_on_under_its_old_name(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """Moved out of sight, another in its place, moved back: nothing is read twice."""
    log, aside = tmp_path / "app.log", tmp_path / "aside"
    append(log, *map(numbered, range(3)))
    sqlite_store.scan(tmp_path)
    log.rename(aside)
    append(log, numbered(3))
    assert sqlite_store.scan(tmp_path) == 1
    aside.replace(log)
    append(log, numbered(4))
    assert sqlite_store.scan(tmp_path) == 1
    assert sqlite_store.source(log).id == 1
    sqlite_store.check_counters()


def test_reading_the_one_name_finds_what_was_rotated_away(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """Lines that were written between the last read and the rotation are not lost, though only app.log is read."""
    log = tmp_path / "app.log"
    append(log, *map(numbered, range(3)))
    assert store.scan(log) == 3
    append(log, numbered(3))
    log.rename(tmp_path / "app.log.1")
    append(tmp_path / "app.log.2", numbered(99))  # nobody asked for this one
    append(log, numbered(4))
    assert store.scan(log) == 2
    assert store.count(tables.occurrences) == 5
    store.check_counters()


def test_reading_the_one_name_finds_what_was_renamed(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """Under whatever name: it is the same file, by device and inode, and a copy of it is not."""
    log, old = tmp_path / "app.log", tmp_path / "of yesterday"
    append(log, numbered(0))
    sqlite_store.scan(log)
    append(log, numbered(1))
    shutil.copy(log, tmp_path / "kept")
    log.rename(old)
    append(log, numbered(2))
    sqlite_store.scan(log)
    assert (sqlite_store.source(old).id, sqlite_store.source(log).id) == (1, 2)
    sqlite_store.check_counters()


def test_a_file_that_is_nowhere_is_not_followed(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log = tmp_path / "app.log"
    append(log, numbered(0))
    sqlite_store.scan(log)
    log.unlink()
    assert follow_file(sqlite_store.service.call(), sqlite_store.source(log)) is False


def test_a_link_is_not_what_a_log_was_renamed_to(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, elsewhere = tmp_path / "logs" / "app.log", tmp_path / "moved"
    log.parent.mkdir()
    append(log, numbered(0))
    sqlite_store.scan(log)
    log.rename(elsewhere)
    log.with_name("app.log.1").symlink_to(elsewhere)
    assert follow_file(sqlite_store.service.call(), sqlite_store.source(log)) is False


def test_a_shorter_file_that_cannot_be_parsed_is_no_copy(
    sqlite_store: Any, tmp_path: Path, numbered: Numbered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it holds is read: better twice than never."""

    def fail(*given: Any) -> Any:
        raise compare.ParseFailure("cannot be parsed (ValueError)")

    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(5)))
    sqlite_store.scan(log)
    old.write_text("".join(map(numbered, range(4))))
    log.write_text(numbered(9))
    monkeypatch.setattr(compare, "read_with", fail)
    assert sqlite_store.read(old).events == 4


def test_files_of_which_each_was_read_by_itself_stay_apart(
    sqlite_store: Any, tmp_path: Path, numbered: Numbered
) -> None:
    """What both have is counted twice already: one source would have two events at the same bytes."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, numbered(0), numbered(1))
    shutil.copy(log, old)
    call = sqlite_store.service.call()
    with call.transaction(write=False):
        reading = Reading(Ingestion.load(call).rules, "UTC")
    assert [import_file(call, path, reading, search=search.nowhere).events for path in (log, old)] == [2, 2]
    before = sqlite_store.rows(log_tables.sources)
    log.unlink()
    assert follow_file(call, sqlite_store.source(log)) is False
    assert sqlite_store.rows(log_tables.sources) == before


def test_a_truncation_while_a_file_is_read(
    sqlite_store: Any, tmp_path: Path, numbered: Numbered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was parsed of the old bytes is not stored for the new ones; both are counted once."""
    from snaglist.plugins.logs.read import file_import

    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(3)))
    real = file_import.parse
    rotated: list[bool] = []

    def parse(step: Any) -> Any:
        events = real(step)
        if not rotated:
            rotated.append(True)
            shutil.copy(log, old)
            with log.open("r+b") as stream:
                stream.truncate(0)
            append(log, *map(numbered, range(10, 20)))
        return events

    monkeypatch.setattr(file_import, "parse", parse)
    assert sqlite_store.scan(tmp_path) == 10
    assert sqlite_store.scan(tmp_path) == 3
    sqlite_store.check_counters()


def test_offsets_beyond_four_gigabytes(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """A hole of 5 GiB stands for what was read; only the last block is looked at again."""
    from sqlalchemy import update

    from snaglist.plugins.logs.identify.fingerprint import BLOCK_BYTES, ChainedHash

    log = tmp_path / "app.log"
    head = numbered(0)
    log.write_text(head)
    sqlite_store.scan(tmp_path)
    size = 5 * 1024**3
    with log.open("r+b") as stream:
        stream.truncate(size)
    chain = ChainedHash("ab" * 32, size - BLOCK_BYTES)
    chain.feed(bytes(BLOCK_BYTES))
    known = {"offset": size, "block_hash": chain.block_hash, "content_hash": chain.content_hash, "open_event": None}
    with sqlite_store.service.call().transaction() as db:
        db.execute(update(log_tables.sources).values(known))
    append(log, numbered(1), numbered(2))
    assert sqlite_store.scan(tmp_path) == 2
    assert sqlite_store.source(log).offset == log.stat().st_size
    assert max(row.byte_start for row in sqlite_store.rows(tables.occurrences)) > size


def test_a_copy_seen_while_it_was_made(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """Half of it was there when it was seen first; the rest was read in the original, which is emptied then."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(10)))
    content = log.read_bytes()
    old.write_bytes(content[: len(content) // 2])
    assert store.scan(tmp_path) == 10
    old.write_bytes(content)
    log.write_text(numbered(10))
    assert store.scan(tmp_path) == 1
    append(old, numbered(11))  # the source goes on in the copy
    assert store.scan(tmp_path) == 1
    assert {Path(row.path).name: row.occurrence_count for row in store.rows(log_tables.sources)} == {
        "app.log": 1, "app.log.1": 11,
    }  # fmt: skip
    store.check_counters()


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.9])
def test_a_copy_seen_half_made_and_whole_before_the_log_is_emptied(
    store: Any, tmp_path: Path, numbered: Numbered, cut: float
) -> None:
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(10)))
    content = log.read_bytes()
    old.write_bytes(content[: int(len(content) * cut)])
    assert store.scan(tmp_path) == 10
    old.write_bytes(content)
    assert store.scan(tmp_path) == 0
    log.write_text(numbered(10))
    assert store.scan(tmp_path) == 1
    assert store.scan(tmp_path) == 0
    store.check_counters()


@pytest.mark.parametrize(("packed", "lines"), [(False, 10), (True, 10), (False, 100)])
def test_a_copy_cut_short_and_seen_after_the_truncation(
    store: Any, tmp_path: Path, numbered: Numbered, packed: bool, lines: int
) -> None:
    """A line that came between copy and truncation was read, and is in no file any more; the copy adds nothing.

    Of ten lines the head is all there is; a hundred are more than a file is known by.
    """
    log, old = tmp_path / "app.log", tmp_path / ("app.log.1.gz" if packed else "app.log.1")
    append(log, *map(numbered, range(lines)))
    content = log.read_bytes()
    append(log, numbered(lines))
    assert store.scan(tmp_path) == lines + 1
    old.write_bytes(gzip.compress(content) if packed else content)
    log.write_text(numbered(lines + 1))
    assert store.scan(tmp_path) == 1
    assert store.scan(tmp_path) == 0
    assert store.count(tables.occurrences) == lines + 2
    store.check_counters()


def test_a_shorter_file_with_other_events_is_no_copy(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """Equal places of lines are not enough."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(10)))
    assert sqlite_store.scan(tmp_path) == 10
    old.write_text("".join(numbered(number) for number in range(70, 75)))
    log.write_text(numbered(100))
    assert sqlite_store.scan(tmp_path) == 6


def test_a_log_that_begins_like_the_one_before_is_no_copy(
    sqlite_store: Any, tmp_path: Path, numbered: Numbered
) -> None:
    """Half a line, or a banner, is the same in every file."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    banner = numbered(0)
    append(log, banner, numbered(1), numbered(2))
    assert sqlite_store.scan(tmp_path) == 3
    log.rename(old)
    append(log, banner[:11])
    sqlite_store.scan(tmp_path)
    append(log, banner[11:], numbered(3))
    sqlite_store.scan(tmp_path)
    assert sqlite_store.count(tables.occurrences) == 5
    sqlite_store.check_counters()


def test_a_copy_that_was_only_begun_waits(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(5)))
    old.write_bytes(log.read_bytes()[:20])
    assert sqlite_store.scan(tmp_path) == 5
    assert sqlite_store.count(log_tables.sources) == 1
    old.write_bytes(log.read_bytes())
    log.write_text(numbered(5))
    assert sqlite_store.scan(tmp_path) == 1
    sqlite_store.check_counters()


def test_lines_that_are_in_original_and_copy_are_read_in_one(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """Lines come and the copy is made between the reading of the log and the look at its copy."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(5)))
    assert store.scan(log) == 5
    append(log, numbered(5))
    shutil.copy(log, old)
    assert store.scan(old) == 0  # they will be read in the log
    assert store.states == ["duplicate"]
    log.write_text(numbered(6))
    assert store.scan(tmp_path) == 2  # or here, since they were not
    assert store.count(tables.occurrences) == 7
    store.check_counters()


@pytest.mark.servers
def test_what_a_copy_read_itself_is_joined_to_its_original(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """The copy went on, was read, and moved on before the original was seen to be another file."""
    log, copy, old = (tmp_path / name for name in ("app.log", "app.log.1", "app.log.2"))
    append(log, *map(numbered, range(5)))
    assert store.scan(log) == 5
    shutil.copy(log, copy)
    append(copy, numbered(5))
    assert store.scan(copy) == 1
    copy.rename(old)
    log.write_text(numbered(6))
    copy.write_text(numbered(7))
    assert store.scan(tmp_path) == 2
    assert store.scan(tmp_path) == 0
    by_file = {Path(row.path).name: row.occurrence_count for row in store.rows(log_tables.sources)}
    assert by_file == {"app.log": 1, "app.log.1": 1, "app.log.2": 6}
    store.check_counters()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_copy_that_is_completed_while_it_is_looked_at(
    sqlite_store: Any, tmp_path: Path, numbered: Numbered, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Before or after it was compared with its original, and before it is read."""

    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(10)))
    content = log.read_bytes()
    assert sqlite_store.scan(log) == 10
    old.write_bytes(content[: len(content) // 2])
    real = search.shorter_copy

    def completing(*arguments: Any) -> Any:
        if when == "before":
            old.write_bytes(content)
        found = real(*arguments)
        old.write_bytes(content)
        return found

    monkeypatch.setattr(search, "shorter_copy", completing)
    assert sqlite_store.scan(old) == 0
    log.write_text(numbered(10))
    assert sqlite_store.scan(tmp_path) == 1
    sqlite_store.check_counters()


@pytest.mark.parametrize("begun", [0, 20, 100])
def test_a_copy_that_is_completed_and_its_log_emptied_when_only_its_head_was_taken(
    store: Any, tmp_path: Path, numbered: Numbered, monkeypatch: pytest.MonkeyPatch, begun: int
) -> None:
    """The head is no line, or less than the first event: too little to know the copy by, once its log is empty."""

    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, numbered(0), "  at step one of it\n" * 20, *map(numbered, range(1, 10)))
    content = log.read_bytes()
    assert store.scan(log) == 10
    old.write_bytes(content[:begun])
    real = search._in_place

    def completing(*arguments: Any) -> Any:
        old.write_bytes(content)
        log.write_text("")
        return real(*arguments)

    monkeypatch.setattr(search, "_in_place", completing)
    assert store.scan(old) == 0
    monkeypatch.undo()
    append(log, numbered(10))
    assert store.scan(tmp_path) == 1
    assert store.count(tables.occurrences) == 11
    store.check_counters()


def test_a_copy_that_goes_on_when_it_was_compared(
    store: Any, tmp_path: Path, numbered: Numbered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It held just what was read of its log; then come lines that will be read in the log."""

    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(5)))
    shutil.copy(log, old)
    assert store.scan(log) == 5
    append(log, numbered(5))
    real = search._compare_in_place

    def completing(*arguments: Any) -> Any:
        found = real(*arguments)
        shutil.copy(log, old)
        return found

    monkeypatch.setattr(search, "_compare_in_place", completing)
    assert store.scan(old) == 0
    monkeypatch.undo()
    assert store.scan(log) == 1
    log.write_text(numbered(6))
    assert store.scan(tmp_path) == 1
    assert store.count(tables.occurrences) == 7
    store.check_counters()


def moments(store: Any) -> list[str]:
    """The times of the events that are stored; each line has its own."""
    return sorted(row.occurred_at for row in store.rows(tables.occurrences))


def test_half_a_line_that_other_files_begin_with_as_well(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """The log was rotated unread; the beginning of one line makes the new one no original of the others."""
    log, old, packed = (tmp_path / name for name in ("app.log", "app.log.1", "app.log.2.gz"))
    append(old, *map(numbered, range(4, 8)))
    packed.write_bytes(gzip.compress("".join(map(numbered, range(4))).encode()))
    append(log, numbered(8)[:5])
    assert store.scan(tmp_path) == 8
    append(log, numbered(8)[5:])
    assert store.scan(tmp_path) == 1
    assert len(set(moments(store))) == len(moments(store)) == 9
    store.check_counters()


def test_half_a_line_of_a_log_that_is_gone(sqlite_store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """It began like every line; the file that is there afterwards is read from its first byte."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, numbered(0)[:5])
    sqlite_store.scan(tmp_path)
    log.unlink()
    append(old, *map(numbered, range(1, 4)))
    sqlite_store.scan(tmp_path)
    assert len(set(moments(sqlite_store))) == 3
    sqlite_store.check_counters()


def test_a_log_of_which_half_a_line_was_read_before_it_was_copied_and_emptied(
    store: Any, tmp_path: Path, numbered: Numbered
) -> None:
    """The line is in an archive by then, and counts once."""
    log, packed = tmp_path / "app.log", tmp_path / "app.log.1.gz"
    append(log, numbered(1)[:46])
    assert store.scan(tmp_path) == 1
    packed.write_bytes(gzip.compress(numbered(1).encode()))
    log.write_text("")
    assert store.scan(tmp_path) == 0
    append(log, numbered(2))
    assert store.scan(tmp_path) == 1
    assert len(set(moments(store))) == len(moments(store)) == 2
    store.check_counters()


def test_a_copy_that_goes_on_in_the_middle_of_a_line(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """The line began in what both have; in each it went on in its own way, so it is a line of both."""
    log, other = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, *map(numbered, range(3)), numbered(3)[:46])
    shutil.copy(log, other)
    assert store.scan(log) == 4
    append(other, " went on there\n", numbered(5))
    assert store.scan(other) == 2
    append(log, " went on here\n", numbered(4))
    assert store.scan(tmp_path) == 1
    events = moments(store)
    assert (len(set(events)), len(events)) == (6, 7)
    store.check_counters()


def test_an_archive_made_of_a_line_that_was_half_read(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """The archive is seen while the file that it was made of is still there."""
    old, packed = tmp_path / "app.log.1", tmp_path / "app.log.1.gz"
    append(old, numbered(0), numbered(1)[:46])
    assert store.scan(old) == 2
    append(old, numbered(1)[46:], numbered(2))
    packed.write_bytes(gzip.compress(old.read_bytes()))
    assert store.scan(packed) == 0
    old.unlink()
    assert store.scan(tmp_path) == 1
    assert len(set(moments(store))) == len(moments(store)) == 3
    assert {row.byte_end for row in store.rows(tables.occurrences)} == {
        sum(len(numbered(number)) for number in range(end + 1)) for end in range(3)
    }
    assert [Path(row.path).name for row in store.rows(log_tables.sources)] == ["app.log.1.gz"]
    store.check_counters()


def test_half_a_line_says_nothing_of_the_file_that_holds_it(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """An archive of the log ends within its first line, and so do many: the log is not behind that half."""
    log, packed = tmp_path / "app.log", tmp_path / "app.log.1.gz"
    packed.write_bytes(gzip.compress(numbered(1)[:8].encode()))
    store.scan(packed)
    append(log, numbered(1), numbered(2))
    assert store.scan(log) == 2
    assert [row.time_source for row in store.rows(tables.occurrences)] == ["event", "event"]
    assert store.source(log).first_byte == 0


@pytest.mark.parametrize("step", ["holds", "contains"])
def test_a_log_that_is_emptied_while_it_is_compared_with_its_copy(
    sqlite_store: Any, tmp_path: Path, numbered: Numbered, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whichever is asked in that moment, what comes behind the known lines is counted once."""

    log, old, older = (tmp_path / name for name in ("app.log", "app.log.1", "app.log.2"))
    append(log, *map(numbered, range(3)))
    assert sqlite_store.scan(log) == 3
    append(log, numbered(3), numbered(4))
    shutil.copy(log, old)
    real = getattr(search, step)

    def emptied(*arguments: Any) -> bool:
        answer = bool(real(*arguments))
        log.write_text("")
        return answer

    monkeypatch.setattr(search, step, emptied)
    sqlite_store.scan(old)
    monkeypatch.undo()
    old.rename(older)
    append(log, numbered(5))
    sqlite_store.scan(tmp_path)
    assert len(set(moments(sqlite_store))) == len(moments(sqlite_store)) == 6
    sqlite_store.check_counters()


def test_sources_of_one_path_take_their_own_counts_along(store: Any, tmp_path: Path, numbered: Numbered) -> None:
    """A file went away with half a line, the next of its path was rotated, then the first one is there again."""
    folder, away = tmp_path / "logs", tmp_path / "away"
    log, old, older = (folder / name for name in ("app.log", "app.log.1", "app.log.2"))
    folder.mkdir()
    append(log, numbered(0), numbered(14)[:-2])  # of one issue, like the others
    assert store.scan(folder) == 2
    log.rename(away)
    append(log, numbered(7))
    assert store.scan(folder) == 1
    log.rename(old)
    append(log, numbered(21))
    assert store.scan(folder) == 1
    by_file = {Path(row.value).name: row.count for row in store.rows(tables.issue_facets) if row.facet == "source"}
    assert by_file == {"app.log": 3, "app.log.1": 1}
    away.rename(older)
    append(older, numbered(14)[-2:])
    store.scan(folder)
    store.check_counters()
    by_file = {Path(row.value).name: row.count for row in store.rows(tables.issue_facets) if row.facet == "source"}
    assert by_file == {"app.log": 1, "app.log.1": 1, "app.log.2": 2}


def test_a_copy_never_becomes_its_own_original(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rotation between two looks at the original puts the copy in its place."""
    original, other = tmp_path / "app.log.2", tmp_path / "app.log.1"
    original.write_bytes(b"one\n" * 9)
    other.write_bytes(b"two\n" * 3)
    with open_file(original) as file:
        trail = Trail.start(file, file.head(PREFIX_BYTES))
        assert trail.advance(36)
        read = SimpleNamespace(first_byte=0, **trail.columns())
        trail.close()
    resume = Trail.resume

    def rotate(*given: Any) -> Trail | None:
        found = resume(*given)
        other.rename(original)
        return found

    with open_file(other) as copy:
        assert not holds(original, cast(Row[Any], read), copy)
        monkeypatch.setattr(Trail, "resume", rotate)
        assert not holds(original, cast(Row[Any], read), copy)
