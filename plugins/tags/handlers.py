"""HTTP in, HTTP out: `tags` and `issue-tags`."""

from collections.abc import Callable, Mapping
from typing import Any

from snaglist.kernel import Call, NotFound
from snaglist.plugins.issues import resolve_issue_id
from snaglist.plugins.tags import rebuild, rules, service
from snaglist.plugins.tags.on_issues import OnIssues


def get_tags(call: Call) -> Mapping[str, Any]:
    """Answer all tags, or how many issues a rule would match."""
    word = call.query.get("preview")
    if word:
        return {"preview": {"match_word": word, "issue_count": rules.count_matches(call, word)}}
    return {"data": service.list_tags(call)}


def post_tag(call: Call) -> Mapping[str, Any]:
    """Create a tag and apply its rule."""
    return _apply(call, lambda: service.create_tag(call, call.body))


def change_tag(call: Call) -> Mapping[str, Any]:
    """Change a tag and apply its rule. With PUT the schema has filled in what the body omits."""
    tag_id: int = call.body["id"]

    def change() -> int:
        service.update_tag(call, tag_id, call.body)
        return tag_id

    return _apply(call, change)


def delete_tag(call: Call) -> Mapping[str, Any]:
    """Delete a tag and everything that hangs on it."""
    tag_id = call.body["id"]
    service.delete_tag(call, tag_id)
    return {"id": tag_id, "deleted": True}


def _apply(call: Call, change: Callable[[], int]) -> dict[str, Any]:
    """Store a change of a tag together with what its rule does to the issues; returns the tag.

    What takes longer than some seconds is left to a job that is still under way then.
    """

    def store() -> tuple[int, int | None]:
        with call.transaction():
            tag_id = change()
            return tag_id, rebuild.start(call, tag_id)

    tag_id, job_id = call.repeat(store)
    if job_id is not None:
        rebuild.wait(call, job_id)
    with call.transaction(write=False):
        return service.get_tag(call, tag_id)


def post_issue_tag(call: Call) -> Mapping[str, Any]:
    """Add a tag to an issue, or remove it, by hand."""
    group_id, tag_id, action = (call.body[name] for name in ("group_id", "tag_id", "action"))
    issue_id = resolve_issue_id(call.db, group_id)
    by_hand = OnIssues().put_on if action == "add" else OnIssues().take_off
    if not by_hand(call, [issue_id], tag_id):
        raise NotFound("Unknown issue.")
    return {"groupId": group_id, "tagId": tag_id, "action": action}
