"""One file read again and again, on all three databases."""

import bz2
import gzip
import lzma
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from snaglist.kernel import times
from snaglist.plugins.issues import EventSource, change_status, tables
from snaglist.plugins.logs import LineBatch, Parser, Reader, hookspecs
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.parsers import BUILT_IN
from snaglist.plugins.logs.read import file_import, importing, parsing
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.testing import running_service

Line = Callable[..., str]
TRACE = 'Traceback (most recent call last):\n  File "/srv/app/orders.py", line 4, in charge\n    pay()\n'
RAISED = "GatewayTimeout: no answer\n"


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


def test_61_read_twice_then_one_line_more(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("first") + line("second", seconds=1))
    first = store.read(log)
    assert (first.state, first.events, first.log_type) == ("read", 2, "monolog")
    again = store.read(log)
    assert (again.state, again.events) == ("unchanged", 0)
    append(log, line("third", seconds=2))
    more = store.read(log)
    assert (more.state, more.events) == ("read", 1)
    assert store.count(tables.occurrences) == 3
    assert store.source(log).occurrence_count == 3
    store.check_counters()


def test_62_a_stack_written_in_two_halves_is_one_occurrence(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("before") + line("Payment failed", seconds=1) + TRACE)
    assert store.read(log).events == 2
    half = store.rows(tables.occurrences)[-1]
    assert half.provisional
    append(log, RAISED + line("after", seconds=2))
    assert store.read(log).events == 1
    whole = {row.byte_start: row for row in store.rows(tables.occurrences)}
    assert len(whole) == 3
    grown = whole[half.byte_start]
    assert grown.id == half.id
    assert not grown.provisional
    assert grown.byte_end == half.byte_end + len(RAISED)
    sample = next(row for row in store.rows(tables.issue_samples) if row.issue_id == grown.issue_id)
    assert "GatewayTimeout" in sample.stack or "GatewayTimeout" in sample.message
    assert store.source(log).occurrence_count == 3
    store.check_counters()


def test_an_issue_that_only_the_first_form_made_goes_again(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("Payment failed"))
    store.read(log)
    (provisional,) = store.rows(tables.issues)
    append(log, TRACE + RAISED)
    store.read(log)
    (issue,) = store.rows(tables.issues)
    assert issue.exception_class == "GatewayTimeout"
    assert issue.id != provisional.id
    assert (issue.count, issue.sample_occurrence_id) == (1, store.rows(tables.occurrences)[0].id)
    store.check_counters()


def test_an_issue_that_somebody_worked_on_stays(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("Payment failed"))
    store.read(log)
    call = store.service.call()
    with call.transaction():
        change_status(call, store.rows(tables.issues)[0].id, "in_progress", note="looking")
    append(log, TRACE + RAISED)
    store.read(log)
    kept = store.rows(tables.issues)[0]
    assert (kept.status, kept.count, kept.sample_occurrence_id) == ("in_progress", 0, None)
    store.check_counters()


def test_the_first_form_of_an_older_issue_leaves_it_as_it_was(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("Payment failed") + line("Payment failed", seconds=60))
    store.read(log)
    append(log, TRACE + RAISED)
    store.read(log)
    older, newer = store.rows(tables.issues)
    first = next(row for row in store.rows(tables.occurrences) if row.byte_start == 0)
    assert (older.count, older.last_seen, older.sample_occurrence_id) == (1, first.occurred_at, first.id)
    assert newer.count == 1
    store.check_counters()


def test_a_half_line_is_completed_in_place(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    whole = line("Order 4711 cannot be paid")
    log.write_text(whole[:-12])
    assert store.read(log).events == 1
    append(log, whole[-12:])
    assert store.read(log).events == 0
    (occurrence,) = store.rows(tables.occurrences)
    assert occurrence.byte_end == len(whole)
    assert [row.title for row in store.rows(tables.issues)] == ["Order 4711 cannot be paid"]
    store.check_counters()


def test_the_last_event_becomes_final_when_the_file_is_quiet(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("only"))
    store.read(log)
    assert store.rows(tables.occurrences)[0].provisional
    long_ago = time.time() - 60
    os.utime(log, (long_ago, long_ago))
    assert store.read(log).state == "unchanged"
    assert not store.rows(tables.occurrences)[0].provisional
    assert store.source(log).open_event["settled"]


def test_an_unchanged_quiet_file_is_settled_without_being_read(
    sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("only"))
    two_seconds_ago = time.time() - 2
    os.utime(log, (two_seconds_ago, two_seconds_ago))
    sqlite_store.read(log)
    assert sqlite_store.rows(tables.occurrences)[0].provisional
    monkeypatch.setattr(OpenFile, "content", lambda *_: pytest.fail("the content was read"))
    assert sqlite_store.read(log).state == "unchanged"
    sqlite_store.service.settings._values["ingestion.quiet_seconds"] = 1
    assert sqlite_store.read(log).state == "unchanged"
    assert not sqlite_store.rows(tables.occurrences)[0].provisional


def test_fl05_offsets_after_append_and_truncation(store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    entry = line("x" * 24)
    log.write_text(entry)
    store.read(log)
    assert store.source(log).offset == len(entry)
    append(log, entry)
    store.read(log)
    assert store.source(log).offset == 2 * len(entry)
    log.write_text(line("y" * 24))
    result = store.read(log)
    assert (result.state, result.events) == ("read", 1)
    source = store.source(log)
    assert (source.offset, source.generation) == (len(entry), 2)
    assert store.count(tables.occurrences) == 3
    assert store.read(log).events == 0
    store.check_counters()


def test_fl06_other_content_under_the_same_name_and_inode(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("old") * 3)
    sqlite_store.read(log)
    inode = log.stat().st_ino
    with log.open("r+", encoding="utf-8") as stream:  # same inode, other and longer content
        stream.write(line("new") * 9)
    assert log.stat().st_ino == inode
    assert sqlite_store.read(log).events == 9
    old, new = sqlite_store.rows(log_tables.sources)
    assert (old.status, new.status, new.generation) == ("missing", "ok", 2)


def test_fl07_two_files_with_the_same_long_head(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    banner = "".join(f"# banner line {n}\n" for n in range(200))
    one, two = tmp_path / "a.log", tmp_path / "b.log"
    one.write_text(banner + line("a1") + line("a2"))
    two.write_text(banner + line("b1") + line("b2") + line("b3"))
    assert sqlite_store.read(one).events + sqlite_store.read(two).events == 5
    append(one, line("a3"))
    append(two, line("b4"))
    assert (sqlite_store.read(one).events, sqlite_store.read(two).events) == (1, 1)


def test_fl09_equal_files_in_other_places_are_independent(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    text = line("same") * 2
    for host in ("host1", "host2"):
        (tmp_path / host).mkdir()
        (tmp_path / host / "run.log").write_text(text)
        assert sqlite_store.read(tmp_path / host / "run.log").events == 2


def test_fl13_replaced_by_a_shorter_file(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    log, other = tmp_path / "app.log", tmp_path / "other"
    log.write_text(line("old") * 10)
    sqlite_store.read(log)
    other.write_text(line("new") * 2)
    other.replace(log)
    assert sqlite_store.read(log).events == 2
    assert sqlite_store.count(tables.occurrences) == 12


def test_a_change_within_the_second_of_the_last_read_is_seen(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    second = log.parent.stat().st_mtime + 60  # a slow machine reads the file before that is over
    for text in ("one", "two"):
        log.write_text(line(text))
        os.utime(log, (second, second))
        assert sqlite_store.read(log).events == 1
    assert sqlite_store.source(log).generation == 2


PACKERS = [
    (".gz", gzip.compress),
    (".bz2", bz2.compress),
    (".xz", lzma.compress),
    (".zst", zstandard.ZstdCompressor().compress),
]


@pytest.mark.parametrize(("suffix", "pack"), PACKERS)
def test_68_compressed_files_give_equal_events(
    sqlite_store: Any, tmp_path: Path, line: Line, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    text = "".join(line(f"message {word}", seconds=n) for n, word in enumerate(["alpha", "beta", "gamma"])) + TRACE
    plain, packed = tmp_path / "app.log", tmp_path / "elsewhere" / f"app.log{suffix}"
    packed.parent.mkdir()
    plain.write_text(text)
    packed.write_bytes(pack(text.encode()))
    assert (sqlite_store.read(plain).events, sqlite_store.read(packed).events) == (3, 3)
    places: dict[int, list[Any]] = {}
    for row in sqlite_store.rows(tables.occurrences):
        places.setdefault(row.source_id, []).append((row.byte_start, row.byte_end, row.issue_id, row.occurred_at))
    of_plain, of_packed = places.values()
    assert of_plain == of_packed
    assert sqlite_store.source(packed).offset == len(text.encode())
    assert sqlite_store.read(packed).state == "unchanged"
    assert not [row for row in sqlite_store.rows(tables.occurrences) if row.provisional and row.source_id == 2]


def test_a_damaged_archive_keeps_what_could_be_read(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    packed = tmp_path / "app.log.gz"
    whole = gzip.compress("".join(line(f"message {n % 7}", seconds=n) for n in range(40_000)).encode(), 1)
    packed.write_bytes(whole[: len(whole) * 3 // 4])
    os.utime(packed, (1_700_000_000, 1_700_000_000))  # younger, it would be taken for one that is being written
    result = sqlite_store.read(packed)
    told = f"stopped at byte {len(whole) * 3 // 4} of app.log.gz: the data ends too early; {result.events} lines before"
    assert result.error == f"{told} it are stored"
    assert 0 < result.events < 40_000
    assert sqlite_store.source(packed).status == "error"
    packed.write_bytes(whole)
    rest = sqlite_store.read(packed)
    assert result.events + rest.events == 40_000
    assert sqlite_store.source(packed).status == "ok"


def test_fl16_a_file_that_cannot_be_read_for_a_while(
    store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one"))
    store.read(log)
    append(log, line("two", seconds=1))

    def refuse(path: Path, **_: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(importing, "open_file", refuse)
        failed = store.read(log)
        assert (failed.state, failed.error, failed.events) == ("failed", "Permission denied", 0)
        assert store.source(log).last_error == "Permission denied"
        assert store.source(log).offset == len(line("one"))
    append(log, line("three", seconds=2))
    assert store.read(log).events == 2
    assert (store.source(log).status, store.source(log).last_error) == ("ok", None)


def test_fl17_a_file_that_vanished_is_no_failure_of_others(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    assert sqlite_store.read(tmp_path / "gone.log").gone
    assert sqlite_store.count(log_tables.sources) == 0
    log = tmp_path / "app.log"
    log.write_text(line("one"))
    sqlite_store.read(log)
    log.unlink()
    assert sqlite_store.read(log).gone
    assert sqlite_store.source(log).status == "missing"


def test_an_empty_file_is_known_and_read_when_it_fills(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.touch()
    assert sqlite_store.read(log).state == "read"
    assert sqlite_store.read(log).state == "unchanged"
    log.write_text(line("one"))
    result = sqlite_store.read(log)
    assert (result.events, result.log_type) == (1, "monolog")
    assert sqlite_store.count(log_tables.sources) == 1


def test_severities_filter_and_the_checkpoint_passes(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("kept") + line("noise", "INFO") * 7)
    result = sqlite_store.read(log)
    assert (result.events, result.filtered) == (1, 7)
    assert sqlite_store.source(log).offset == log.stat().st_size
    append(log, line("noise", "INFO"))
    assert sqlite_store.read(log).filtered == 1


def test_67_access_lines_become_issues_by_status(sqlite_store: Any, tmp_path: Path) -> None:
    stamp = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime())
    log = tmp_path / "access.log"
    log.write_text(
        "".join(f'192.0.2.1 - - [{stamp}] "GET /orders HTTP/1.1" {status} 5 "-" "x"\n' for status in (200, 404, 500))
    )
    result = sqlite_store.read(log)
    assert (result.events, result.access_lines, result.filtered) == (1, 3, 0)
    assert [row.severity for row in sqlite_store.rows(tables.issues)] == ["ERROR"]


def test_batches_of_a_thousand_move_with_the_checkpoint(
    sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events and checkpoint in one transaction of at most 1,000 events; a stop in between loses nothing."""
    log = tmp_path / "app.log"
    log.write_text("".join(line(f"kind {n % 5}", seconds=n) for n in range(2_500)))
    stored: list[int] = []
    real = file_import.store_events

    def failing(call: Any, source: EventSource, events: Any, **options: Any) -> Any:
        if len(stored) == 2:
            raise RuntimeError("stopped")
        stored.append(len(events))
        return real(call, source, events, **options)

    with monkeypatch.context() as patch:
        patch.setattr(file_import, "store_events", failing)
        assert sqlite_store.read(log).error.startswith("RuntimeError: ")
    assert stored == [1_000, 1_000]
    last = sqlite_store.rows(tables.occurrences)[-1]
    assert sqlite_store.source(log).offset == last.byte_end
    assert sqlite_store.read(log).events == 500
    assert sqlite_store.count(tables.occurrences) == 2_500
    sqlite_store.check_counters()


def test_two_readers_at_once_never_count_twice(
    store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one"))
    store.read(log)
    append(log, line("two", seconds=1))
    real = file_import.queries.move_checkpoint

    def overtaken(*args: Any) -> bool:
        monkeypatch.setattr(file_import.queries, "move_checkpoint", real)
        return False

    monkeypatch.setattr(file_import.queries, "move_checkpoint", overtaken)
    assert store.read(log).error == "is being read by another import"
    assert store.count(tables.occurrences) == 1
    assert store.read(log).events == 1
    store.check_counters()


def test_lines_read_gets_every_entry_once_before_filters(
    sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    plugins = sqlite_store.service.plugins
    real = plugins.emit

    def emit(hook: Any, call: Any, batch: Any, *rest: Any, **options: Any) -> Any:
        if hook is hookspecs.lines_read:
            assert isinstance(batch, LineBatch)
            assert call.connection is not None
            seen.extend(event.message for event in batch.events)
        return real(hook, call, batch, *rest, **options)

    monkeypatch.setattr(plugins, "emit", emit)
    log = tmp_path / "app.log"
    log.write_text(line("one") + line("noise", "INFO", 1))
    sqlite_store.read(log)
    append(log, line("two", seconds=2))
    sqlite_store.read(log)
    sqlite_store.read(log)
    assert seen == ["one", "noise", "two"]


def test_a_parser_that_raises_fails_its_file_only(
    sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "app.log"
    log.write_text(line("one"))

    def broken(*_: Any) -> Any:
        raise KeyError("oops")

    monkeypatch.setattr(Reader, "feed", broken)
    assert sqlite_store.read(log).error == "cannot be parsed (KeyError)"
    assert sqlite_store.source(log).last_error == "cannot be parsed (KeyError)"


class Broken(Parser):
    """A parser of a third party for lines that begin with a section sign."""

    log_type = "broken"

    def __init__(self, raises: str) -> None:
        self.raises = raises

    def fresh(self) -> "Broken":
        return self

    def header(self, line: str) -> str | None:
        if self.raises == "header":
            raise KeyError("oops")
        return line if line.startswith("§") else None

    foreign = header

    def event(self, header: str, lines: Sequence[str], clock: Any) -> Any:
        return lines[5]


@pytest.mark.parametrize("raises", ["header", "event"])
def test_a_parser_that_raises_at_the_first_look_fails_its_files_only(
    raises: str, sqlite_store: Any, tmp_path: Path, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it raises for a file's head is told as the file's failure; other formats are read as ever."""
    monkeypatch.setattr(parsing, "parsers_of", lambda *_: (Broken(raises), *BUILT_IN))
    (tmp_path / "other.log").write_text("§ one\n§ two\n")
    (tmp_path / "app.log").write_text(line("one"))
    assert sqlite_store.read(tmp_path / "app.log").error is None
    failed = sqlite_store.read(tmp_path / "other.log").error
    assert failed == ("cannot be parsed (IndexError)" if raises == "event" else None)


def test_an_older_archive_changes_no_sample(sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    """The same, through files."""
    new, old = tmp_path / "new.log", tmp_path / "old.log"
    new.write_text(line("Order 1 failed", seconds=100))
    old.write_text(line("Order 2 failed", seconds=1))
    sqlite_store.read(new)
    before = sqlite_store.rows(tables.issues)[0]
    sqlite_store.read(old)
    (after,) = sqlite_store.rows(tables.issues)
    assert (after.title, after.last_seen, after.count) == (before.title, before.last_seen, 2)
    assert after.first_seen < before.first_seen


def test_the_zone_of_a_reading_counts_for_times_without_offset(sqlite_store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("[2024-05-01 10:00:00] production.ERROR: zone\n")
    sqlite_store.read(log, zone="Asia/Shanghai")
    assert sqlite_store.rows(tables.occurrences)[0].occurred_at == "2024-05-01 02:00:00"
    assert sqlite_store.source(log).timezone == "Asia/Shanghai"


def test_equal_paths_of_two_nodes_are_two_sources(
    database_config: dict[str, str], tmp_path: Path, line: Line, make_store: Callable[[Any], Any]
) -> None:
    """On a server database every machine has its own files; a SQLite file belongs to one machine."""
    log = tmp_path / "app.log"
    log.write_text(line("one"))
    events = []
    for node in ("web-1", "web-2", "web-1"):
        with running_service(tmp_path / "data", jobs=False, server__node=node, **database_config) as service:
            store = make_store(service)
            events.append(store.read(log).events)
            sources = store.rows(log_tables.sources)
    if database_config:
        assert events == [1, 1, 0]
        assert [(row.node, row.generation) for row in sources] == [("web-1", 1), ("web-2", 2)]
    else:
        assert events == [1, 0, 0]
    assert len({row.path_hash for row in sources}) == 1


@pytest.mark.parametrize("age", [0, 2**31, 2**34, 253_402_300_799, 2**40, -(2**36)])
def test_files_and_lines_of_the_first_and_the_last_year(store: Any, tmp_path: Path, line: Line, age: int) -> None:
    """Neither the stamps of lines nor that of the file end the import of what stands around them."""
    log = tmp_path / "app.log"
    stamps = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "9999-12-31 23:59:59", "0000-00-00 00:00:00"]
    odd = [f"[{stamp}] app.ERROR: Odd clock {{}} []\n" for stamp in stamps]
    syslog = "Jan  1 00:00:00 host app[1]: error: Disk full\nDec 31 23:59:59 host app[1]: error: Disk full\n"
    log.write_text(line("first") + "".join(odd) + syslog + line("last", seconds=1))
    os.utime(log, (age, age))
    result = store.read(log)
    assert (result.state, result.error) == ("read", None)
    rows = store.rows(tables.occurrences)
    assert len(rows) == result.events >= 6
    assert all("1970" <= row.occurred_at <= times.add(times.now(), days=1) or row.time_source == "file" for row in rows)
