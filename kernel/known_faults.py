"""What was found wrong with databases, so that nobody has to open one to know, and a damaged file is left alone."""

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from snaglist.kernel.faults import DAMAGED, FULL, READONLY, Fault, Unusable, look

if TYPE_CHECKING:
    from snaglist.kernel.database import Tenant

log = logging.getLogger("snaglist")


class KnownFaults:
    """The faults that this process met, of a damaged file until it is another one, of others for a while."""

    def __init__(self, *, files: bool) -> None:
        self._files = files  # on servers a tenant's file means nothing
        self._known: dict[str, _Known] = {}

    def of(self, tenant: "Tenant") -> Fault | None:
        """Say what is known, or seen by a look at the file, to be wrong with a database, without opening it."""
        known = self._known.get(tenant.tenant)
        if known and known.holds(tenant.file):
            return known.fault
        return look(tenant.file) if self._files else None

    def note(self, tenant: "Tenant", fault: Fault, why: object = None) -> None:
        """Remember what somebody found; `why` is for the log."""
        known = self._known.get(tenant.tenant)
        if why and not (known and known.fault is fault):  # else the log has it
            place = tenant.file if self._files else tenant.tenant
            log.warning("%s: the %s %s: %s; `snaglist doctor` says what to do", place, tenant.label, fault.said, why)
        self._known[tenant.tenant] = _Known(fault, _stamp(tenant.file), time.monotonic())

    def forget(self, tenant: "Tenant") -> None:
        """Think nothing of a database."""
        self._known.pop(tenant.tenant, None)

    def refuse_damaged(self, tenant: "Tenant") -> None:
        """Raise Unusable for a file that was found damaged, until it is another one: writing may damage it more."""
        known = self._known and self._known.get(tenant.tenant)
        if known and known.fault is DAMAGED:
            if known.holds(tenant.file):
                raise Unusable(tenant, DAMAGED)
            self.forget(tenant)

    def recovered(self, tenant: "Tenant", write: bool) -> None:
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
