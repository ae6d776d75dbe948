"""What is written in pieces is read as if it had come at once, however long the pieces are apart."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.read.files import OpenFile

Line = Callable[..., str]

MONOLOG = """\
[2026-01-02T03:04:05+00:00] app.ERROR: first whole entry {"n":1} []
[2026-01-02T03:04:06+00:00] app.CRITICAL: Payment failed
#0 /srv/app/Order.php(12): charge()
#1 {main}
[2026-01-02T03:04:07+00:00] queue.INFO: noise [] []
[2026-01-02T03:04:08+00:00] app.ERROR: inventory is empty [] []
"""
PYTHON = """\
2026-01-02 03:04:05,123 ERROR shop.orders: cannot be paid
Traceback (most recent call last):
  File "/srv/app/orders.py", line 4, in charge
    pay()
GatewayTimeout: no answer

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/orders.py", line 9, in retry
    pay()
KeyError: 'card'
2026-01-02 03:04:06,000 INFO shop.orders: done
2026-01-02 03:04:07,000 WARNING shop.mail: slow
"""
JAVA = """\
2026-01-02 03:04:05 ERROR [main] Cart - cannot load
java.lang.IllegalStateException: broken
\tat shop.Cart.load(Cart.java:12)
\tat shop.Main.main(Main.java:3)
Caused by: java.io.IOException: no such host
\tat shop.Net.open(Net.java:7)
\t... 2 more
2026-01-02 03:04:06 ERROR [main] Cart - next
"""
PLAIN = """\
2026-01-02 03:04:05 worker started
Error: listen EADDRINUSE
    at Server.listen (net.js:1)
    at main (app.js:2)
Warning: old option
plain words that say nothing
panic: runtime error: index out of range

goroutine 1 [running]:
main.main()
\t/srv/main.go:8 +0x1d
exit status 2
"""
JSON = """\
{"timestamp":"2026-01-02T03:04:05Z","level":"error","message":"mail lost"}
{"timestamp":"2026-01-02T03:04:06Z","level":"info","message":"fine"}
{"timestamp":"2026-01-02T03:04:07Z","level":"error","message":"mail lost again"}{"level":"error","message":"glued"}
"""
CONTAINER = """\
2026-01-02T03:04:05.1Z stderr P ERROR first,
2026-01-02T03:04:05.2Z stdout F ERROR between
2026-01-02T03:04:05.3Z stderr F half
2026-01-02T03:04:06.1Z stdout F ERROR last
"""
LOGS = {"monolog": MONOLOG, "python": PYTHON, "java": JAVA, "plain": PLAIN, "json": JSON, "container": CONTAINER}


def put(path: Path, data: bytes) -> None:
    """Write behind what is there, a minute ago: the file is quiet."""
    with path.open("ab") as stream:
        stream.write(data)
    long_ago = time.time() - 60
    os.utime(path, (long_ago, long_ago))


class Compared:
    """Reads a log at once and in pieces, each in a folder of its own."""

    def __init__(self, store: Any, folder: Path) -> None:
        self.store, self.folder, self.number = store, folder, 0

    def read(self, text: bytes, cuts: list[int]) -> tuple[list[Any], set[int]]:
        """Return what is stored of a file that grew in pieces, and the issues that are there."""
        self.number += 1
        path = self.folder / f"{self.number}" / "app.log"
        path.parent.mkdir()
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            put(path, text[start:end])
            result = self.store.read(path)
            assert result.error is None
        with self.store.service.call().transaction(write=False) as db:
            source = db.execute(
                select(log_tables.sources).where(log_tables.sources.c.path == str(path.resolve()))
            ).one()
            of_source = tables.occurrences.c.source_id == source.id
            found = db.execute(select(tables.occurrences).where(of_source)).all()
            issues = set(db.execute(select(tables.issues.c.id)).scalars())
        assert source.occurrence_count == len(found)
        assert not any(row.provisional for row in found) or not text.endswith(b"\n")
        shown = [(row.byte_start, row.byte_end, row.issue_id, row.severity, row.time_source) for row in found]
        return sorted(shown), issues


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_in_two_pieces_is_the_same_log(sqlite_store: Any, tmp_path: Path, kind: str) -> None:
    """At a fifth of all bytes; the next test picks others."""
    compared, text = Compared(sqlite_store, tmp_path), LOGS[kind].encode()
    whole = compared.read(text, [])
    wrong = [cut for cut in range(1, len(text), 5) if compared.read(text, [cut]) != whole]
    assert not wrong, [text[:cut][-30:] for cut in wrong]
    sqlite_store.check_counters()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("kind", ["java", "json"])
def test_a_wide_log_is_cut_between_any_two_bytes(sqlite_store: Any, tmp_path: Path, kind: str, encoding: str) -> None:
    """The mark, the first character and both halves of a line end among them."""
    compared = Compared(sqlite_store, tmp_path)
    text = f"\ufeff{LOGS[kind]}".encode(encoding)
    whole = compared.read(text, [])
    end = text.index("\n".encode(encoding))
    wrong = [cut for cut in [*range(1, 9), *range(end - 3, end + 5)] if compared.read(text, [cut]) != whole]
    assert not wrong


@given(kind=st.sampled_from(sorted(LOGS)), places=st.sets(st.floats(0, 1), min_size=2, max_size=6), wide=st.booleans())
@settings(max_examples=60)
def test_a_log_in_many_pieces_is_the_same_log(
    sqlite_store: Any, tmp_path_factory: pytest.TempPathFactory, kind: str, places: set[float], wide: bool
) -> None:
    compared = Compared(sqlite_store, tmp_path_factory.mktemp("pieces"))
    text = LOGS[kind].encode("utf-16") if wide else LOGS[kind].encode()
    whole = compared.read(text, [])
    cuts = sorted({int(place * (len(text) - 1)) for place in places} - {0})
    assert compared.read(text, cuts) == whole


@pytest.mark.parametrize("banner", ["Shop server 1.2\nError: port 80 is taken\nlistening on 81\n", "one\ntwo\n"])
def test_a_log_whose_first_lines_are_of_no_format_is_of_the_format_of_the_others(
    sqlite_store: Any, tmp_path: Path, banner: str
) -> None:
    """A program says some words before it logs: they were read when nothing else was there."""
    path = tmp_path / "app.log"
    put(path, banner.encode())
    sqlite_store.read(path)
    put(path, MONOLOG.encode())
    sqlite_store.read(path)
    issues = [row for row in sqlite_store.rows(tables.issues) if "inventory" in row.title]
    assert [(row.title, row.log_type) for row in issues] == [("inventory is empty", "monolog")]
    assert sqlite_store.source(path).log_type == "monolog"


def test_what_comes_while_the_head_is_looked_at_is_of_the_format_of_the_whole(
    sqlite_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "app.log"
    text = MONOLOG.encode()
    path.write_bytes(text[:12])
    head, rest = OpenFile.head, [text[12:]]

    def slow(file: OpenFile, size: int) -> bytes:
        found = head(file, size)
        if rest:
            put(path, rest.pop())
        return found

    monkeypatch.setattr(OpenFile, "head", slow)
    sqlite_store.read(path)
    sqlite_store.read(path)
    assert not rest
    assert {row.log_type for row in sqlite_store.rows(tables.issues)} == {"monolog"}
    assert [row.byte_start for row in sqlite_store.rows(tables.occurrences)] == [
        text.index(line) for line in (b"[2026-01-02T03:04:05", b"[2026-01-02T03:04:06", b"[2026-01-02T03:04:08")
    ]
