"""Background work as areas see it: its kinds, what a run gets, and the answer of endpoints that queue it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, and_, select, update

from snaglist.kernel import Application, Call, Conflict, Reply, ServiceError, clip
from snaglist.kernel.database import clock
from snaglist.plugins.system.jobs.tables import jobs as _table

WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of background work.

    `run(call)` does it and returns the result, a JSON object. `every` names the settings key that holds the
    seconds between runs (0 = off); then `due(call)`, asked in a read transaction, returns the arguments
    of a run that is needed now, or None. `rests(call)`, asked after that, says whether only something that is written
    in the application can make it due: then it is not asked before, unless `watch(application)` says True, which looks
    outside the databases at the interval. A `local` job needs the files of the machine that queues it: where
    machines do not share them, each has its own, and runs it itself.
    """

    kind: str
    run: "Callable[[JobCall], Mapping[str, Any] | None]"
    unit: str = ""
    max_attempts: int = 3
    every: str | None = None
    due: Callable[[Call], Mapping[str, Any] | None] | None = None
    local: bool = False
    rests: Callable[[Call], bool] | None = None
    watch: Callable[[Application], bool] | None = None

    @property
    def name(self) -> str:
        """What no other job is called."""
        return self.kind


class Cancelled(Exception):
    """The user cancelled the job that runs; raised by `check_cancelled`."""


class LeaseLost(Exception):
    """Another worker took the job over; this one must stop."""


@dataclass(slots=True)
class JobCall(Call):
    """What a job gets: a call without an actor and without an open transaction."""

    job_id: int = 0
    args: Mapping[str, Any] = field(default_factory=dict)
    lease_owner: str = ""
    farthest: int = 0  # what `progress` was told, be it written or not
    _reported: float = 0.0

    def progress(self, done: int, total: int | None = None, text: str | None = None) -> None:
        """Report how far the job is; written at most twice a second, and when the job ends. `done` never falls."""
        if self.connection is not None:
            raise RuntimeError("progress is written in a transaction of its own: report it between transactions")
        self.farthest = max(self.farthest, done)
        if time.monotonic() - self._reported < 0.5 and done != total:
            return
        self._reported = time.monotonic()
        values: dict[str, Any] = {"done": done, "text": clip(text, 500) if text else None}
        self._renew(values | ({} if total is None else {"total": total}), _table.c.done <= done)

    def check_cancelled(self) -> None:
        """Stop here when the user asked for it, or when the lease is lost."""
        with self.service.database.transaction(self.application, write=False) as db:
            row = db.execute(select(_table.c.cancel_requested, _table.c.lease_owner).where(self.mine())).first()
        if row is None:
            raise LeaseLost
        if row.cancel_requested:
            raise Cancelled

    def renew(self) -> None:
        """Keep the lease."""
        self._renew({})

    def mine(self) -> ColumnElement[bool]:
        """The row of the job, while the lease is held."""
        return and_(_table.c.id == self.job_id, _table.c.lease_owner == self.lease_owner)

    def _renew(self, values: Mapping[str, Any], *conditions: ColumnElement[bool]) -> None:
        with self.service.database.transaction(self.application, write=True) as db:
            changes = {**values, "heartbeat_at": clock(db)}
            db.execute(update(_table).where(self.mine(), *conditions).values(changes))


def job_reply(call: Call, job_id: int, extra: Mapping[str, Any] | None = None) -> Reply:
    """Answer for a queued job: 202 at once, or with `wait` its outcome, held for at most 30 seconds."""
    if not call.query.get("wait"):  # how far a quick worker is by now is no part of this answer, nor is a failure
        return Reply({"job_id": job_id, "status": "queued", **(extra or {})}, 202)
    deadline = time.monotonic() + WAIT_SECONDS
    while (reply := job_state(call, job_id, extra)).status == 202 and time.monotonic() < deadline:
        time.sleep(0.02)
    return reply


def job_state(call: Call, job_id: int, extra: Mapping[str, Any] | None = None) -> Reply:
    """Answer for a job as it is now: 200 with its result, or 202; a failure is raised."""
    row = call.read(lambda _: call.service.jobs.find(call, job_id))
    if row["status"] == "succeeded":
        return Reply({"job_id": job_id, "status": "succeeded", **(row["result"] or {})})
    if row["status"] == "cancelled":
        raise Conflict("The job was cancelled.")
    if row["status"] == "failed":
        failure = ServiceError(row["error"] or "The job failed.")
        failure.status = row["error_status"]
        raise failure
    return Reply({"job_id": job_id, "status": row["status"], **(extra or {})}, 202)
