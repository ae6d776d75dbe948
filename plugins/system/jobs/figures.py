"""Figures of the jobs table, for whoever shows them."""

from collections.abc import Iterable

from sqlalchemy import func, select

from snaglist.kernel import Call, times
from snaglist.kernel.database import clock
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.jobs.queue import queued_for

Figures = Iterable[tuple[dict[str, str], float]]
_jobs = tables.jobs


def read_unfinished(call: Call) -> Figures:
    """Jobs that are not finished, by kind and status."""
    unfinished = _jobs.c.status.in_(("queued", "running"))
    rows = select(_jobs.c.kind, _jobs.c.status, func.count()).where(unfinished).group_by(_jobs.c.kind, _jobs.c.status)
    return [
        ({"kind": kind, "status": status}, float(n)) for kind, status, n in sorted(map(tuple, call.db.execute(rows)))
    ]


def read_wait(call: Call) -> Figures:
    """Seconds that the oldest job has been due without being started; 0 when none waits."""
    now = clock(call.db)
    oldest = call.db.scalar(select(func.min(_jobs.c.run_at)).where(queued_for(now)))
    waited = (times.read(now) - times.read(oldest)).total_seconds() if oldest else 0.0
    return [({}, max(0.0, waited))]


METRICS = {"jobs_unfinished": read_unfinished, "jobs_wait_seconds": read_wait}
