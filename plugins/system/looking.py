"""What health knows of the applications: a few are looked into at each probe, of the others it remembers the last look.

So a probe costs the same with three applications and with three thousand. First come those where something was wrong
or was written lately, then those that were not looked into for longest.
"""

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from snaglist.kernel import Application, ServiceError, times
from snaglist.kernel.database import clock
from snaglist.kernel.faults import Fault, Unusable
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.jobs.activity import Activity
from snaglist.plugins.system.jobs.queue import queued_for

if TYPE_CHECKING:
    from snaglist.kernel.service import Service

LOOKS = 12
OF_A_KIND = 4  # of those with something wrong, and of the active ones
OVERDUE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look found: a fault, or a database that could not be reached; whether jobs wait, and for too long."""

    fault: Fault | None = None
    reached: bool = True
    waiting: bool = False
    late: bool = False

    @property
    def usable(self) -> bool:
        """True when requests are answered."""
        return self.reached and self.fault is None

    @property
    def fine(self) -> bool:
        """True when there is nothing to look after."""
        return self.usable and not self.waiting


class Looking:
    """Looks at the applications of a service, for all who ask for health."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, Seen]] = {}

    def look(self, applications: list[Application]) -> dict[str, Seen]:
        """Look into some of the applications and return what is known of all that were looked into, by id."""
        with self._lock:
            for application in self._chosen(applications):
                self._seen[application.id] = (time.monotonic(), self._into(application))
            found = {one.id: self._seen[one.id][1] for one in applications if one.id in self._seen}
            for one in applications:  # a look at the file, or what somebody met meanwhile
                fault = self._service.database.faults.of(one)
                if fault and (one.id not in found or found[one.id].fault is None):
                    found[one.id] = Seen(fault)
            return found

    def _chosen(self, applications: list[Application]) -> list[Application]:
        if len(applications) <= LOOKS:
            return applications
        active = self._active()
        eldest = sorted(applications, key=lambda one: self._seen.get(one.id, (0.0, None))[0])
        wanting = [one for one in eldest if one.id in self._seen and not self._seen[one.id][1].fine]
        chosen = {one.id: one for one in wanting[:OF_A_KIND]}
        chosen |= {one.id: one for one in [one for one in eldest if one.id in active][:OF_A_KIND]}
        for one in eldest:
            if len(chosen) >= LOOKS:
                break
            chosen.setdefault(one.id, one)
        return list(chosen.values())

    def _active(self) -> set[str]:
        try:
            return self._service.part(Activity).recent()
        except (ServiceError, SQLAlchemyError):
            return set()

    def _into(self, application: Application) -> Seen:
        try:
            self._service.require_schema(application)
            with self._service.database.transaction(application, write=False) as db:
                now = clock(db)
                oldest = db.scalar(select(func.min(tables.jobs.c.run_at)).where(queued_for(now)))
        except Unusable as error:
            return Seen(error.fault)
        except (ServiceError, SQLAlchemyError):
            return Seen(reached=False)
        return Seen(
            waiting=oldest is not None,
            late=oldest is not None and oldest < times.add(now, seconds=-OVERDUE_SECONDS),
        )
