"""The answer of endpoints that queue a job."""

import time
from collections.abc import Mapping
from typing import Any

from snaglist.kernel.call import Call
from snaglist.kernel.endpoints import Reply
from snaglist.kernel.errors import Conflict, ServiceError

WAIT_SECONDS = 30.0


def job_reply(call: Call, job_id: int, extra: Mapping[str, Any] | None = None) -> Reply:
    """Answer for a queued job: 202 at once, or with `wait` its outcome, held for at most 30 seconds."""
    if not call.query.get("wait"):  # how far a quick worker is by now is no part of this answer, nor is a failure
        return Reply({"job_id": job_id, "status": "queued", **(extra or {})}, 202)
    deadline = time.monotonic() + WAIT_SECONDS
    while (reply := job_state(call, job_id, extra)).status == 202 and time.monotonic() < deadline:
        time.sleep(0.02)
    return reply


def job_state(call: Call, job_id: int, extra: Mapping[str, Any] | None = None) -> Reply:
    """Answer for a job as it is now: 200 with its result, or 202; a failure is raised."""
    with call.transaction(write=False):
        row = call.service.jobs.find(call, job_id)
    if row["status"] == "succeeded":
        return Reply({"job_id": job_id, "status": "succeeded", **(row["result"] or {})})
    if row["status"] == "cancelled":
        raise Conflict("The job was cancelled.")
    if row["status"] == "failed":
        failure = ServiceError(row["error"] or "The job failed.")
        failure.status = row["error_status"] or 500
        raise failure
    return Reply({"job_id": job_id, "status": row["status"], **(extra or {})}, 202)
