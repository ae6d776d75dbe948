"""Which applications something was written in lately: there workers look for jobs, and for what is due by schedule.

One row of the registry per application, written after a commit, by each process at most every 10 seconds; workers take
those of the last 30 seconds with one query. So every commit is followed by looks for at least 20 seconds. What no row
was written for (its process was killed, the registry was away) is found by the workers' slow round of all applications.
"""

import logging
import time

from sqlalchemy import Index, Table, bindparam, delete, select
from sqlalchemy.exc import SQLAlchemyError

from snaglist.kernel import Application, ServiceError, store, times
from snaglist.kernel.columns import moment, text
from snaglist.kernel.database import clock, upsert
from snaglist.kernel.service import Service

log = logging.getLogger("snaglist")

NOTE_SECONDS = 10
ACTIVE_SECONDS = 30
activity = Table(
    "activity",
    store.registry_metadata,
    text("application", 64, primary_key=True),
    moment("active_at"),
    Index("ix_activity_active_at", "active_at"),
)
# Also of the near future: clocks are put back.
_RECENT = select(activity.c.application).where(activity.c.active_at.between(bindparam("since"), bindparam("until")))


class Activity:
    """Notes and tells which applications are active."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._here: dict[str, float] = {}  # what was noted in this process, which its own workers need no query for
        self._written: dict[str, float] = {}

    def note(self, application: Application) -> None:
        """Say that something was written in an application just now."""
        now = time.monotonic()
        self._here[application.id] = now
        if now - self._written.get(application.id, -NOTE_SECONDS) < NOTE_SECONDS:
            return
        self._written[application.id] = now
        try:
            with self._service.database.transaction(self._service.applications.registry, write=True) as db:
                upsert(db, activity, [{"application": application.id, "active_at": clock(db)}], replace=("active_at",))
        except (ServiceError, SQLAlchemyError) as error:  # what was written is written
            log.warning("workers find what is to be done in %s later: %s", application.id, type(error).__name__)

    def recent(self) -> set[str]:
        """Return the ids of the active applications."""
        with self._service.database.transaction(self._service.applications.registry, write=False) as db:
            now = clock(db)
            bounds = {"since": times.add(now, seconds=-ACTIVE_SECONDS), "until": times.add(now, seconds=ACTIVE_SECONDS)}
            found = set(db.scalars(_RECENT, bounds))
        limit = time.monotonic() - ACTIVE_SECONDS
        return found | {application_id for application_id, at in list(self._here.items()) if at > limit}

    def forget(self, application: Application) -> None:
        """Drop what is known of an application that was removed."""
        self._here.pop(application.id, None)
        self._written.pop(application.id, None)
        with self._service.database.transaction(self._service.applications.registry, write=True) as db:
            db.execute(delete(activity).where(activity.c.application == application.id))
