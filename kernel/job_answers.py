"""The answer of endpoints that queue a job."""

import time
from collections.abc import Mapping
from typing import Any

from snaglist.kernel.call import Call
from snaglist.kernel.endpoints import Reply
from snaglist.kernel.errors import Conflict, ServiceError

WAIT_SECONDS = 30.0
_LOOK_SECONDS = 0.02


def job_reply(call: Call, job_id: int, extra: Mapping[str, Any] | None = None) -> Reply:
    """Answer for a queued job: 202 at once, or with `wait` its outcome, held for at most 30 seconds."""
    jobs = call.service.jobs
    deadline = time.monotonic() + (WAIT_SECONDS if call.query.get("wait") else 0)
    while True:
        with call.transaction(write=False):
            row = jobs.find(call, job_id)
        if row["status"] == "succeeded":
            return Reply({"job_id": job_id, "status": "succeeded", **(row["result"] or {})})
        if row["status"] == "cancelled":
            raise Conflict("The job was cancelled.")
        if row["status"] == "failed":
            failure = ServiceError(row["error"] or "The job failed.")
            failure.status = row["error_status"] or 500
            raise failure
        if time.monotonic() >= deadline:
            return Reply({"job_id": job_id, "status": row["status"], **(extra or {})}, 202)
        time.sleep(_LOOK_SECONDS)
