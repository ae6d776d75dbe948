"""Maintenance of what was imported: reading it again, deleting it, and how long it stays."""

from snaglist.kernel import Job
from snaglist.plugins.logs.maintenance import deletion, reindexing, retention
from snaglist.plugins.logs.maintenance.handlers import ENDPOINTS

JOBS = (
    Job(reindexing.JOB, reindexing.run, unit="bytes", local=True),
    Job(deletion.JOB, deletion.run, unit="occurrences"),
    Job(
        retention.JOB,
        retention.run,
        unit="occurrences",
        every="retention.interval_seconds",
        due=retention.due,
        rests=retention.rests,
    ),
)

__all__ = ["ENDPOINTS", "JOBS"]
