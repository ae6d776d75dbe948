"""Runs: what is kept of each sync, its signs of life, and the end of those whose worker is gone."""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from sqlalchemy import Row

from snaglist.kernel import Call, Conflict, clip, times
from snaglist.kernel.database import clock
from snaglist.plugins.connectors import run_queries as sql
from snaglist.plugins.connectors.tables import connector_runs
from snaglist.plugins.connectors.tables import connectors as table
from snaglist.plugins.issues import show_path
from snaglist.plugins.system import rows

log = logging.getLogger("snaglist")

BEAT_SECONDS = 5.0
STALE_MINIMUM = 30
_MESSAGE = 4000
_ALIVE_JOBS = ("queued", "running")
UNKNOWN = "How it ended is not known: its job is gone, or ended without a word of it."
_FIELDS = (
    "id", "connector_id", "connector_name", "connector_type", "job_id", "status", "files_discovered",
    "files_completed", "files_updated", "bytes_total", "bytes_fetched", "events_indexed", "current_file", "message",
    "started_at", "updated_at", "finished_at",
)  # fmt: skip


def begin(call: Call, connectors: Sequence[Row[Any]], job_id: int, snapshots: Mapping[int, str | None]) -> list[int]:
    """Queue a run for each connector, in the open write transaction; Conflict when one is queued or running."""
    settle(call)
    busy = {row.connector_id for row in sql.unfinished_runs(call.db)}
    for connector in connectors:
        if connector.id in busy:
            raise Conflict(f"A sync of {connector.name} is queued or running.")
    now = clock(call.db)
    row = {"job_id": job_id, "status": "queued", "started_at": now, "updated_at": now}
    own = [{"connector_id": one.id, "expected_snapshot": snapshots.get(one.id)} for one in connectors]
    return [rows.add(call.db, connector_runs, row | one) for one in own]


def is_running(call: Call, connector_id: int) -> bool:
    """Tell whether a sync of a connector is going on; in the open write transaction."""
    settle(call)
    return any(r.connector_id == connector_id and r.status == "running" for r in sql.unfinished_runs(call.db))


def abandoned(call: Call) -> list[tuple[Row[Any], str, str]]:
    """Return the unfinished runs that nobody works on any more, each with its status and message."""
    now = clock(call.db)
    found = ((run, _end_of(call, run, now)) for run in sql.unfinished_runs(call.db))
    return [(run, *end) for run, end in found if end is not None]


def settle(call: Call) -> None:
    """Finish the abandoned runs, in the open write transaction."""
    for run, status, message in abandoned(call):
        finish(call, run, status, message)


def finish(call: Call, run: Row[Any], status: str, message: str | None, **counters: Any) -> None:
    """Note the end of a run, and at its connector, in the open write transaction."""
    now = clock(call.db)
    message = clip(message, _MESSAGE) if message else None
    values = {"status": status, "message": message, "current_file": None, "updated_at": now, "finished_at": now}
    if sql.change_run(call.db, run.id, **{**counters, **values}):
        synced = {"last_synced_at": now} if status == "success" else {}
        error = message if status == "failed" else None
        rows.change(call.db, table, run.connector_id, last_status=status, last_error=error, **synced)


def show(call: Call, run: Row[Any]) -> dict[str, Any]:
    """Return a run as the API shows it; one whose worker is gone as what became of it."""
    shown = {name: getattr(run, name) for name in _FIELDS}
    end = _end_of(call, run, clock(call.db)) if run.finished_at is None else None
    if end is not None:
        shown |= {"status": end[0], "message": end[1], "current_file": None}
    if shown["current_file"]:
        shown["current_file"] = show_path(call, shown["current_file"])
    return shown


def _end_of(call: Call, run: Row[Any], now: str) -> tuple[str, str] | None:
    """Return status and message of an unfinished run that nobody works on any more."""
    if run.job_status == "cancelled":
        return "cancelled", "The job was cancelled."
    if run.job_status not in _ALIVE_JOBS:
        return "failed", run.job_error or UNKNOWN
    stale = max(STALE_MINIMUM, call.setting("sync.stale_seconds"))
    if run.status == "running" and run.updated_at < times.add(now, seconds=-stale):
        return "failed", f"There was no sign of life for {stale} seconds."
    return None


@dataclass(slots=True)
class Counters:
    """How far a run is; columns of its row."""

    files_discovered: int = 0
    files_completed: int = 0
    files_updated: int = 0
    bytes_total: int = 0
    bytes_fetched: int = 0
    events_indexed: int = 0
    current_file: str | None = None


class Pulse:
    """Writes the counters of a run every few seconds from a thread of its own, whatever the run waits for."""

    def __init__(self, call: Call, run_id: int) -> None:
        self.counters = Counters()
        self.lost = False  # the run was finished from outside: nobody waits for it any more
        self._call = Call(call.service, call.application)
        self._run_id = run_id
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._beat()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            try:
                self._beat()
            except Exception:
                log.warning("the progress of run %s could not be written", self._run_id, exc_info=True)

    def _beat(self) -> None:
        with self._call.transaction() as db:
            values = {**asdict(self.counters), "status": "running", "updated_at": clock(db)}
            self.lost = not sql.change_run(db, self._run_id, **values)
