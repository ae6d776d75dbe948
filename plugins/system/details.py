"""What the page Health tells of an application beyond the checks: figures, and what is not well with the next step.

Nothing here reads what is stored: figures come from counters, indexes and the file system's own sums.
"""

import logging
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, func, select, text

from snaglist.kernel import Call, Unavailable, times
from snaglist.kernel.containment import contained
from snaglist.kernel.database import clock
from snaglist.kernel.service import Service
from snaglist.plugins.system import health
from snaglist.plugins.system.asking import ask_all
from snaglist.plugins.system.folders import entries_below
from snaglist.plugins.system.hookspecs import Figure, Problem, health_details
from snaglist.plugins.system.jobs.queue import queued_for
from snaglist.plugins.system.jobs.tables import jobs

log = logging.getLogger("snaglist")

FAILED_HOURS = 24
LONGEST_DAYS = 30  # that a job waits and runs, as the search for failed ones takes it
MAX_FILES = 20_000  # that are looked at to sum up a folder
SIZE_SECONDS = 60.0
_ENGINES = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mysql": "MySQL", "mariadb": "MariaDB"}
_TABLE_BYTES = {
    "postgresql": "select sum(pg_total_relation_size(c.oid)) from pg_class c join pg_namespace n"
    " on n.oid = c.relnamespace where n.nspname = :tenant and c.relkind in ('r', 'm')",
    "mysql": "select sum(data_length + index_length) from information_schema.tables where table_schema = :tenant",
}

_Told = Figure | Problem | Callable[[], Iterable[Figure | Problem]]


def show(call: Call) -> Mapping[str, Any]:
    """Answer with the figures and the problems."""
    service = cast(Service, call.service)
    checked = service.part(health.Health)
    told: list[_Told] = [*_of_checks(service, checked.report()[0]), *_disk(call)]
    with suppress(Unavailable):  # then the checks say what is wrong with the database
        told += call.read(lambda db: _of_database(call, db, checked))
    found = [each for one in told for each in (_asked_later(one) if callable(one) else [one])]
    return {
        "problems": [asdict(one) for one in found if isinstance(one, Problem)],
        "figures": [asdict(one) for one in found if isinstance(one, Figure)],
    }


def _of_database(call: Call, db: Connection, checked: health.Health) -> list[_Told]:
    return [*ask_all(call, health_details, enabled=True), *_database(call, db, checked), *_jobs(db), *_plugins(call)]


def _asked_later(look: Callable[[], Iterable[Figure | Problem]]) -> list[Figure | Problem]:
    try:
        return contained(lambda: list(look()))
    except Exception:
        log.exception("health_details failed")
        return []


def _of_checks(service: Service, report: Mapping[str, Any]) -> Iterator[Problem]:
    for name, good in report["checks"].items():
        if not good:
            failed, hint = health.words(service, name)
            view = {"view": "applications"} if name in ("schema", "databases", "applications") else None
            yield Problem(f"{failed}.", f"{hint[:1].upper()}{hint[1:]}.", view)
    for warning in report["config_warnings"]:
        yield Problem(f"Configuration: {warning}.", "Change it in snaglist.toml or the environment, then restart.")


def _disk(call: Call) -> Iterator[Figure]:
    data = call.service.settings.data
    usage = shutil.disk_usage(data)
    yield Figure("Disk", "Free", usage.free, "bytes")
    yield Figure("Disk", "Total", usage.total, "bytes")
    size, whole = _SIZES.of(call.application.folder)
    yield Figure("Disk", "Files of this application" if whole else "Files of this application, over", size, "bytes")


def _database(call: Call, db: Connection, checked: health.Health) -> Iterator[Figure]:
    kind, version = checked.version()
    shown = f"{_ENGINES.get(kind, kind)} {'.'.join(map(str, version))}"
    yield Figure("Database", "Kind", shown, "text")
    yield Figure("Database", "Size", _database_bytes(call, db), "bytes")


def _database_bytes(call: Call, db: Connection) -> int:
    statement = _TABLE_BYTES.get(call.service.database.engine_name)
    if statement:
        return int(db.execute(text(statement), {"tenant": call.application.tenant}).scalar() or 0)
    files = (Path(f"{call.application.file}{end}") for end in ("", "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


def _jobs(db: Connection) -> Iterator[Figure | Problem]:
    now = clock(db)
    unfinished = select(jobs.c.status, func.count()).where(jobs.c.status.in_(("queued", "running")))
    counts = dict(map(tuple, db.execute(unfinished.group_by(jobs.c.status))))
    yield Figure("Jobs", "Waiting", counts.get("queued", 0), view={"view": "jobs"})
    yield Figure("Jobs", "Running", counts.get("running", 0), view={"view": "jobs"})
    if oldest := db.scalar(select(func.min(jobs.c.run_at)).where(queued_for(now))):
        yield Figure("Jobs", "Oldest waits since", oldest, "time")
    since = times.add(now, seconds=-FAILED_HOURS * 3600)
    earliest = times.add(since, days=-LONGEST_DAYS)  # the index has the times from which jobs wait
    failed = select(func.count()).where(
        jobs.c.status == "failed", jobs.c.run_at >= earliest, jobs.c.finished_at >= since
    )
    if number := int(db.scalar(failed) or 0):
        told = "A job" if number == 1 else f"{number:,} jobs"
        step = "Read why, and try again."
        yield Problem(f"{told} failed in the last {FAILED_HOURS} hours.", step, {"view": "jobs", "status": "failed"})


def _plugins(call: Call) -> Iterator[Problem]:
    states = call.service.plugins.states(call.db)
    for plugin in call.service.plugins.all():
        state = states.get(plugin.id, {})
        if plugin.error is not None and not plugin.core:
            yield Problem(f"The plugin {plugin.description.name} could not be loaded.", "See why.", {"view": "plugins"})
        elif state.get("enabled") and state.get("last_error"):
            yield Problem(f"The plugin {plugin.description.name} failed.", "See where and why.", {"view": "plugins"})


class _Sizes:
    """Sums of folders, asked anew once a minute at most; of very many files only the first count."""

    def __init__(self) -> None:
        self._locks: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)  # one who looks is enough
        self._known: dict[Path, tuple[float, int, bool]] = {}

    def of(self, folder: Path) -> tuple[int, bool]:
        """Return the bytes of the files below a folder, and whether all were looked at."""
        with self._locks[folder]:
            at, size, whole = self._known.get(folder, (-SIZE_SECONDS, 0, True))
            if time.monotonic() - at >= SIZE_SECONDS:
                size, whole = _size(folder)
                self._known[folder] = (time.monotonic(), size, whole)
            return size, whole


_SIZES = _Sizes()


def _size(folder: Path) -> tuple[int, bool]:
    size = 0
    for number, entry in enumerate(entries_below(folder)):
        if number == MAX_FILES:
            return size, False
        with suppress(OSError):  # went away meanwhile
            size += 0 if entry.is_dir() else entry.stat(follow_symlinks=False).st_size
    return size, True
