"""A file gives the same entries whether it was read whole or while it grew: what little told is put right by more."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from snaglist.plugins.issues import tables
from snaglist.plugins.issues.hookspecs import events_stored
from snaglist.plugins.logs import hookspecs
from snaglist.testing import Client

CORPUS = Path(__file__).parents[2] / "data" / "reading" / "tune"
FILES = sorted(path.name for path in CORPUS.glob("*.log"))
CONFIRMATION = "DELETE LOGS"
ALL = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG"]


def put(path: Path, data: bytes) -> None:
    """Write behind what is there, a minute ago: the file is quiet."""
    with path.open("ab") as stream:
        stream.write(data)
    long_ago = time.time() - 60
    os.utime(path, (long_ago, long_ago))


class Growing:
    """Reads files whole and in pieces, each in a folder of its own; every entry is kept."""

    def __init__(self, store: Any, folder: Path) -> None:
        self.store, self.folder, self.number = store, folder, 0
        Client(store.service).patch(
            "ingestion-settings", {"severities": ALL, "unlevelled": "all", "access_issue_min_status": 100}
        )

    def read(self, text: bytes, cuts: Sequence[int] = ()) -> list[tuple[Any, ...]]:
        """Return what is stored of a file that grew in pieces."""
        self.number += 1
        path = self.folder / f"{self.number}" / "app.log"
        path.parent.mkdir()
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            put(path, text[start:end])
            assert self.store.read(path).error is None
        return self.stored(path)

    def stored(self, path: Path) -> list[tuple[Any, ...]]:
        """Return the entries: bytes, severity, time if it is their own, what they are grouped by."""
        source = self.store.source(path)
        one, grouping, issue = tables.occurrences.c, tables.groupings.c, tables.issues.c
        columns = (one.byte_start, one.byte_end, one.severity, one.level_source, one.time_source, one.occurred_at)
        wanted = select(*columns, grouping.fingerprint, issue.title, issue.log_type).where(
            one.source_id == source.id, grouping.id == one.grouping_id, issue.id == one.issue_id
        )
        with self.store.service.call().transaction(write=False) as db:
            found = db.execute(wanted.order_by(one.byte_start)).all()
        assert source.occurrence_count == len(found)
        assert source.reading["entries"] == len(found)
        return [(*row[:5], row[5] if row[4] == "event" else "", *row[6:]) for row in found]

    def counted(self) -> dict[Any, int]:
        """Return the events of each issue and channel."""
        facets = [row for row in self.store.rows(tables.issue_facets) if row.facet == "channel"]
        issues = {row.id: row.count for row in self.store.rows(tables.issues)}
        return issues | {(row.issue_id, row.value): row.count for row in facets}


@pytest.fixture
def growing(sqlite_store: Any, tmp_path: Path) -> Iterator[Growing]:
    """Give what reads files, and look at all counters in the end."""
    yield Growing(sqlite_store, tmp_path)
    sqlite_store.check_counters()


def cuts_of(text: bytes, pieces: int) -> list[int]:
    """Return the places between pieces of about the same size, within lines."""
    return [len(text) * number // pieces for number in range(1, pieces)]


@pytest.mark.parametrize("name", FILES)
def test_a_file_in_two_pieces_is_the_same_file(growing: Growing, name: str) -> None:
    text = (CORPUS / name).read_bytes()
    whole = growing.read(text)
    assert growing.read(text, cuts_of(text, 2)) == whole
    first_line = text.index(b"\n") + 1
    assert growing.read(text, [first_line]) == whole


@pytest.mark.parametrize("begun", [b"  ", b"\t"])
def test_blanks_that_begin_a_line_wait_for_the_rest_of_it(growing: Growing, begun: bytes) -> None:
    text = begun + b"Compiling till-parser\n" + begun + b"Compiling till\n"
    assert growing.read(text, [len(begun)]) == growing.read(text)
    assert growing.read(text, [len(text) // 2 + len(begun) + 1]) == growing.read(text)


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("pieces", [3, 10])
def test_a_file_in_many_pieces_is_the_same_file(growing: Growing, name: str, pieces: int) -> None:
    text = (CORPUS / name).read_bytes()
    assert growing.read(text, cuts_of(text, pieces)) == growing.read(text)


@given(name=st.sampled_from(FILES), places=st.sets(st.floats(0, 1), min_size=1, max_size=6))
@settings(max_examples=40)
def test_a_file_cut_anywhere_is_the_same_file(
    sqlite_store: Any, tmp_path_factory: pytest.TempPathFactory, name: str, places: set[float]
) -> None:
    growing = Growing(sqlite_store, tmp_path_factory.mktemp("pieces"))
    text = (CORPUS / name).read_bytes()
    cuts = sorted({int(place * (len(text) - 1)) for place in places} - {0})
    assert growing.read(text, cuts) == growing.read(text)


def pods(numbers: range, names: Sequence[str] = ("db-1", "web-1")) -> bytes:
    """Return lines that a name stands in front of: that it does shows when there are two names."""
    lines = (
        f"{name}  | 2026-01-02 03:{number:02}:05 ERROR lost {'abcdefghij'[number % 10] * 5}\n"
        for number in numbers
        for name in names
    )
    return "".join(lines).encode()


# While half of the lines begin otherwise a name in front is a part of the text.
ATTACHING = b"Attaching to db-1, web-1\nnetwork shop was made\nvolume shop was made\n" + pods(range(3), ["db-1"])
BANNER = b"Error: no settings were found\nwarming up\n"
# A line of a table begins with a date too, and by itself it is an entry.
ROW = b"2026-01-02 03:04:05 pen\n"


@pytest.mark.servers
@pytest.mark.parametrize("first", [pods(range(1), ["db-1"]), ROW + ROW, BANNER + ROW], ids=["pod", "rows", "banner"])
@pytest.mark.parametrize("rest", [pods(range(9)), b"2026-01-02 03:04:06.120 [main] ERROR a.B - late\n" * 9])
def test_what_was_read_first_is_as_if_it_was_read_with_the_rest(
    store: Any, tmp_path: Path, first: bytes, rest: bytes
) -> None:
    growing = Growing(store, tmp_path)
    whole = growing.read(first + rest)
    once = growing.counted()
    assert growing.read(first + rest, [len(first)]) == whole
    assert growing.counted() == {what: 2 * count for what, count in once.items()}
    store.check_counters()


class Heard:
    """What hooks were called with while a store reads."""

    def __init__(self, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: list[tuple[bool, bool, list[int]]] = []
        self.told: list[bool] = []
        plugins = store.service.plugins
        real = plugins.emit

        def emit(hook: Any, call: Any, batch: Any, *rest: Any, **options: Any) -> Any:
            if hook is hookspecs.lines_read:
                self.lines.append((batch.reread, batch.first, [event.byte_start for event in batch.events]))
            elif hook is events_stored:
                self.told.append(batch.reread)
            return real(hook, call, batch, *rest, **options)

        monkeypatch.setattr(plugins, "emit", emit)


@pytest.mark.servers
def test_reading_again_is_told_as_a_reindex_is_and_nobody_is_alerted_twice(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Heard(store, monkeypatch)
    log = tmp_path / "app.log"
    put(log, ATTACHING)
    store.read(log)
    before = store.rows(tables.occurrences)
    assert len(before) == 3
    assert [one[:2] for one in heard.lines] == [(False, False)]
    heard.lines.clear()
    heard.told.clear()
    put(log, pods(range(3, 40)))
    result = store.read(log)
    again, new = heard.lines
    assert (again[:2], new[:2]) == ((True, True), (False, False))
    assert max(again[2]) < len(ATTACHING) <= min(new[2])
    assert heard.told == [True, False]
    assert (result.state, result.events) == ("read", 74)
    after = store.rows(tables.occurrences)
    assert len(after) == 77
    assert [(row.id, row.byte_start) for row in after[:3]] == [(row.id, row.byte_start) for row in before]
    channels = {row.value: row.count for row in store.rows(tables.issue_facets) if row.facet == "channel"}
    assert set(channels) == {"db-1", "web-1"}
    store.check_counters()


@pytest.mark.servers
def test_what_was_deleted_stays_away_however_it_is_read(store: Any, tmp_path: Path) -> None:
    client = Client(store.service)
    log = tmp_path / "app.log"
    put(log, ATTACHING)
    store.read(log)
    assert store.count(tables.occurrences) == 3
    assert client.post("delete-logs", {"source_id": 1, "confirmation": CONFIRMATION}, wait="1").status == 200
    assert store.count(tables.occurrences) == 0
    put(log, pods(range(3, 40)))
    store.read(log)
    assert store.count(tables.occurrences) == 74


def test_a_file_that_says_the_same_is_not_read_again(
    sqlite_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Heard(sqlite_store, monkeypatch)
    log = tmp_path / "app.log"
    for number in range(5):
        put(log, b"2026-01-02 03:04:05 ERROR one %d\n" % number)
        sqlite_store.read(log)
    assert [(reread, len(places)) for reread, _, places in heard.lines] == [(False, 1)] * 5


def test_behind_the_head_nothing_is_read_again(
    sqlite_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Heard(sqlite_store, monkeypatch)
    log = tmp_path / "app.log"
    put(log, b"the printer is warm and what it says has no time\n" * 1400)
    sqlite_store.read(log)
    put(log, pods(range(20)))
    sqlite_store.read(log)
    assert not any(reread for reread, _, _ in heard.lines)
