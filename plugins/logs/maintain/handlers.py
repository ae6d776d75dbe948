"""The endpoints and jobs of maintenance."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, Invalid, Reply, own, read
from snaglist.plugins.logs.maintain import deletion, forgetting, reindexing, retention
from snaglist.plugins.system import Job, job_reply

CONFIRMATION = "DELETE LOGS"
FORGETTING = "FORGET USER"


def show_preview(call: Call) -> Mapping[str, Any]:
    """Show what a deletion would remove."""
    return deletion.preview(call, *_scope(call.query))


def delete_logs(call: Call) -> Reply:
    """Delete what was stored of a day or a source, much of it as a job."""
    scope = _scope(call.body)
    if call.body["confirmation"] != CONFIRMATION:
        raise Invalid(f"confirmation: must be exactly {CONFIRMATION}")

    def work() -> tuple[dict[str, Any], int | None]:
        with call.transaction():
            return deletion.begin(call, *scope)

    result, job_id = call.repeat(work)
    return Reply(result) if job_id is None else job_reply(call, job_id, {"preview": result})


def show_user_events(call: Call) -> Mapping[str, Any]:
    """Show what forgetting somebody would remove."""
    return forgetting.preview(call, call.query["user"])


def forget_user(call: Call) -> Reply:
    """Queue the job that removes all events of somebody, with what was kept of them."""
    if call.body["confirmation"] != FORGETTING:
        raise Invalid(f"confirmation: must be exactly {FORGETTING}")

    def work() -> tuple[dict[str, Any], int]:
        with call.transaction():
            return forgetting.begin(call, call.body["user"])

    shown, job_id = call.repeat(work)
    return job_reply(call, job_id, {"preview": shown})


def show_retention(call: Call) -> Mapping[str, Any]:
    """Show the rules for archived files and what is archived."""
    return retention.archive_state(call)


def prune(call: Call) -> Reply:
    """Apply the rules for archived files now."""
    before = retention.archive_state(call)
    return Reply({"status": before, "pruned": retention.prune_archive(call)})


def reindex(call: Call) -> Reply:
    """Queue the reindex."""
    with call.transaction():
        job_id = reindexing.start(call, call.body.get("source_id"), call.body.get("module_id"))
    return job_reply(call, job_id)


def _scope(given: Mapping[str, Any]) -> tuple[str | None, int | None]:
    if ("date" in given) == ("source_id" in given):
        raise Invalid("date: exactly one of date and source_id must be given")
    return given.get("date"), given.get("source_id")


ENDPOINTS = (
    Endpoint("log-deletion-preview", get=read(show_preview, "settings.read")),
    Endpoint("delete-logs", post=own(delete_logs, "settings.write", 200, 202)),
    Endpoint("user-events-preview", get=read(show_user_events, "settings.read")),
    Endpoint("forget-user", post=own(forget_user, "settings.write", 202, 200)),
    Endpoint(
        "processed-retention", get=own(show_retention, "settings.read"), post=own(prune, "settings.write", 202, 200)
    ),
    Endpoint("reindex", post=own(reindex, "settings.write", 202, 200)),
)

JOBS = (
    Job(reindexing.JOB, reindexing.run, unit="bytes", local=True),
    Job(deletion.JOB, deletion.run, unit="occurrences"),
    Job(forgetting.JOB, forgetting.run, unit="occurrences"),
    Job(
        retention.JOB,
        retention.run,
        unit="occurrences",
        every="retention.interval_seconds",
        due=retention.due,
        rests=retention.rests,
    ),
)
