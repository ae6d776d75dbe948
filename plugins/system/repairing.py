"""Looking through a SQLite file for damage, and putting one that cannot be used aside."""

import sqlite3
import time
from contextlib import suppress
from pathlib import Path

from snaglist.kernel import Unavailable, times
from snaglist.kernel.database import files_of
from snaglist.kernel.faults import DAMAGED, Tenant, Unusable, fault_of, look
from snaglist.kernel.service import Service

CHECK_SECONDS = 60


def check(service: Service, tenant: Tenant, *, seconds: float = CHECK_SECONDS) -> bool:
    """Look through a SQLite file for damage; False when the time was not enough for all of it.

    Raises Unusable, and remembers it, when it is damaged or cannot be opened, Unavailable when somebody keeps it
    locked. Servers look after that themselves.
    """
    if service.database.engine_name != "sqlite":
        return True
    if fault := look(tenant.file):
        raise Unusable(tenant, fault)
    whole: bool | None = None
    try:
        whole = _sound(tenant.file, seconds)
        fault = DAMAGED if whole is False else None
    except sqlite3.Error as error:  # that it cannot be read now is no damage, for which it would be put aside
        fault = fault_of(error, tenant.file)
        if fault is None:
            raise Unavailable(f"The {tenant.label} cannot be looked through now ({error}); try again.") from error
    if fault is DAMAGED:
        service.database.faults.note(tenant, fault, "found by looking through it")
    if fault:
        raise Unusable(tenant, fault)
    return bool(whole)


def set_aside(service: Service, tenant: Tenant) -> None:
    """Move a database that cannot be used out of the way, under a name that tells when; on servers drop it."""
    if service.database.engine_name != "sqlite":
        service.database.drop(tenant)
        return
    service.database.release(tenant)
    suffix = f"unusable-{times.now().replace(' ', 'T').replace(':', '')}"
    for file in files_of(tenant.file):
        with suppress(FileNotFoundError):
            file.rename(file.with_name(f"{file.name}.{suffix}"))


def _sound(file: Path, seconds: float) -> bool | None:
    end = time.monotonic() + seconds
    db = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        db.set_progress_handler(lambda: time.monotonic() > end, 10_000)
        return [row[0] for row in db.execute("PRAGMA quick_check(1)")] == ["ok"]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return None
        raise
    except UnicodeDecodeError:  # what SQLite says of a damaged schema quotes it
        return False
    finally:
        db.close()
