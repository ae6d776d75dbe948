"""Workers: their ids, their signs of life, and which of them are gone."""

import os
import uuid

from sqlalchemy import Index, Table, delete, select

from snaglist.kernel import Installation, store, times
from snaglist.kernel.columns import moment, text
from snaglist.kernel.database import clock, upsert

HEARTBEAT_SECONDS = 5
POLL_SECONDS = 1.0
ALIVE_SECONDS = 30

workers = Table(
    "workers",
    store.registry_metadata,
    text("id", 120, primary_key=True),
    text("kind", 20),
    moment("started_at"),
    moment("heartbeat_at"),
    text("version", 32),
    Index("ix_workers_heartbeat_at", "heartbeat_at"),
)


def worker_id(node: str) -> str:
    """Return a new worker's id: node, process namespace, process and a random part."""
    return f"{place(node)}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def place(node: str) -> str:
    """Return where a process id means something: node and process namespace."""
    # Containers may share a host name but not process ids, so the namespace belongs to the place.
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        namespace = 0
    return f"{node[:64]}:{namespace}"


def is_gone(worker: str, here: str) -> bool:
    """Tell whether a worker of this place has no process any more: its leases are free at once."""
    if not worker.startswith(f"{here}:"):
        return False
    try:
        os.kill(int(worker.split(":")[-2]), 0)
    except OSError as error:
        return isinstance(error, ProcessLookupError)
    return False


def heartbeat(service: Installation, worker: str, kind: str) -> None:
    """Record that a worker lives."""
    with service.database.transaction(service.applications.registry, write=True) as db:
        now = clock(db)
        row = {"id": worker, "kind": kind, "started_at": now, "heartbeat_at": now, "version": service.version}
        upsert(db, workers, [row], replace=("heartbeat_at",))
        db.execute(delete(workers).where(workers.c.heartbeat_at < times.add(now, days=-1)))


def worker_alive(service: Installation) -> bool:
    """Tell whether any worker gave a sign of life in the last 30 seconds, and has not ended since."""
    with service.database.transaction(service.applications.registry, write=False) as db:
        since = times.add(clock(db), seconds=-ALIVE_SECONDS)
        recent = db.execute(select(workers.c.id).where(workers.c.heartbeat_at >= since)).scalars()
        return any(not is_gone(worker, place(service.settings.node)) for worker in recent)
