"""What people do to issues, as far as it changes what fired and what was counted for them."""

from snaglist.kernel import Call
from snaglist.plugins.alerting.evaluating import minutes, queries
from snaglist.plugins.issues import IssueChange


def follow(call: Call, change: IssueChange) -> None:
    """Follow merged, unmerged and deleted issues."""
    ids = set(change.issue_ids)
    if change.kind == "merge" and isinstance(target := change.details.get("target_id"), int):
        gone = ids - {target}
        queries.copy_fired(call.db, gone, target)
        queries.forget_fired(call.db, gone)
        minutes.move(call.db, gone, target)
    elif change.kind == "unmerge" and isinstance(new := change.details.get("new_id"), int):
        queries.copy_fired(call.db, ids - {new}, new)
        queries.note_known(call.db, new, call.now)
    elif change.kind == "delete":
        queries.forget_fired(call.db, ids)
        minutes.forget(call.db, ids)
