"""Endpoints `assign-issue` and `assignable-users`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, NotFound, own
from snaglist.plugins.issues.assignment.service import assign_issues, find_assignee
from snaglist.plugins.issues.ids import hold_issue_ids, resolve_issue_id


def get(call: Call) -> Mapping[str, Any]:
    """List the people that issues of this application can be assigned to."""
    return {"data": call.assignable_users() or []}


def post(call: Call) -> Mapping[str, Any]:
    """Assign one issue, or take its assignment back."""
    with call.transaction(write=False):
        issue_id = resolve_issue_id(call.db, call.body["id"])
    # The host is asked between transactions: it may take its time.
    assignee = find_assignee(call, call.body.get("assigned_to_id"))
    reactions: Mapping[str, Any] = {}
    if assignee.possible:

        def store() -> tuple[int, Mapping[str, Any]]:
            with call.transaction():
                now_id = resolve_issue_id(call.db, issue_id)
                if not hold_issue_ids(call.db, [now_id]):
                    raise NotFound("Unknown issue.")
                return now_id, assign_issues(call, [now_id], assignee)

        issue_id, reactions = call.repeat(store)
    return {**reactions, "id": issue_id, "assigned_to_id": assignee.id, "assigned_to_label": assignee.label}


ENDPOINTS = (
    Endpoint("assign-issue", post=own(post, "issues.write")),
    Endpoint("assignable-users", get=own(get, "issues.read")),
)
