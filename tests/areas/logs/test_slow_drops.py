"""Files that are copied into `logs` slowly, or written there: read as they come, archived when at rest."""

import gzip
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.collect import drop_folder, finished
from snaglist.plugins.logs.collect.drop_folder import due
from snaglist.plugins.logs.collect.finished import GROWS, WRITTEN
from snaglist.testing import Client

Line = Callable[..., str]
leases = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")


class Folder:
    """The folder `logs`, and what came of what is in it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.application = client.service.applications.all()[0]

    def write(self, name: str, content: str | bytes) -> Path:
        """Append to a file now."""
        path = self.application.logs / name
        with path.open("ab") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        return path

    def rest(self, path: Path) -> None:
        """Let a minute pass for a file."""
        at = time.time() - 60
        os.utime(path, (at, at))

    def run(self) -> dict[str, Any]:
        answer = self.client.post("import-incoming", wait="1")
        assert answer.status == 200, answer.text
        body: dict[str, Any] = answer.json
        return body

    @property
    def due(self) -> bool:
        """Whether the schedule would queue a run now."""
        call = self.client.service.call(actor=None)
        with call.transaction(write=False):
            return due(call) is not None

    @property
    def archived(self) -> list[str]:
        return sorted(path.name for path in self.application.processed.rglob("*") if path.is_file())

    @property
    def titles(self) -> dict[str, int]:
        found = self.client.get("errors", limit=200).json["data"]
        return {issue["title"]: issue["count"] for issue in found}

    @property
    def texts(self) -> list[str]:
        """The stored events, as their files have them."""
        ids = sorted(row.id for row in self.rows(tables.occurrences))
        return sorted(self.client.get("source", occurrence=one).json["content"] for one in ids)

    def rows(self, table: Any) -> list[Any]:
        with self.client.service.call().transaction(write=False) as db:
            return list(db.execute(select(table)).all())


@pytest.fixture
def folder(client: Client) -> Folder:
    return Folder(client)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody tells who has a file open, as on other systems and file systems."""
    monkeypatch.setattr(finished, "is_written", lambda path: False)


@contextmanager
def writing(path: Path) -> Iterator[Any]:
    """Have a file open for writing, as a program has its log."""
    with path.open("ab", buffering=0) as stream:
        yield stream


WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]


@pytest.mark.parametrize("cut", ["time", "level", "message", "before the line feed", "line end"])
def test_a_copy_that_is_seen_half_made(folder: Folder, line: Line, cut: str) -> None:
    """Six entries; the first piece ends within the fourth."""
    lines = [line(f"payment of {word} failed", seconds=number) for number, word in enumerate(WORDS)]
    fourth = lines[3]
    within = {
        "time": 12, "level": fourth.index("ERR") + 3, "message": fourth.index(" of") + 3,
        "before the line feed": len(fourth) - 1, "line end": len(fourth),
    }[cut]  # fmt: skip
    first = "".join(lines[:3]) + fourth[:within]
    path = folder.write("copied.log", first)
    seen = folder.run()
    assert (seen["processed"], seen["waiting"]) == (0, 1)
    assert seen["waiting_files"] == [{"file": "copied.log", "reason": GROWS}]
    assert {*lines[:2]} <= {*folder.texts}
    folder.write("copied.log", "".join(lines)[len(first) :])
    assert folder.due
    assert folder.run()["waiting"] == 1
    assert folder.texts == sorted(lines)
    assert not folder.due  # nothing to read, and it may grow
    folder.rest(path)
    assert folder.due
    last = folder.run()
    assert (last["processed"], last["waiting"], last["waiting_files"], last["events"]) == (1, 0, [], 0)
    assert folder.archived == ["copied.log"] and not path.exists()
    assert folder.texts == sorted(lines)
    assert sum(folder.titles.values()) == len(lines)
    assert not any(row.provisional for row in folder.rows(tables.occurrences))
    assert not folder.due


def test_a_slow_copy_in_many_pieces(folder: Folder, line: Line) -> None:
    lines = [line(f"entry {'abcdefghij'[number % 10] * 3} failed", seconds=number) for number in range(60)]
    text = "".join(lines)
    path = folder.application.logs / "slow.log"
    for start in range(0, len(text), 301):
        folder.write("slow.log", text[start : start + 301])
        assert folder.run()["waiting"] == 1
    folder.rest(path)
    assert folder.run()["processed"] == 1
    assert folder.texts == sorted(lines)
    assert len(folder.rows(log_tables.sources)) == 1


@pytest.mark.servers
@leases
def test_a_file_that_is_open_stays(folder: Folder, line: Line) -> None:
    """However long nothing came: the program goes on writing to what it has open."""
    with writing(folder.application.logs / "app.log") as stream:
        stream.write(line("one").encode())
        folder.rest(folder.application.logs / "app.log")
        assert folder.due  # it was never read
        body = folder.run()
        assert (body["events"], body["processed"]) == (1, 0)
        assert body["waiting_files"] == [{"file": "app.log", "reason": WRITTEN}]
        assert not folder.due
        stream.write(line("two", seconds=1).encode())
        assert folder.due
        assert folder.run()["events"] == 1
    folder.rest(folder.application.logs / "app.log")
    assert folder.run()["processed"] == 1
    assert folder.titles == {"one": 1, "two": 1}


@pytest.mark.usefixtures("blind")
def test_what_is_written_behind_the_archiving_is_read(folder: Folder, line: Line) -> None:
    """The writer kept its file open, and the half line that was archived is ended there."""
    path = folder.write("app.log", line("one"))
    second = line("two of them", seconds=1)
    with writing(path) as stream:
        stream.write(second[:-6].encode())
        folder.rest(path)
        assert folder.run()["processed"] == 1
        assert not folder.due
        stream.write(second[-6:].encode())
        assert folder.due
        assert folder.run()["events"] == 0  # it is the same event
        assert folder.titles == {"one": 1, "two of them": 1}
        stream.write((line("three", seconds=2) * 2).encode())
    assert folder.due
    assert folder.run()["events"] == 2
    assert folder.titles == {"one": 1, "two of them": 1, "three": 2}
    folder.rest(folder.application.processed / "app.log")
    folder.run()
    assert not folder.due
    assert not any(row.provisional for row in folder.rows(tables.occurrences))


@pytest.mark.usefixtures("blind")
def test_only_files_that_were_archived_lately_are_looked_at(
    folder: Folder, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.rest(folder.write("app.log", line("one")))
    folder.run()
    with writing(folder.application.processed / "app.log") as stream:
        stream.write(line("two", seconds=1).encode())
    assert folder.due
    monkeypatch.setattr(drop_folder, "GROWING_HOURS", -1)
    assert not folder.due


def test_a_copy_of_what_was_dropped_before_is_not_counted_while_it_is_made(folder: Folder, line: Line) -> None:
    """Its first bytes are those of the earlier file, so that it may become equal, or longer."""
    text = "".join(line(f"failed {word}", seconds=number) for number, word in enumerate(WORDS))
    folder.rest(folder.write("app.log", text))
    folder.run()
    path = folder.write("app.log", text[: len(text) // 2])
    assert (folder.run()["events"], folder.run()["waiting"]) == (0, 1)
    folder.write("app.log", text[len(text) // 2 :])
    again = folder.run()
    assert (again["events"], again["waiting"], again["duplicates"]) == (0, 1, 0)
    folder.write("app.log", line("failed anew", seconds=9))
    assert folder.run()["events"] == 1
    folder.rest(path)
    assert folder.run()["processed"] == 1
    assert len(folder.rows(tables.occurrences)) == len(WORDS) + 1


def test_a_shorter_copy_that_stays_shorter_is_a_file_of_its_own(folder: Folder, line: Line) -> None:
    text = "".join(line(f"failed {word}", seconds=number) for number, word in enumerate(WORDS))
    folder.rest(folder.write("app.log", text))
    folder.run()
    path = folder.write("app.log", line(f"failed {WORDS[0]}"))
    folder.run()
    folder.rest(path)
    assert folder.due
    body = folder.run()
    assert (body["events"], body["processed"]) == (1, 1)


def test_an_archive_in_the_making_is_no_failure(folder: Folder, line: Line) -> None:
    packed = gzip.compress("".join(line(f"failed {word}") for word in WORDS).encode())
    path = folder.write("app.log.gz", packed[: len(packed) // 2])
    body = folder.run()
    assert (body["errors"], body["waiting"], body["events"]) == ([], 1, 0)
    folder.write("app.log.gz", packed[len(packed) // 2 :])
    assert folder.run()["events"] == len(WORDS)
    folder.rest(path)
    assert folder.run()["processed"] == 1
    assert len(folder.rows(tables.occurrences)) == len(WORDS)


@pytest.mark.servers
def test_an_archive_that_stays_damaged_is_a_failure(folder: Folder, line: Line) -> None:
    path = folder.write("app.log.gz", gzip.compress((line("failed") * 50).encode())[:40])
    assert folder.run()["errors"] == []
    folder.rest(path)
    assert folder.due
    body = folder.run()
    assert ([error["file"] for error in body["errors"]], body["processed"]) == (["app.log.gz"], 0)
    assert path.exists()


@pytest.mark.usefixtures("blind")
def test_a_clock_that_is_ahead_keeps_no_file(folder: Folder, line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system with a clock of its own: what counts then is that nothing changed since it was read."""
    path = folder.write("app.log", line("one"))
    ahead = time.time() + 3_600
    os.utime(path, (ahead, ahead))
    assert folder.run()["waiting"] == 1
    folder.client.service.settings._values["ingestion.quiet_seconds"] = 1
    time.sleep(2.1)
    assert folder.due
    assert folder.run()["processed"] == 1


def test_only_so_many_waiting_files_are_named(folder: Folder, line: Line) -> None:
    for number in range(103):
        path = folder.write(f"{number}.log", line(f"failed {number}"))
        later = time.time() + 3_600  # however long the others take
        os.utime(path, (later, later))
    body = folder.run()
    assert (body["waiting"], len(body["waiting_files"])) == (103, 100)


@leases
def test_who_has_a_file_open(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    path.write_text("x")
    assert not finished.is_written(path)
    with path.open():
        assert not finished.is_written(path)
    with writing(path):
        assert finished.is_written(path)
    assert not finished.is_written(path)
