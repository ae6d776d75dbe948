"""What the tests of the logs area share: log lines, dropped files, and a look at what was stored."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from select import select as select_ready
from typing import Any

import pytest
from sqlalchemy import func, select

from snaglist.kernel.service import Service
from snaglist.plugins.issues import tables
from snaglist.plugins.logs import FileResult, Ingestion, Reading, import_file
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.collect.command import make_reading
from snaglist.plugins.logs.collect.discovery import compile_pattern, discover
from snaglist.plugins.logs.collect.in_place import read_left
from snaglist.plugins.logs.identify.search import in_place


@dataclass
class Store:
    """Reads files into a service the way the command line does, and counts rows."""

    service: Service
    states: list[str] = field(default_factory=list)

    def read(self, path: Path, **options: Any) -> FileResult:
        call = self.service.call()
        with call.transaction():
            settings = Ingestion.load(call)
        reading = Reading(settings.rules, options.pop("zone", "UTC"), **options)
        return import_file(call, path.resolve(), reading, search=in_place(call))

    def scan(self, path: Path, zone: str | None = "UTC") -> int:
        """Read a file or folder and what of it went elsewhere, like the command line; returns the new events."""
        call = self.service.call()
        reading, _ = make_reading(call, None, zone)
        found = discover([path], compile_pattern(""))
        results = [import_file(call, file, reading, search=in_place(call)) for file in found.files]
        left = [source_id for result in results for source_id in result.left]
        results.extend(read_left(call, left, reading))
        self.states = [result.state for result in results]
        return sum(result.events for result in results)

    def rows(self, table: Any) -> list[Any]:
        with self.service.call().transaction(write=False) as db:
            return list(db.execute(select(table).order_by(*table.primary_key.columns)).all())

    def count(self, table: Any) -> int:
        with self.service.call().transaction(write=False) as db:
            return int(db.execute(select(func.count()).select_from(table)).scalar_one())

    def source(self, path: Path) -> Any:
        found = [row for row in self.rows(log_tables.sources) if row.path == str(path.resolve())]
        return max(found, key=lambda row: row.generation)

    def check_counters(self) -> None:
        """All counters agree with the occurrences, as long as none was deleted."""
        with self.service.call().transaction(write=False) as db:
            by_issue = dict(
                db.execute(
                    select(tables.occurrences.c.issue_id, func.count()).group_by(tables.occurrences.c.issue_id)
                ).all()
            )
        issues = self.rows(tables.issues)
        assert {row.id: row.count for row in issues if row.count} == by_issue
        assert {row.id: row.stored_occurrences for row in issues if row.stored_occurrences} == by_issue
        groupings: dict[int, int] = {}
        for row in self.rows(tables.groupings):
            groupings[row.issue_id] = groupings.get(row.issue_id, 0) + row.count
        assert {issue: count for issue, count in groupings.items() if count} == by_issue
        hours: dict[int, int] = {}
        for row in self.rows(tables.event_hours):
            assert row.count > 0
            hours[row.issue_id] = hours.get(row.issue_id, 0) + row.count
        assert hours == by_issue
        total = sum(by_issue.values())
        assert sum(row.count for row in self.rows(tables.event_days)) == total
        totals = self.rows(tables.issue_totals)
        assert sum(row.occurrences for row in totals) == total
        assert sum(row.issues for row in totals) == len(issues)
        sources: dict[str, int] = {}
        for row in self.rows(tables.issue_facets):
            sources[row.facet] = sources.get(row.facet, 0) + row.count
        assert sources.get("channel", 0) == sources.get("environment", 0) == sources.get("source", 0) == total


@pytest.fixture
def store(service: Service) -> Store:
    """The store on each of the three databases."""
    return Store(service)


@pytest.fixture
def sqlite_store(sqlite_service: Service) -> Store:
    """The store on SQLite only."""
    return Store(sqlite_service)


@pytest.fixture
def make_store() -> type[Store]:
    """Make a store of another service."""
    return Store


class Journal:
    """A file in which several processes note what happens, a line each with the time, in its order."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def note(self, text: str) -> None:
        """Add a line."""
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(f"{time.monotonic():.4f} {text}\n")

    def take(self) -> str:
        """Return what was noted, and begin anew."""
        noted = self.path.read_text(encoding="utf-8")
        os.truncate(self.path, 0)
        return noted


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """An empty journal."""
    return Journal(tmp_path / "journal")


class Reader:
    """A run of `snaglist import` in a process of its own."""

    def __init__(self, zygote: subprocess.Popen[str]) -> None:
        self._zygote = zygote
        assert zygote.stdout is not None
        self.pid = int(zygote.stdout.readline())
        self._code: int | None = None

    @property
    def ended(self) -> bool:
        """True when it has ended by itself."""
        return self._code is not None or bool(select_ready([self._zygote.stdout], [], [], 0)[0])

    @property
    def killed(self) -> bool:
        """True when it was killed before it ended."""
        return self._code is not None and self._code < 0

    def kill(self) -> None:
        """Kill it if it runs, and wait for its end."""
        if not self.ended:
            with suppress(ProcessLookupError):  # it ended in this moment
                os.kill(self.pid, signal.SIGKILL)
        self.code()

    def code(self) -> int:
        """Wait for its end; returns its exit code, negative when it was killed."""
        if self._code is None:
            assert self._zygote.stdout is not None
            self._code = int(self._zygote.stdout.readline())
        return self._code


class Readers:
    """Runs of `snaglist import` on a data directory, one after another, that can be killed."""

    def __init__(self, data: Path, config: Mapping[str, str], journal: Journal | None) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        own = {f"SERVICE_{name.replace('__', '_').upper()}": value for name, value in config.items()}
        self._zygote = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("reading_process.py"), *([journal.path] if journal else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**clean, **own, "SERVICE_DATA": str(data), "TZ": "UTC"},
        )
        self._started: list[Reader] = []

    @property
    def runs(self) -> int:
        """How many were started."""
        return len(self._started)

    @property
    def killed(self) -> int:
        """How many of them were killed before they ended."""
        return sum(reader.killed for reader in self._started)

    def start(self, *paths: str) -> Reader:
        """Start a run over paths."""
        assert self._zygote.stdin is not None
        self._zygote.stdin.write(json.dumps(["--quiet", "import", "--timezone", "UTC", *paths]) + "\n")
        self._zygote.stdin.flush()
        self._started.append(Reader(self._zygote))
        return self._started[-1]

    def close(self) -> None:
        """End the process that starts them."""
        with self._zygote:
            assert self._zygote.stdin is not None
            self._zygote.stdin.close()


@pytest.fixture
def reading_process() -> Iterator[Callable[..., Readers]]:
    """Start readers of a data directory, with configuration keys if wanted: `reading_process(data, **config)`.

    With `journal` they note there what they do.
    """
    started: list[Readers] = []

    def start(data: Path, *, journal: Journal | None = None, **config: str) -> Readers:
        started.append(Readers(data, config, journal))
        return started[-1]

    yield start
    for readers in started:
        readers.close()


Drop = Callable[[Service, str, str | bytes], Path]


@pytest.fixture
def drop() -> Drop:
    """Put a file into the folder `logs` of the default application that was finished a minute ago."""

    def put(service: Service, name: str, content: str | bytes) -> Path:
        path = service.applications.all()[0].logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        finished = time.time() - 60
        os.utime(path, (finished, finished))
        return path

    return put


Line = Callable[..., str]


@pytest.fixture
def line() -> Line:
    """Make a line of a framework log, a minute ago or as given."""
    base = datetime.now(UTC) - timedelta(minutes=10)

    def make(message: str, level: str = "ERROR", seconds: int = 0) -> str:
        at = base + timedelta(seconds=seconds)
        return f"[{at:%Y-%m-%d %H:%M:%S}] production.{level}: {message}\n"

    return make


@pytest.fixture
def snaglist(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line as a process of its own, in an empty folder."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}

    def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from snaglist.plugins.start import main; main()", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env={**clean, "TZ": "UTC"},
            cwd=tmp_path,
            timeout=120,
            check=False,
        )

    return run
