"""Nothing lost, nothing counted twice: a log that rotates at random while readers of its folder are killed.

A schedule is what one seed makes of the writer and of the kills; a failure names the seed and the steps. Numbers
that are not stored must have been destroyed: their bytes went before a reader that lived could take them.
"""

import gzip
import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel import times
from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import running_service

pytestmark = pytest.mark.whole

KEEP = 9
_START = 1_700_000_000


class Writer:
    """Writes `app.log` in a folder. `numbers` were written, `destroyed` went with bytes that are gone."""

    def __init__(self, folder: Path, chance: Random, note: Callable[[str], None]) -> None:
        self.folder = folder
        self.note = note
        self.chance = chance
        self.numbers: list[int] = []
        self.destroyed: set[int] = set()
        self.steps: list[str] = []
        self._held: dict[str, list[int]] = {"app.log": []}  # numbers by the name of the file that holds them
        self._out = (folder / "app.log").open("ab", buffering=0)
        self._late: tuple[str, int] | None = None  # a renamed file that is still open for writing

    def step(self) -> None:
        """Do one thing."""
        ways: list[tuple[Callable[[], None], int]] = [
            (self.write, 16), (self.rename, 2), (self.copytruncate, 2), (self.compress, 2), (self.reuse, 1),
        ]  # fmt: skip
        act = self.chance.choices([way for way, _ in ways], [weight for _, weight in ways])[0]
        self.steps.append(act.__name__)
        first = len(self.numbers)
        self.note(act.__name__)
        act()
        self.note(f"{act.__name__} done, lines {first} to {len(self.numbers) - 1}; {self._files()}")
        self._wait()

    def close(self) -> None:
        """Close all files."""
        self._end_late()
        self._out.close()

    def write(self) -> None:
        """Append some lines; some come in two pieces, and some go to a file that was renamed meanwhile."""
        for _ in range(self.chance.randrange(1, 12)):
            late = self._late is not None and self.chance.random() < 0.5
            name, handle = self._late if late and self._late else ("app.log", self._out.fileno())
            text = self._line()
            self._held[name].append(self.numbers[-1])
            cut = self.chance.randrange(1, len(text)) if self.chance.random() < 0.2 else len(text)
            os.write(handle, text[:cut])
            if cut < len(text):
                self._wait()
                os.write(handle, text[cut:])
        if self.chance.random() < 0.5:
            self._end_late()

    def rename(self) -> None:
        """Rename the log and begin a new one; the old one may be written on for a while."""
        self._make_room()
        os.rename(self.folder / "app.log", self.folder / "app.log.1")
        self._held["app.log.1"] = self._held.pop("app.log")
        self._late = ("app.log.1", os.dup(self._out.fileno()))
        self._begin()

    def copytruncate(self) -> None:
        """Copy the log in pieces, then empty it; what is written in between is in no file any more."""
        self._make_room()
        content = (self.folder / "app.log").read_bytes()
        with (self.folder / "app.log.1").open("wb", buffering=0) as copy:
            half = self.chance.randrange(len(content) + 1)
            copy.write(content[:half])
            self._wait()
            copy.write(content[half:])
        self._held["app.log.1"] = list(self._held["app.log"])
        self._wait()
        if self.chance.random() < 0.2:
            os.write(self._out.fileno(), self._line())
            self.destroyed.add(self.numbers[-1])
            self._wait()
        self._out.truncate(0)
        self._held["app.log"] = []

    def compress(self) -> None:
        """Compress the newest rotated file beside itself, then remove it."""
        plain = self.folder / "app.log.1"
        if not plain.exists():
            return
        self._end_late()
        content = plain.read_bytes()
        with gzip.open(self.folder / "app.log.1.gz", "wb") as packed:
            packed.write(content[: len(content) // 2])
            packed.flush()
            self._wait()
            packed.write(content[len(content) // 2 :])
        self._wait()
        self._held["app.log.1.gz"] = self._held.pop("app.log.1")
        plain.unlink()

    def reuse(self) -> None:
        """Destroy the log, and begin a new one that has the same inode."""
        self._end_late()
        self.destroyed.update(self._held.pop("app.log"))
        self._out.close()
        with (self.folder / "app.log").open("r+b") as stream:
            stream.truncate(0)
        os.rename(self.folder / "app.log", self.folder / "elsewhere")
        self._wait()
        os.rename(self.folder / "elsewhere", self.folder / "app.log")
        self._begin()

    def shrink(self) -> None:
        """Cut the log down to some of its own first lines, as people do with an editor; the others are gone."""
        held = self._held["app.log"]
        kept = self.chance.randrange(len(held)) if held else 0
        lines = (self.folder / "app.log").read_bytes().splitlines(keepends=True)[:kept]
        self._out.truncate(sum(map(len, lines)))
        self.destroyed.update(held[kept:])
        del held[kept:]
        self.steps.append(f"shrink to {kept}")

    def _files(self) -> str:
        """Tell which file holds what."""
        return ", ".join(
            f"{name} {(self.folder / name).stat().st_ino} [{held[0]}-{held[-1]}]" if held else name
            for name, held in sorted(self._held.items())
        )

    def _begin(self) -> None:
        self._out.close()
        self._out = (self.folder / "app.log").open("ab", buffering=0)
        self._held["app.log"] = []

    def _make_room(self) -> None:
        """Move app.log.N to app.log.N+1, compressed or not; the oldest goes."""
        self._end_late()
        for number in range(KEEP, 0, -1):
            for suffix in ("", ".gz"):
                name = f"app.log.{number}{suffix}"
                path = self.folder / name
                if not path.exists():
                    continue
                held = self._held.pop(name)
                if number == KEEP:
                    path.unlink()
                    self.destroyed.update(held)
                else:
                    after = f"app.log.{number + 1}{suffix}"
                    path.rename(self.folder / after)
                    self._held[after] = held

    def _end_late(self) -> None:
        if self._late:
            os.close(self._late[1])
            self._late = None

    def _line(self) -> bytes:
        number = len(self.numbers)
        self.numbers.append(number)
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(_START + number))
        filling = "x" * self.chance.choice((0, 3, 40, 900))
        return f'[{stamp}] production.ERROR: line {filling} failed {{"number":{number}}}\n'.encode()

    def _wait(self) -> None:
        time.sleep(self.chance.choice((0, 0.001, 0.005, 0.02)))


def play(seed: int, folder: Path, readers: Any, note: Callable[[str], None]) -> Writer:
    """Write, rotate, read and kill; at the end the folder is read to its end."""
    folder.mkdir()
    chance = Random(seed)
    writer = Writer(folder, chance, note)
    try:
        write_and_read(writer, readers)
    finally:
        writer.close()
    for _ in range(2):
        note("READ to the end")
        assert readers.start(str(folder)).code() in (0, 3), seed
    return writer


def write_and_read(writer: Writer, readers: Any) -> None:
    """Write, rotate, read and kill some times."""
    note = writer.note
    for _ in range(writer.chance.randrange(3, 7)):
        for _ in range(writer.chance.randrange(4)):
            writer.step()
        writer.steps.append("READ")
        note("READ")
        reader = readers.start(str(writer.folder))
        ends = time.monotonic() + (writer.chance.random() * 0.25 if writer.chance.random() < 0.7 else 60)
        while not reader.ended and time.monotonic() < ends:
            writer.step()
        reader.kill()
        writer.steps.append("KILLED" if reader.code() < 0 else "DONE")
        note(writer.steps[-1])
        if writer.chance.random() < 0.3:  # and read at once: once it is longer again nothing tells that it was cut
            writer.shrink()
            note(f"{writer.steps[-1]}, READ")
            assert readers.start(str(writer.folder)).code() in (0, 3)


def stored_numbers(db: Any, folder: Path) -> tuple[Counter[int], list[str]]:
    """The numbers of the lines whose events are stored, known by their times, and events without a time.

    Of a line whose end was destroyed before it was read the beginning stays, maybe less than its time.
    """
    occurrences, sources = tables.occurrences.c, log_tables.sources.c
    query = (
        select(occurrences.occurred_at, occurrences.time_source, occurrences.byte_start, sources.path, sources.status)
        .join_from(tables.occurrences, log_tables.sources, sources.id == occurrences.source_id)
        .where(sources.path.startswith(f"{folder}/"))
    )
    numbers: Counter[int] = Counter()
    torn = []
    for row in db.execute(query):
        if row.time_source == "event":
            numbers[int(times.read(row.occurred_at).timestamp()) - _START] += 1
        elif row.status != "missing":
            torn.append(f"{Path(row.path).name} at {row.byte_start}")
    return numbers, torn


def check(writer: Writer, data: Path, make_store: Any) -> int:
    """Every line is stored once or was destroyed, and all counters agree; returns how many were destroyed unread."""
    with running_service(data, jobs=False) as service:
        with service.call().transaction(write=False) as db:
            stored, torn = stored_numbers(db, writer.folder)
        make_store(service).check_counters()
    twice = sorted(number for number, times in stored.items() if times > 1)
    missing = set(writer.numbers) - stored.keys()
    assert not torn, f"half a line is stored: {torn}"
    assert not twice, f"stored more than once: {twice}"
    assert missing <= writer.destroyed, f"lost: {sorted(missing - writer.destroyed)}"
    assert stored.keys() <= set(writer.numbers)
    return len(missing)


@pytest.mark.parametrize(
    ("first", "schedules"), [(0, 10), pytest.param(1_000, 200, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_every_line_is_stored_once_or_was_destroyed(
    first: int,
    schedules: int,
    fresh_data: Path,
    tmp_path: Path,
    reading_process: Any,
    make_store: Any,
    journal: Any,
) -> None:
    # Every file is quiet at once: what stands for a moment is no more finished than what stands for a day.
    readers = reading_process(fresh_data, journal=journal, ingestion__quiet_seconds="0")
    written = lost = 0
    for seed in range(first, first + schedules):
        folder = tmp_path.resolve() / f"host-{seed}"
        try:
            writer = play(seed, folder, readers, journal.note)
            lost += check(writer, fresh_data, make_store)
        except AssertionError as error:
            raise AssertionError(f"schedule {seed}: {error}\n{journal.take()}") from error
        journal.take()
        written += len(writer.numbers)
    killed = readers.killed
    print(f"{schedules} schedules: {written} lines, {lost} destroyed unread, {killed} of {readers.runs} readers killed")
    assert killed > schedules / 2
    assert lost < written / 2
