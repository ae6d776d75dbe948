"""Endpoint `issue-status`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, ServiceError, own
from snaglist.plugins.issues.status.service import change_status
from snaglist.plugins.system import job_reply


def post(call: Call) -> Mapping[str, Any]:
    """Set the status of one issue; with `wait`, wait for the jobs that plugins queued because of it."""
    answer = call.repeat(lambda: _change(call))
    if not call.query["wait"]:
        return answer
    return {name: _awaited(call, value) if _is_queued(value) else value for name, value in answer.items()}


def _change(call: Call) -> dict[str, Any]:
    body = call.body
    with call.transaction():
        return change_status(
            call,
            body["id"],
            body["status"],
            note=body.get("note"),
            release=body.get("release"),
            comment=body["comment"],
            expected=body.get("expected"),
        )


def _is_queued(reaction: Any) -> bool:
    return isinstance(reaction, Mapping) and isinstance(reaction.get("job_id"), int)


def _awaited(call: Call, reaction: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a plugin's job; that it failed is part of the answer, for the status is changed."""
    try:
        reply = job_reply(call, reaction["job_id"])
    except ServiceError as error:
        return {"attempted": True, "ok": False, "error": error.message}
    if reply.status != 200:
        return {**reaction, "ok": False, "error": f"Job {reaction['job_id']} goes on with it."}
    return {"attempted": True, **{name: reply.body[name] for name in reply.body if name not in ("job_id", "status")}}


ENDPOINTS = (Endpoint("issue-status", post=own(post, "issues.write")),)
