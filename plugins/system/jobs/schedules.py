"""Schedules: which jobs are due by time, and where nobody needs to ask.

A job with `every` is asked with `due` at that interval. In most applications the answer cannot change by itself, and
the job says so (`rests`): then it is asked again when something was written there, when its `watch` saw something
outside the databases, and in the slow round.
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from snaglist.kernel import Application, Call, Conflict, Plugin, Unavailable, times
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.database import clock, ends_transaction
from snaglist.kernel.service import Service
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.jobs.job import Job
from snaglist.plugins.system.jobs.queue import UNFINISHED, queue_of

log = logging.getLogger("snaglist")

_table = tables.jobs
_Wanted = dict[str, tuple[str, Job, int]]  # by kind: whose it is, the job, its interval in seconds


@dataclass(slots=True)
class _Asked:
    """When a kind is to be thought of again in an application (monotonic seconds), and whether it rests there."""

    again: float
    rests: bool


class Schedules:
    """Asks the scheduled jobs of applications, for all workers of a process."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._asked: dict[str, dict[str, _Asked]] = {}  # by application and kind
        self._next: dict[str, float] = {}  # PERF: workers look at it for every application each second

    def next(self, application: Application) -> float:
        """Return the moment (monotonic seconds) at which `ask` has something to think of."""
        return self._next.get(application.id, 0.0)

    def ask(self, application: Application, *, active: bool = True, all_kinds: bool = False) -> bool:
        """Queue the scheduled jobs of an application that are due; False when its database was not looked into.

        `active`: something was written there lately, so that nothing rests. `all_kinds` asks those that rest, too.
        """
        asked = self._asked.setdefault(application.id, {})
        try:
            return self._ask(application, asked, active=active, all_kinds=all_kinds)
        finally:
            self._next[application.id] = min((one.again for one in asked.values()), default=float("inf"))

    def _ask(self, application: Application, asked: dict[str, _Asked], *, active: bool, all_kinds: bool) -> bool:
        wanted = {
            kind: (owner, job, seconds)
            for kind, (owner, job) in list(queue_of(self._service).kinds.items())
            if job.every and job.due and (seconds := int(self._service.settings[job.every]))
            if self._is_time(application, job, seconds, asked.get(kind), awake=active or all_kinds)
        }
        if not wanted:
            return False
        call = self._service.call(application, actor=None)
        while wanted:
            for kind, args in self._due(call, wanted, active).items():
                try:
                    with call.transaction():
                        call.enqueue(kind, args, dedupe=kind)
                except Conflict:
                    log.debug("job %s is queued by another worker", kind)
        return True

    def _is_time(self, application: Application, job: Job, seconds: int, last: _Asked | None, *, awake: bool) -> bool:
        if last is None:
            return True
        if last.rests and awake:
            return True
        if time.monotonic() < last.again:
            return False
        if last.rests:
            last.again = time.monotonic() + seconds
            return bool(job.watch) and self._saw(job, application)
        return True

    def _saw(self, job: Job, application: Application) -> bool:
        """Ask what a job watches; where that fails the job itself is asked, and what it says is its plugin's."""
        try:
            return bool(job.watch and contained(job.watch, application))
        except Exception:
            log.exception("job %s cannot watch %s", job.kind, application.id)
            return True

    def _due(self, call: Call, wanted: _Wanted, active: bool) -> dict[str, Mapping[str, Any]]:
        """Take kinds out of `wanted` and ask them in one transaction; it ends where one of them fails."""
        due: dict[str, Mapping[str, Any]] = {}
        noted: list[tuple[Plugin, str, str | None]] = []
        plugins = self._service.plugins
        with call.transaction(write=False) as db:
            now = clock(db)
            busy, newest = self._unfinished(db), self._newest(db, wanted, now)
            while wanted:
                kind = next(iter(wanted))
                owner, job, seconds = wanted.pop(kind)
                plugin, what = plugins.find(owner), f"job {kind}"
                assert plugin is not None
                asked = self._asked[call.application.id][kind] = _Asked(time.monotonic() + seconds, rests=False)
                if kind in busy or newest.get(kind, "") >= times.add(now, seconds=2 - seconds):
                    continue
                try:
                    on = call.enabled(owner)
                    args = contained(job.due, call) if on and job.due else None
                    if not isinstance(args, Mapping | None):
                        raise TypeError(f"must return a JSON object or None, not {type(args).__name__}")
                    json.dumps(args, allow_nan=False)
                    rests = not on or bool(job.rests and args is None and contained(job.rests, call))
                except Exception as error:
                    if ends_transaction(error) or isinstance(error, Unavailable):
                        raise
                    log.exception("plugin %s failed in due of job %s", owner, kind)
                    noted.append((plugin, what, describe(error)))
                    break
                if on and not plugin.core and plugins.is_failing(db, plugin, what):
                    noted.append((plugin, what, None))
                if args is not None:
                    due[kind] = args
                if rests and not active:
                    asked.rests, asked.again = True, asked.again if on and job.watch else float("inf")
        for plugin, what, said in noted:
            with call.transaction():
                plugins.note(call, plugin, what, said)
        return due

    def _unfinished(self, db: Connection) -> set[str]:
        wanted = select(_table.c.kind).where(_table.c.status.in_(UNFINISHED), queue_of(self._service).reachable())
        return set(db.scalars(wanted.distinct()))

    def _newest(self, db: Connection, wanted: _Wanted, now: str) -> dict[str, str]:
        """Return when the newest job of each kind was made, within the longest of their intervals."""
        # Up to now: where the clock was put back, jobs of its future hinder none.
        recent = _table.c.created_at.between(times.add(now, seconds=-max(s for _, _, s in wanted.values())), now)
        made = select(_table.c.kind, func.max(_table.c.created_at)).where(
            _table.c.kind.in_(list(wanted)), recent, queue_of(self._service).reachable()
        )
        return {kind: newest for kind, newest in db.execute(made.group_by(_table.c.kind))}
