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
from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import Client

CORPUS = Path(__file__).parents[2] / "data" / "reading" / "tune"
FILES = sorted(path.name for path in CORPUS.glob("*.log"))
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


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("pieces", [3, 10])
def test_a_file_in_many_pieces_is_the_same_file(growing: Growing, name: str, pieces: int) -> None:
    text = (CORPUS / name).read_bytes()
    assert growing.read(text, cuts_of(text, pieces)) == growing.read(text)
