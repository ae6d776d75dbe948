"""The worker: a thread that takes due jobs of all applications, one after another."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from snaglist.kernel.applications import Application
from snaglist.kernel.containment import contained
from snaglist.kernel.errors import ServiceError
from snaglist.kernel.leases import HEARTBEAT_SECONDS, heartbeat, worker_id
from snaglist.kernel.service import Service

log = logging.getLogger("snaglist")

PRUNE_SECONDS = 3600
# Areas register `run(service, stop)` of this kind: work that waits for its own news, until the event `stop` is set.
BESIDE = "beside_worker"


class Worker:
    """One worker thread; `kind` says where it lives (`serve`, `worker`, `host`)."""

    def __init__(self, service: Service, kind: str, *, schedules: bool = True) -> None:
        self._service = service
        self._schedules = schedules
        self._kind = kind
        self._id = worker_id(service.settings.node)
        self._stop = Event()
        self._thread = Thread(target=self._work, name=f"snaglist-{kind}", daemon=True)
        self._pruned = time.monotonic()

    def start(self) -> None:
        """Start taking jobs."""
        self._thread.start()

    def stop(self, timeout: float = 10) -> None:
        """Take no further job and wait for the one that runs."""
        self._stop.set()
        self._service.jobs.wake()
        self._thread.join(timeout)

    def _work(self) -> None:
        found = self._service.plugins.types(BESIDE).items()
        beside = [Thread(target=self._beside, args=given, daemon=True) for given in found]
        beside += [Thread(target=self._beat, daemon=True)]
        for thread in beside:
            thread.start()
        while not self._stop.is_set():
            with _contained("round"):
                if self._round():
                    continue
            self._service.jobs.wait_for_work(self._stop)
        for thread in beside:
            thread.join()  # or its connection would outlive the service

    def _round(self) -> bool:
        worked = False
        prune = time.monotonic() - self._pruned > PRUNE_SECONDS
        for application in self._service.applications.all():
            # What is wrong with one application must not keep the others waiting.
            with _contained(f"application {application.id}"):
                worked = self._serve(application, prune) or worked
        if prune:
            self._pruned = time.monotonic()
        return worked

    def _serve(self, application: Application, prune: bool) -> bool:
        """Do what is due in one application; False when nothing was."""
        if self._stop.is_set():
            return False
        self._service.require_schema(application)
        if self._schedules:
            self._service.jobs.ask_schedules(application)
        if prune:
            self._service.jobs.prune(application)
        return self._service.jobs.run_next(application, self._id)

    def _beside(self, name: str, run: Any) -> None:
        with _contained(f"{name} of plugin {self._service.plugins.owner(BESIDE, name)}"):
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
