"""Health: the facts a readiness probe and `snaglist doctor` look at."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from snaglist.kernel import Application, ServiceError, Unavailable
from snaglist.kernel.containment import contained
from snaglist.kernel.faults import OF_THE_SCHEMA, Unusable
from snaglist.plugins.system.hookspecs import HealthCheck, health_checks
from snaglist.plugins.system.jobs.leases import worker_alive
from snaglist.plugins.system.looking import Looking, Seen
from snaglist.plugins.system.warnings import config_warnings

if TYPE_CHECKING:
    from snaglist.kernel.service import Service

CACHE_SECONDS = 10
ESSENTIAL = ("python", "driver", "database_version", "database")


class Words(NamedTuple):
    """What to say of a check: that it failed, and what to do."""

    failed: str
    hint: str


WORDS = {
    "python": Words("Python is too old", "install Python 3.11 or newer"),
    "driver": Words(
        "The driver of the database cannot be loaded",
        "install the driver: pip install 'snaglist[postgres]' or 'snaglist[mysql]'",
    ),
    "database_version": Words("The database is too old", "upgrade the database server"),
    "database": Words(
        "The database cannot be read and written",
        "see that the database server runs and SERVICE_DATABASE_URL names it",
    ),
    "schema": Words(
        "The database of an application is not at the newest step",
        "run `snaglist db upgrade`, or upgrade this program: see the lines of the applications",
    ),
    "databases": Words("The database of an application cannot be used", "see the lines of the applications"),
    "applications": Words(
        "An application has no folder that may be written to",
        "see that the data directory exists and is writable",
    ),
    "jobs": Words("Jobs wait and no worker takes them", "start a worker: `snaglist serve` or `snaglist jobs work`"),
    "disk": Words(
        "The disk is nearly full, or the data directory may not be written to",
        "free disk space below the data directory, or make it writable",
    ),
}
NEED_DATABASE = ("database_version", "schema", "databases", "applications", "jobs")


MINIMUM = {"sqlite": (3, 35, 0), "postgresql": (13,), "mysql": (8, 0, 13), "mariadb": (10, 6)}


class Health:
    """Answers the checks; what writes or opens databases is asked at most every 10 seconds."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._lock = threading.Lock()
        self._probed: tuple[float, bool] = (0.0, False)
        self._version: tuple[str, tuple[int, ...]] | None = None
        self._looking = Looking(service)

    def report(self) -> tuple[dict[str, Any], int]:
        """Return the body of `health` and its status: 200 while the node can serve, else 503."""
        listed = _or_empty(self._service.applications.refresh)
        seen = self._looking.look(listed)
        checks = {name: _holds(check) for name, check in self._checks(listed, seen).items()}
        usable = any(one.usable for one in seen.values())
        broken = not all(checks[name] for name in ESSENTIAL) or not usable
        return {
            "status": "ok" if all(checks.values()) and not broken else "degraded",
            "checks": checks,
            "config_warnings": config_warnings(self._service),
            "versions": self._versions(),
        }, 503 if broken else 200

    def version(self) -> tuple[str, tuple[int, ...]]:
        """Return the kind of the database and its version, which is asked once."""
        if self._version is None:
            self._version = self._service.database.version()
        return self._version

    def _checks(self, listed: list[Application], seen: dict[str, Seen]) -> dict[str, Callable[[], bool]]:
        own: dict[str, Callable[[], bool]] = {
            "python": lambda: sys.version_info >= (3, 11),
            "driver": lambda: True,  # a missing driver stops the start
            "database_version": self._version_is_enough,
            "database": self._database,
            "schema": lambda: bool(seen) and not any(one.fault in OF_THE_SCHEMA for one in seen.values()),
            "databases": lambda: (
                bool(seen) and all(one.reached and one.fault in (None, *OF_THE_SCHEMA) for one in seen.values())
            ),
            "applications": lambda: bool(listed) and all(os.access(one.folder, os.W_OK) for one in listed),
            "jobs": lambda: self._jobs(seen),
            "disk": self._disk,
        }
        added = [one for _, one in self._service.plugins.added(health_checks) if _is_asked(one, self._service)]
        return {one.name: partial(one.check, self._service) for one in added} | own

    def _versions(self) -> dict[str, str]:
        kind, found = self._version or ("", ())
        return {
            "service": self._service.version,
            "python": ".".join(map(str, sys.version_info[:3])),
            "database_driver": self._service.database.engine_name,
            "database_version": ".".join(map(str, found)),
            "database_minimum": ".".join(map(str, MINIMUM.get(kind, ()))),
        }

    def _version_is_enough(self) -> bool:
        kind, found = self.version()
        return found >= MINIMUM[kind]

    def _database(self) -> bool:
        with self._lock:
            probed_at, fine = self._probed
            if not fine or time.monotonic() - probed_at > CACHE_SECONDS:
                self._probed = (time.monotonic(), self._probe())
            return self._probed[1]

    def _probe(self) -> bool:
        try:
            with self._service.database.transaction(self._service.applications.registry, write=True):
                return True
        except Unusable:
            return False
        except Unavailable as error:
            return "locked" in str(error.__cause__) or "busy" in error.message
        except SQLAlchemyError:
            return False

    def _jobs(self, seen: dict[str, Seen]) -> bool:
        if not seen or any(one.late for one in seen.values()):
            return False
        return not any(one.waiting for one in seen.values()) or worker_alive(self._service)

    def _disk(self) -> bool:
        data = self._service.settings.data
        return (
            os.access(data, os.W_OK) and shutil.disk_usage(data).free >= self._service.settings["health.min_free_bytes"]
        )


def words(service: "Service", name: str) -> Words:
    """Return what to say of a check that fails."""
    added = {one.name: Words(one.name, one.hint) for _, one in service.plugins.added(health_checks)}
    return (added | WORDS).get(name, Words(name, "see its plugin"))


def _is_asked(one: HealthCheck, service: "Service") -> bool:
    try:
        return contained(one.asked, service)
    except Exception:
        return True  # its check will say


def _holds(check: Callable[[], bool]) -> bool:
    try:
        return contained(lambda: check() is True)  # nothing else: a text or an object tells nobody that all is well
    except (ServiceError, SQLAlchemyError, OSError):
        return False
    except Exception:  # a plugin's check
        return False


def _or_empty(read: Callable[[], list[Application]]) -> list[Application]:
    try:
        return read()
    except (ServiceError, SQLAlchemyError):
        return []
