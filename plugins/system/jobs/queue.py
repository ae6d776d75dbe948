"""Background work: a table of jobs per application, taken by any worker of any process under a lease.

A lease is held by heartbeat: `lease_owner` names the worker, `heartbeat_at` is renewed every 5 seconds and
a running job whose heartbeat is 15 seconds old, or whose process on this node is gone, is free again. Jobs
are therefore run at least once and must be safe to repeat.
"""

import json
import logging
import threading
import typing
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, String, and_, cast, delete, insert, or_, select, true, update
from sqlalchemy.engine import Connection, RowMapping
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from snaglist.kernel import (
    Application,
    Call,
    Conflict,
    Installation,
    NotFound,
    ServiceError,
    Unavailable,
    clip,
    internal_error,
    times,
)
from snaglist.kernel.containment import contained
from snaglist.kernel.database import clock, inserted_id
from snaglist.kernel.service import Service
from snaglist.kernel.text import storable
from snaglist.plugins.system import hookspecs
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.jobs.activity import Activity
from snaglist.plugins.system.jobs.job import Cancelled, Job, JobCall, LeaseLost
from snaglist.plugins.system.jobs.leases import POLL_SECONDS, is_gone, place, worker_id

log = logging.getLogger("snaglist")

LEASE_SECONDS = 15
RENEW_SECONDS = 5
RETRY_SECONDS = 10
LONGEST_RETRY_SECONDS = 3600
MAX_DEDUPE = 160
UNFINISHED = ("queued", "running")
_SILENT = f"Nothing was heard of the worker for {LEASE_SECONDS} seconds: it ended, or could not reach the database."
_table = tables.jobs
# A key that is free again still says what it was, so that a retried job gets it back.
_FREED = _table.c.dedupe + "#" + cast(_table.c.id, String)


class Queue:
    """The `jobs` of a service: queueing, running and showing them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._woken = threading.Event()
        self._place = place(service.settings.node)
        self._unwritten: list[tuple[JobCall, RowMapping, dict[str, Any]]] = []  # ends that the database was away for

    @property
    def kinds(self) -> dict[str, tuple[str, Job]]:
        """The kinds of jobs, each with the plugin that registered it; those of one that was taken out are gone."""
        added = self._service.plugins.added(hookspecs.register_jobs)
        return {job.kind: (plugin.id, job) for plugin, job in added}

    def enqueue(
        self,
        call: Call,
        kind: str,
        args: Mapping[str, Any],
        *,
        dedupe: str | None = None,
        total: int | None = None,
        node: str | None = None,
    ) -> int:
        """Queue a job in the call's transaction; Conflict while an unfinished one has the same `dedupe`."""
        job = self.kinds[kind][1]
        node = node or (self._service.file_node if job.local else "") or None
        if dedupe and node:
            dedupe = f"{dedupe}@{node}"
        row = {"kind": kind, "args": dict(args), "total": total, "unit": job.unit, "max_attempts": job.max_attempts}
        return self.queue(call, **row, node=node, dedupe=dedupe)

    def queue(self, call: Call, **given: Any) -> int:
        """Queue a job given as its row; `enqueue` is for areas."""
        if len(given["dedupe"] or "") > MAX_DEDUPE:
            raise ValueError(f"dedupe: at most {MAX_DEDUPE} characters")
        now = clock(call.db)
        row = given | {"status": "queued", "done": 0, "attempts": 0, "cancel_requested": False}
        row |= {"run_at": now, "created_at": now, "created_by": call.label}
        try:
            with call.db.begin_nested():
                job_id = inserted_id(call.db.execute(insert(_table), row))
        except IntegrityError as error:
            raise Conflict(f"{given['kind']}: one is queued or running already") from error
        call.after_commit.add(self.wake)
        return job_id

    def unfinished(self, call: Call, *kinds: str) -> bool:
        """Tell whether a job (of these kinds, when given) that may run on this node is queued or running."""
        of_kinds = _table.c.kind.in_(kinds) if kinds else true()
        wanted = select(_table.c.id).where(_table.c.status.in_(UNFINISHED), of_kinds, self.reachable())
        return call.db.execute(wanted.limit(1)).first() is not None

    def find(self, call: Call, job_id: int) -> RowMapping:
        """Return the row of a job or raise NotFound."""
        row = call.db.execute(select(_table).where(_table.c.id == job_id)).mappings().first()
        if row is None:
            raise NotFound("Unknown job.")
        return row

    def cancel(self, call: Call, job_id: int) -> None:
        """Cancel a queued job now, a running one at its next safe point."""
        row = self.find(call, job_id)
        if row["status"] not in UNFINISHED:
            raise Conflict("The job is finished.")
        queued = update(_table).where(_table.c.id == job_id, _table.c.status == "queued")
        if not call.db.execute(queued.values(_ended("cancelled", call.now))).rowcount:
            call.db.execute(update(_table).where(_table.c.id == job_id).values(cancel_requested=True))

    def retry(self, call: Call, job_id: int) -> int:
        """Queue a new job like a failed or cancelled one; Conflict while an unfinished one has the same `dedupe`."""
        row = self.find(call, job_id)
        if row["status"] not in ("failed", "cancelled"):
            raise Conflict("Only failed and cancelled jobs can be retried.")
        if row["kind"] not in self.kinds:
            raise Conflict("The area of this job is not installed.")
        same = {name: row[name] for name in ("kind", "args", "total", "unit", "max_attempts", "node")}
        return self.queue(call, **same, dedupe=row["dedupe"] and row["dedupe"].rpartition("#")[0])

    def written(self, application: Application) -> None:
        """Take note that something was written in an application just now."""
        self._service.part(Activity).note(application)

    # -- running

    def run_next(self, application: Application, worker: str = "", job_id: int | None = None) -> bool:
        """Take and run one due job of an application (this one, when given) here; False when there is none."""
        worker = worker or worker_id(self._service.settings.node)
        self._write_ends(application)
        claimed = self._claim(application, worker, job_id)
        if claimed is not None:
            self._run(application, claimed, worker)
        return claimed is not None

    def run_queued(self, application: Application, worker: str = "") -> int:
        """Run due jobs here until none is left; returns how many."""
        return sum(iter(lambda: self.run_next(application, worker), False))

    def waiting(self, application: Application) -> bool:
        """Tell whether a job is left that may run here, later or when another worker gave it up."""
        with self._service.database.transaction(application, write=False) as db:
            left = _table.c.status.in_(UNFINISHED), _table.c.kind.in_(list(self.kinds)), self.reachable()
            return db.execute(select(_table.c.id).where(*left).limit(1)).first() is not None

    def prune(self, application: Application) -> None:
        """Forget jobs that finished longer ago than `jobs.keep_days`."""
        with self._service.database.transaction(application, write=False) as db:
            limit = times.add(clock(db), days=-self._service.settings["jobs.keep_days"])
            old = and_(_table.c.status.not_in(UNFINISHED), _table.c.run_at < limit)
            if db.execute(select(_table.c.id).where(old).limit(1)).first() is None:
                return
        with self._service.database.transaction(application, write=True) as db:
            db.execute(delete(_table).where(old))

    def wait_for_work(self, stop: threading.Event) -> None:
        """Sleep until a job was queued in this process, a second has passed, or the worker must stop."""
        if not stop.is_set():
            self._woken.wait(POLL_SECONDS)
            self._woken.clear()

    def wake(self) -> None:
        """End a worker's sleep."""
        self._woken.set()

    def _claim(self, application: Application, worker: str, job_id: int | None) -> RowMapping | None:
        database = self._service.database
        with database.transaction(application, write=False) as db:  # asked first, so that idle workers never write
            if db.execute(self._due(db, job_id)).first() is None:
                return None
        with database.transaction(application, write=True) as db:
            row = db.execute(self._due(db, job_id).with_for_update(skip_locked=True)).mappings().first()
            if row is None:
                return None
            now = clock(db)
            if row["cancel_requested"]:
                changes = _ended("cancelled", now)
            elif row["attempts"] >= row["max_attempts"]:
                guess = "The worker died." if is_gone(row["lease_owner"] or "", self._place) else _SILENT
                changes = _ended("failed", now) | {"error": guess, "error_status": 500}
            else:
                changes = {"status": "running", "lease_owner": worker, "heartbeat_at": now}
                changes |= {"attempts": row["attempts"] + 1, "started_at": row["started_at"] or now}
            db.execute(update(_table).where(_table.c.id == row["id"]).values(changes))
        return row if changes["status"] == "running" else None

    def _due(self, db: Connection, job_id: int | None) -> Select[Any]:
        now = clock(db)
        running = _table.c.status == "running"
        owners = db.scalars(select(_table.c.lease_owner).where(running).distinct()).all()
        lost = or_(
            _table.c.heartbeat_at < times.add(now, seconds=-LEASE_SECONDS),
            _table.c.lease_owner.in_([owner for owner in owners if is_gone(owner, self._place)]),
        )
        free = or_(queued_for(now), and_(running, lost))
        wanted = true() if job_id is None else _table.c.id == job_id
        found = select(_table).where(free, wanted, _table.c.kind.in_(list(self.kinds)), self.reachable())
        return found.order_by(_table.c.run_at, _table.c.id).limit(1)

    def reachable(self) -> ColumnElement[bool]:
        """Jobs that may run on this node."""
        return or_(_table.c.node.is_(None), _table.c.node == self._service.settings.node)

    def _run(self, application: Application, row: RowMapping, worker: str) -> None:
        owner, job = self.kinds[row["kind"]]
        call = JobCall(self._service, application, job_id=row["id"], args=row["args"], lease_owner=worker)
        stop = threading.Event()
        keeper = threading.Thread(target=_keep_lease, args=(call, stop), daemon=True)
        keeper.start()
        try:
            returned = contained(job.run, call)
            result = dict(returned or {})
            json.dumps(result, allow_nan=False)  # what cannot be stored is the job's failure, not the worker's
            outcome = {"status": "succeeded", "result": result, "error": None}
        except LeaseLost:
            return
        except Cancelled:
            outcome = {"status": "cancelled"}
        except Exception as error:
            outcome = _failure(row, error, owner)
        finally:
            stop.set()
            keeper.join()
        self._unwritten.append((call, row, outcome))
        self._write_ends(application)

    def _write_ends(self, application: Application) -> None:
        """Write how jobs ended that ran here, at once or when the database is back: nobody else knows it."""
        for end in [end for end in self._unwritten if end[0].application == application]:
            self._service.database.repeat(partial(_write_end, *end))
            self._unwritten = [other for other in self._unwritten if other is not end]


def queue_of(service: Installation) -> Queue:
    """Return the jobs of a service with all that workers need of them."""
    return typing.cast(Queue, service.jobs)


def queued_for(now: str) -> ColumnElement[bool]:
    """Queued and due. Only a retry waits, and never as long as it would where the clock was put back."""
    longest = times.add(now, seconds=LONGEST_RETRY_SECONDS)
    due = or_(_table.c.attempts == 0, _table.c.run_at <= now, _table.c.run_at > longest)
    return and_(_table.c.status == "queued", due)


def _write_end(call: JobCall, row: RowMapping, outcome: dict[str, Any]) -> None:
    with call.service.database.transaction(call.application, write=True) as db:
        now = clock(db)
        if outcome["status"] == "queued":
            delay = min(RETRY_SECONDS * 2 ** row["attempts"], LONGEST_RETRY_SECONDS)
            values = {"run_at": times.add(now, seconds=delay), "lease_owner": None}
        else:
            values = _ended(outcome["status"], now) | {"text": None}
        done = max(row["done"], call.farthest)
        db.execute(update(_table).where(call.mine()).values(values | outcome | {"done": done}))


def _ended(status: str, now: str) -> dict[str, Any]:
    return {"status": status, "finished_at": now, "dedupe": _FREED, "lease_owner": None}


def _failure(row: RowMapping, error: Exception, owner: str) -> dict[str, Any]:
    """Return what becomes of a job that failed; what may pass by itself is tried again."""
    what = f"job {row['kind']} {row['id']} of plugin {owner} failed"
    known = error if isinstance(error, ServiceError) else internal_error(error, what)
    away = isinstance(error, Unavailable) and isinstance(error.__cause__, SQLAlchemyError)
    said = f"The database was not reachable while the job ran ({known.message})" if away else known.message
    outcome = {"status": "failed", "error": clip(storable(said), 1000), "error_status": known.status}
    passing = isinstance(error, Unavailable | OSError | SQLAlchemyError)
    return outcome | {"status": "queued"} if passing and row["attempts"] + 1 < row["max_attempts"] else outcome


def _keep_lease(call: JobCall, stop: threading.Event) -> None:
    while not stop.wait(RENEW_SECONDS):
        try:
            call.renew()
        except Exception:
            log.warning("the lease of job %s could not be renewed", call.job_id, exc_info=True)
