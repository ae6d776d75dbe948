"""Trying a job again."""

from snaglist.kernel import Call, Conflict


def retry(call: Call, job_id: int) -> int:
    """Queue a new job like a failed or cancelled one; Conflict while an unfinished one has the same `dedupe`."""
    jobs = call.service.jobs
    row = jobs.find(call, job_id)
    if row["status"] not in ("failed", "cancelled"):
        raise Conflict("Only failed and cancelled jobs can be retried.")
    if row["kind"] not in jobs.kinds:
        raise Conflict("The area of this job is not installed.")
    same = {name: row[name] for name in ("kind", "args", "total", "unit", "max_attempts", "node")}
    return jobs.queue(call, **same, dedupe=row["dedupe"] and row["dedupe"].rpartition("#")[0])
