"""HTTP of `bulk-issues`: small work is done here, large work is queued."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, select

from snaglist.kernel import Call, Invalid, Reply
from snaglist.plugins.issues.assignment import find_assignee
from snaglist.plugins.issues.bulk.actions import ACTIONS, prepare
from snaglist.plugins.issues.bulk.jobs import refresh_samples
from snaglist.plugins.issues.bulk.kept import KIND
from snaglist.plugins.issues.bulk.request import check, choose
from snaglist.plugins.issues.tables import groupings, issues
from snaglist.plugins.system import job_reply, rows

MAX_ISSUES = 200
MAX_OCCURRENCES = 10_000


def post(call: Call) -> Reply | Mapping[str, Any]:
    """Do one action on the issues that the body names."""
    check(call.body, call.now)
    action = call.body["action"]
    fields = {name: value for name, value in call.body.items() if name not in ("ids", "filter")}
    if action == "assign":
        # The host is asked between transactions: it may take its time.
        fields["assignee"] = asdict(find_assignee(call, call.body.get("assigned_to_id")))

    def attempt() -> tuple[Mapping[str, Any], int | None]:
        with call.transaction():
            prepared = prepare(call, action, fields)
            ids = choose(call, call.body, prepared.get("done"))
            if _is_large(call, action, ids):
                args = {"action": action, "ids": ids, "fields": fields, "actor": call.label}
                return {}, call.enqueue(KIND, args, total=len(ids))
            outcome = ACTIONS[action](call, ids, prepared)
            if outcome.gone and "ids" in call.body:  # deleted by another request since they were looked up
                raise Invalid(f"ids: unknown issue {min(outcome.gone)}")
            return outcome.answer(action, ids), None

    answer, job_id = call.repeat(attempt)
    if job_id is not None:
        return job_reply(call, job_id)
    if action == "unmerge":
        refresh_samples(call, answer)
    return answer


def _is_large(call: Call, action: str, ids: Sequence[int]) -> bool:
    if len(ids) > MAX_ISSUES:
        return True
    if action == "unmerge":
        stored = select(groupings.c["count"]).where(groupings.c.id == call.body["grouping_id"])
        return int(call.db.execute(stored).scalar() or 0) > MAX_OCCURRENCES
    if action not in ("merge", "delete"):
        return False
    stored = select(func.coalesce(func.sum(issues.c.stored_occurrences), 0))
    return sum(int(row[0]) for row in rows.among(call.db, stored, issues.c.id, ids)) > MAX_OCCURRENCES
