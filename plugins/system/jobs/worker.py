"""The worker: a thread that takes due jobs of all applications, one after another.

What it costs follows the applications in which something happens (activity.py, schedules.py): the others are looked
into when a schedule is due there, and every quarter of an hour.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from sqlalchemy.exc import DBAPIError

from snaglist.kernel import Application, Plugin, ServiceError
from snaglist.kernel.containment import contained
from snaglist.kernel.faults import Unusable, names_no_table
from snaglist.kernel.service import Service
from snaglist.plugins.system import hookspecs
from snaglist.plugins.system.jobs.activity import Activity
from snaglist.plugins.system.jobs.leases import HEARTBEAT_SECONDS, heartbeat, worker_id
from snaglist.plugins.system.jobs.queue import queue_of
from snaglist.plugins.system.jobs.schedules import Schedules

log = logging.getLogger("snaglist")

PRUNE_SECONDS = 3600
SWEEP_SECONDS = 900  # however quiet an application is, its database is looked into that often
LIST_SECONDS = 10
LOOKS = 20  # into applications where nothing was written lately, before those are asked for again
PAUSE_SECONDS = 30  # before the next look at a database that cannot be used


class Worker:
    """One worker thread; `kind` says where it lives (`serve`, `worker`, `host`)."""

    def __init__(self, service: Service, kind: str, *, schedules: bool = True) -> None:
        self._service = service
        self._queue = queue_of(service)
        self._schedules = schedules
        self._kind = kind
        self._id = worker_id(service.settings.node)
        self._stop = Event()
        self._thread = Thread(target=self._work, name=f"snaglist-{kind}", daemon=True)
        self._started = time.monotonic()
        self._looked: dict[str, float] = {}  # by application: the last look into its database
        self._pruned: dict[str, float] = {}
        self._again: dict[str, float] = {}  # jobs wait there, or a database that cannot be used: when to look again

    def start(self) -> None:
        """Start taking jobs."""
        self._thread.start()

    def stop(self, timeout: float = 10) -> None:
        """Take no further job and wait for the one that runs."""
        self._stop.set()
        self._queue.wake()
        self._thread.join(timeout)

    def _work(self) -> None:
        found = self._service.plugins.calls(hookspecs.run_beside_worker)
        beside = [Thread(target=self._beside, args=given, daemon=True) for given in found]
        beside += [Thread(target=self._beat, daemon=True)]
        for thread in beside:
            thread.start()
        while not self._stop.is_set():
            with _contained("round"):
                if self._round():
                    continue
            self._queue.wait_for_work(self._stop)
        for thread in beside:
            thread.join()  # or its connection would outlive the service

    def _round(self) -> bool:
        """Look into applications where there may be something to do; True to go on without a pause.

        Those where something was written lately come first; of the others some at a time, so that none of those waits.
        """
        worked, looks = False, 0
        active = self._service.part(Activity).recent()
        for application in sorted(self._listed(active), key=lambda one: one.id not in active):
            if self._stop.is_set():
                return False
            if not self._is_time(application, application.id in active):
                continue
            if application.id not in active and looks >= LOOKS:
                return True
            # What is wrong with one application must not keep the others waiting.
            with _contained(f"application {application.id}"):
                try:
                    looked, found = self._serve(application, application.id in active)
                    looks, worked = looks + looked, worked or found
                except Unusable:
                    self._again[application.id] = time.monotonic() + PAUSE_SECONDS
                    raise
                except DBAPIError as error:
                    if names_no_table(error):  # it was dropped, as a removal by another process does
                        self._service.applications.forget_state(application)
                        self._service.require_schema(application)
                    raise
        return worked

    def _listed(self, active: set[str]) -> list[Application]:
        """The applications; one that was added a moment ago is there when something was written in it."""
        applications = self._service.applications
        listed = applications.all(LIST_SECONDS)
        return listed if active <= {one.id for one in listed} else applications.refresh()

    def _is_time(self, application: Application, active: bool) -> bool:
        now = time.monotonic()
        waits = application.id in self._again
        if waits and now < self._again[application.id]:
            return False
        scheduled = self._schedules and self._service.part(Schedules).next(application) <= now
        return active or waits or scheduled or self._is_forgotten(application, now)

    def _is_forgotten(self, application: Application, now: float) -> bool:
        return now - self._looked.get(application.id, -SWEEP_SECONDS) >= SWEEP_SECONDS

    def _serve(self, application: Application, active: bool) -> tuple[bool, bool]:
        """Do what is due in one application; tells whether its database was looked into, and whether it worked."""
        service, now = self._service, time.monotonic()
        forgotten = self._is_forgotten(application, now)
        asked = self._schedules and service.part(Schedules).ask(application, active=active, all_kinds=forgotten)
        if not (asked or active or forgotten or application.id in self._again):
            return False, False
        service.require_schema(application)
        self._looked[application.id] = now
        if now - self._pruned.setdefault(application.id, self._started) > PRUNE_SECONDS:
            self._pruned[application.id] = now
            self._queue.prune(application)
        worked = self._queue.run_next(application, self._id)
        if worked or self._queue.waiting(application):
            self._again[application.id] = now
        else:
            self._again.pop(application.id, None)
        return True, worked

    def _beside(self, plugin: Plugin, run: Callable[[Service, Event], None]) -> None:
        with _contained(f"run_beside_worker of plugin {plugin.id}"):
            contained(run, self._service, self._stop)

    def _beat(self) -> None:
        while True:
            with _contained("heartbeat"):
                heartbeat(self._service, self._id, self._kind)
            if self._stop.wait(HEARTBEAT_SECONDS):
                return


@contextmanager
def _contained(what: str) -> Iterator[None]:
    """Log what fails and go on; of a database that is away without a trace every second."""
    try:
        yield
    except ServiceError as error:
        log.warning("worker: %s: %s", what, error.message)
    except Exception:
        log.exception("worker: %s: unexpected failure", what)
