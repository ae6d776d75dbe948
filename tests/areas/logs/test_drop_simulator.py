"""Nothing lost, nothing counted twice: programs write into the drop folder while it is read and archived at random.

Every file is archived at once here, since it is quiet at once and nobody tells that it is open. So most of what is
written comes behind the archiving. A schedule is what one seed makes of it; a failure names the seed.
"""

import os
import shutil
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel import times
from snaglist.kernel.service import Service
from snaglist.plugins.issues import tables
from snaglist.plugins.logs.collect import drop_folder, finished
from snaglist.plugins.system import JobCall
from snaglist.testing import running_service

pytestmark = pytest.mark.whole

_START = 1_700_000_000


class Writers:
    """Programs with a file each that they keep open; `numbers` is how many lines were written."""

    def __init__(self, folder: Path, chance: Random) -> None:
        self.folder, self.chance = folder, chance
        self.numbers = self.files = 0
        self.open: list[int] = []
        self.rest: dict[int, bytes] = {}  # of a line that was begun

    def step(self) -> None:
        """Begin a file, write a piece, or close one."""
        act = self.chance.choices([self.begin, self.write, self.end], [1, 6, 1])[0]
        act()

    def begin(self) -> None:
        name = self.chance.choice(("app.log", f"copy-{self.files}.log", "Shop/app.log"))
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        if len(self.open) < 4 and not path.exists():
            self.open.append(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
            self.files += 1

    def write(self) -> None:
        """Write what is left of a line and some more, to anywhere within the last one."""
        if self.open:
            handle = self.chance.choice(self.open)
            text = self.rest.pop(handle, b"") + b"".join(self._line() for _ in range(self.chance.randrange(1, 9)))
            cut = self.chance.randrange(len(text)) if self.chance.random() < 0.7 else len(text)
            os.write(handle, text[:cut])
            if cut < len(text):
                self.rest[handle] = text[cut:]

    def end(self) -> None:
        if self.open:
            handle = self.open.pop(self.chance.randrange(len(self.open)))
            os.write(handle, self.rest.pop(handle, b""))
            os.close(handle)

    def _line(self) -> bytes:
        number = self.numbers
        self.numbers += 1
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(_START + number))
        trace = "#0 /srv/app/Order.php(12): charge()\n#1 {main}\n" if self.chance.random() < 0.2 else ""
        filling = "x" * self.chance.choice((0, 3, 900))
        return f"[{stamp}] production.ERROR: line {filling} failed\n{trace}".encode()


def read(service: Service, chance: Random) -> None:
    """Run the job, as the schedule does; now and then it dies between reading and moving a file."""
    call = JobCall(service, service.applications.all()[0])
    run = drop_folder.Incoming(call)
    with pytest.MonkeyPatch.context() as patch:
        if chance.random() < 0.3:
            moved = shutil.move

            def move(*places: Any) -> None:
                if chance.random() < 0.3:
                    raise SystemExit
                moved(*places)

            patch.setattr(shutil, "move", move)
        try:
            run.read_dropped()
            run.read_grown()
        except SystemExit:
            pass
    assert run.run.errors == []


def is_due(service: Service) -> bool:
    call = service.call(actor=None)
    with call.transaction(write=False):
        return drop_folder.due(call) is not None


def check(service: Service, writers: Writers, make_store: Any) -> None:
    """Every line is one event, and its trace is a part of it."""
    columns = (tables.occurrences.c.occurred_at, tables.occurrences.c.time_source)
    with service.call().transaction(write=False) as db:
        stored = db.execute(select(*columns)).all()
    assert all(source == "event" for _, source in stored)
    numbers = Counter(int(times.read(at).timestamp()) - _START for at, _ in stored)
    assert not [number for number, count in numbers.items() if count > 1]
    assert not set(range(writers.numbers)) - numbers.keys()
    assert len(numbers) == writers.numbers
    make_store(service).check_counters()


@pytest.mark.parametrize(
    ("first", "schedules"), [(0, 4), pytest.param(1_000, 120, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_every_line_is_stored_once(
    first: int, schedules: int, tmp_path: Path, make_store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finished, "is_written", lambda path: False)
    monkeypatch.setattr(JobCall, "check_cancelled", lambda self: None)
    monkeypatch.setattr(JobCall, "progress", lambda *given: None)
    written = archived = 0
    for seed in range(first, first + schedules):
        chance = Random(seed)
        with running_service(tmp_path / f"data-{seed}", jobs=False, ingestion__quiet_seconds=0) as service:
            writers = Writers(service.applications.all()[0].logs, chance)
            for _ in range(60):
                writers.step()
                if chance.random() < 0.3:
                    read(service, chance)
            while writers.open:
                writers.end()
            for _ in range(20):  # a run that dies is followed by another one
                if not is_due(service):
                    break
                read(service, chance)
            assert not is_due(service), seed
            try:
                check(service, writers, make_store)
                written += writers.numbers
                archived += sum(path.is_file() for path in service.applications.all()[0].processed.rglob("*"))
            except AssertionError as error:
                raise AssertionError(f"schedule {seed}: {error}") from error
    print(f"{schedules} schedules: {written} lines in {archived} files")
    assert written > 20 * schedules < 20 * archived
