"""What is wrong with a database that cannot be used: told from the codes of the drivers and from the file itself.

Each fault has a name, and what is said of it to everybody.
"""

import logging
import os
import shutil
import sqlite3
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy.exc import DBAPIError

from snaglist.kernel.errors import Unavailable

__all__ = [
    "BEHIND", "DAMAGED", "DENIED", "FOREIGN", "FULL", "MISSING", "NEWER", "OF_THE_SCHEMA", "READONLY", "Fault",
    "Tenant", "Unusable", "fault_of", "look", "names_no_table",
]  # fmt: skip

log = logging.getLogger("snaglist")


class Tenant(Protocol):
    """What names one database: a SQLite file, or a schema or database on a server."""

    @property
    def id(self) -> str:
        """Id of the application; empty for the registry."""

    @property
    def label(self) -> str:
        """How messages name it, behind the article."""

    @property
    def tenant(self) -> str:
        """Name on a server."""

    @property
    def file(self) -> Path:
        """File on SQLite."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`said` goes on from "The database of …"; `retry_after`: seconds. What to do about it says the area `system`."""

    name: str
    said: str
    retry_after: int


DAMAGED = Fault("damaged", "is damaged", 300)
MISSING = Fault("missing", "is missing or empty", 300)
FOREIGN = Fault("foreign", "is not one of snaglist", 300)
DENIED = Fault("denied", "may not be used by this user", 300)
READONLY = Fault("readonly", "cannot be written to", 60)
FULL = Fault("full", "has no room left: the disk is full", 60)
NEWER = Fault("newer", "was made by a newer snaglist", 60)
BEHIND = Fault("behind", "is behind this version", 10)
OF_THE_SCHEMA = (BEHIND, NEWER)


class Unusable(Unavailable):
    """A database that cannot be used until somebody does something about it; the message names it and the fault."""

    def __init__(self, tenant: Tenant, fault: Fault, what: str = "") -> None:
        said = what or f"The {tenant.label} {fault.said}"
        super().__init__(f"{said}.", retry_after=fault.retry_after)
        self.tenant, self.fault = tenant, fault


def look(file: Path) -> Fault | None:
    """Say what a look at a SQLite file, without opening it, finds wrong."""
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return MISSING
    except OSError:
        return DENIED
    if not stat.S_ISREG(found.st_mode):
        return FOREIGN
    if not found.st_size:
        return MISSING
    if not _may(file, os.R_OK):
        return DENIED
    if not _may(file, os.W_OK) or not _may(file.parent, os.W_OK | os.X_OK):
        ours = not hasattr(os, "geteuid") or os.geteuid() in (found.st_uid, 0)
        return READONLY if ours or os.statvfs(file).f_flag & os.ST_RDONLY else DENIED
    return None


def _may(path: Path, how: int) -> bool:
    return os.access(path, how, effective_ids=os.access in os.supports_effective_ids)


def fault_of(error: DBAPIError | sqlite3.Error, file: Path) -> Fault | None:
    """Say what a failure of a driver tells of the database; None for what waiting or the caller may mend."""
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.Error):
        return _sqlite_fault(original, file)
    code = code_of(original)
    return next((fault for fault, codes in _SERVER_CODES.items() if code in codes), None)


def _sqlite_fault(error: sqlite3.Error, file: Path) -> Fault | None:
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(error) == "unsupported file format":
        return look(file) or DAMAGED
    if code == sqlite3.SQLITE_FULL:
        return FULL
    if code in _OF_THE_FILE:
        found = look(file)
        if found or code != sqlite3.SQLITE_IOERR:
            return found or (READONLY if code == sqlite3.SQLITE_READONLY else None)
        if not shutil.disk_usage(file.parent).free:
            return FULL
        return DAMAGED if extended in _UNREADABLE else None
    return None


_OF_THE_FILE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
_UNREADABLE = (sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)
# SQLSTATEs of PostgreSQL, numbers of MySQL and MariaDB.
_SERVER_CODES: dict[Fault, set[str | int]] = {
    MISSING: {"3F000", 1049},
    DENIED: {"42501", 1044},
    FULL: {"53100", 1021, 1114},
    READONLY: {"25006", 1290, 1836},
}
_NO_TABLE = ("42P01", 1146)


def names_no_table(error: DBAPIError | sqlite3.Error) -> bool:
    """Tell whether a statement named a table that is not there."""
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, sqlite3.OperationalError):
        return str(original).startswith("no such table")
    return code_of(original) in _NO_TABLE


def code_of(original: BaseException | None) -> str | int | None:
    """Return the SQLSTATE (PostgreSQL) or the error number (MySQL, MariaDB)."""
    first = next(iter(getattr(original, "args", ())), None)
    state: str | None = getattr(original, "sqlstate", None)
    return first if isinstance(first, int) else state


class KnownFaults:
    """The faults that this process met, of a damaged file until it is another one, of others for a while."""

    def __init__(self, *, files: bool) -> None:
        self._files = files  # on servers a tenant's file means nothing
        self._known: dict[str, _Known] = {}

    def of(self, tenant: Tenant) -> Fault | None:
        """Say what is known, or seen by a look at the file, to be wrong with a database, without opening it."""
        known = self._known.get(tenant.tenant)
        if known and known.holds(tenant.file):
            return known.fault
        return look(tenant.file) if self._files else None

    def note(self, tenant: Tenant, fault: Fault, why: object = None) -> None:
        """Remember what somebody found; `why` is for the log."""
        known = self._known.get(tenant.tenant)
        if why and not (known and known.fault is fault):  # else the log has it
            place = tenant.file if self._files else tenant.tenant
            log.warning("%s: the %s %s: %s; `snaglist doctor` says what to do", place, tenant.label, fault.said, why)
        self._known[tenant.tenant] = _Known(fault, _stamp(tenant.file), time.monotonic())

    def forget(self, tenant: Tenant) -> None:
        """Think nothing of a database."""
        self._known.pop(tenant.tenant, None)

    def refuse_damaged(self, tenant: Tenant) -> None:
        """Raise Unusable for a file that was found damaged, until it is another one: writing may damage it more."""
        known = self._known and self._known.get(tenant.tenant)
        if known and known.fault is DAMAGED:
            if known.holds(tenant.file):
                raise Unusable(tenant, DAMAGED)
            self.forget(tenant)

    def recovered(self, tenant: Tenant, write: bool) -> None:
        """A transaction went well: forget what that disproves."""
        known = self._known and self._known.get(tenant.tenant)
        if known and known.fault is not DAMAGED and (write or known.fault not in (FULL, READONLY)):
            self.forget(tenant)


@dataclass(frozen=True, slots=True)
class _Known:
    fault: Fault
    stamp: tuple[int, ...] | None
    at: float

    def holds(self, file: Path) -> bool:
        """Tell whether it may be assumed still."""
        if self.fault is DAMAGED:
            return self.stamp == _stamp(file)
        return time.monotonic() - self.at < self.fault.retry_after


def _stamp(file: Path) -> tuple[int, ...] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
