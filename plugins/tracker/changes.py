"""What happens here to issues that are linked: their statuses go out, their links follow merges."""

from collections.abc import Collection, Mapping
from typing import Any

from snaglist.kernel import Call
from snaglist.plugins.issues import IssueChange, StoredBatch, move_external
from snaglist.plugins.tracker import queries
from snaglist.plugins.tracker import settings as stored
from snaglist.plugins.tracker.kinds import PUSH

CAME_BACK = "It happened again."


def follow(call: Call, change: IssueChange) -> Mapping[str, Any] | None:
    """React to a change of issues, in its own transaction: only a job is queued."""
    details = change.details
    if change.kind == "merge" and isinstance(target_id := details.get("target_id"), int):
        _merge(call, change.issue_ids, target_id)
    if change.kind != "status" or details.get("followed"):
        return None
    note = details.get("note")
    told = {"note": note if isinstance(note, str) else None, "comment": bool(details.get("comment"))}
    job_id = _queue(call, change.issue_ids, str(details["status"]), told)
    return None if job_id is None else {"attempted": True, "queued": True, "job_id": job_id}


def come_back(call: Call, batch: StoredBatch) -> None:
    """Tell the tracker about fixed issues that new events turned to reoccurred."""
    if batch.reoccurred_issues:
        _queue(call, batch.reoccurred_issues, "reoccurred", {"note": CAME_BACK, "comment": True})


def _queue(call: Call, issue_ids: Collection[int], status: str, told: Mapping[str, Any]) -> int | None:
    settings = stored.load(call.db)
    if not (settings.enabled and settings.status_writeback):
        return None
    ids = sorted(queries.linked(call.db, issue_ids, settings.provider))
    if not ids:
        return None
    args = {"provider": settings.provider, "ids": ids, "status": status, "at": call.now, "actor": call.label, **told}
    return call.enqueue(PUSH, args, total=len(ids))


def _merge(call: Call, merged: Collection[int], target_id: int) -> None:
    """Give the target the item of one of the merged issues, unless it has its own."""
    links = queries.linked(call.db, [*merged, target_id])
    free = target_id not in links
    for issue_id in sorted(merged):
        if issue_id in links:
            move_external(call, issue_id, target_id if free else None)
            if free:
                queries.move_link(call.db, issue_id, target_id)
            free = False
