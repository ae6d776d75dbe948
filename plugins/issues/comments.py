"""Comments: what people say about an issue, in its history; they change nothing of it."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import insert

from snaglist.kernel import Call, Endpoint, NotFound, write
from snaglist.kernel.database import inserted_id
from snaglist.plugins.issues import history
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import IssueChange
from snaglist.plugins.issues.ids import hold_issue_ids, resolve_issue_id
from snaglist.plugins.issues.tables import status_history


def post(call: Call) -> Mapping[str, Any]:
    """Add a comment; answers the row of the history that it is."""
    issue_id, text = resolve_issue_id(call.db, call.body["id"]), call.body["text"]
    if not hold_issue_ids(call.db, [issue_id]):
        raise NotFound("Unknown issue.")
    row = history.entry(issue_id, "comment", call.now, actor=call.label, note=text)
    comment_id = inserted_id(call.db.execute(insert(status_history).values(row)))
    tell_change(call, IssueChange("comment", (issue_id,), {"text": text}))
    return history.shown(row | {"id": comment_id})


ENDPOINTS = (Endpoint("issue-comments", post=write(post, "issues.write", 201)),)
