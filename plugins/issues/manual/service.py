"""Rules of manual issues."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from snaglist.kernel import Call, Invalid, NotFound, digest
from snaglist.plugins.issues import history
from snaglist.plugins.issues.above import tagging
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import RANK, IssueChange
from snaglist.plugins.issues.ids import resolve_issue_id
from snaglist.plugins.issues.manual import queries
from snaglist.plugins.issues.modules import hold_module
from snaglist.plugins.issues.storing.samples import search_text
from snaglist.plugins.issues.totals import Totals

CHANNEL = LOG_TYPE = ORIGIN = "manual"
DEFAULTS: Mapping[str, Any] = {
    "kind": "issue",
    "severity": "INFO",
    "status": "open",
    "source_frame": None,
    "environment": "local",
    "note": "Created manually",
    "tag_ids": (),
    "module_id": None,
}


def create_issue(call: Call, fields: Mapping[str, Any]) -> int:
    """Create a manual issue in the open write transaction and return its id.

    `fields` are those of POST `issues`: `title` is required, `description` is the title when left out.
    """
    given = {"description": fields["title"], **DEFAULTS, **fields}
    _check_module(call, given["module_id"])
    now = call.now
    issue_id = queries.add_issue(
        call.db,
        {
            "origin": ORIGIN,
            "kind": given["kind"],
            "module_id": given["module_id"],
            "environment": given["environment"],
            "log_type": LOG_TYPE,
            "channel": CHANNEL,
            "fingerprint": digest(f"{ORIGIN}|{uuid4()}"),
            "count": 0,
            "stored_occurrences": 0,
            "first_seen": now,
            "last_seen": now,
            "status": given["status"],
            "fixed_at": now if given["status"] == "fixed" else None,
            "created_at": now,
            "updated_at": now,
            **_text_columns(given),
        },
        given["description"],
    )
    created = history.entry(
        issue_id, "created", now, actor=call.label, note=given["note"] or None, to_status=given["status"]
    )
    history.append(call.db, [created])
    for tag_id in sorted(set(given["tag_ids"])):
        try:
            tagging(call).put_on(call, [issue_id], tag_id)
        except NotFound as unknown:
            raise Invalid(f"tag_ids: unknown tag {tag_id}") from unknown
    totals = Totals()
    totals.add(given["status"], given["severity"], LOG_TYPE, 0)
    totals.write(call.db)
    tell_change(call, IssueChange("created", (issue_id,)))
    return issue_id


def edit_issue(call: Call, issue_id: int, fields: Mapping[str, Any]) -> int:
    """Change given fields of a manual issue in the open write transaction; returns its id.

    `fields` may hold title, description, kind, severity, source_frame, environment and module_id.
    """
    issue_id = resolve_issue_id(call.db, issue_id)
    before = queries.lock_issue(call.db, issue_id)
    if before is None:
        raise NotFound("Unknown issue.")
    if before["origin"] != ORIGIN:
        raise Invalid("id: only manual issues can be edited")
    changed = {name: fields[name] for name in queries.EDITABLE if name in fields and fields[name] != before[name]}
    if not changed:
        return issue_id
    if "module_id" in changed:
        _check_module(call, changed["module_id"])
    after = {**before, **changed}
    columns = {name: after[name] for name in queries.EDITABLE if name != "description"}
    queries.update_issue(
        call.db, issue_id, {**columns, **_text_columns(after), "updated_at": call.now}, after["description"]
    )
    note = f"Changed: {', '.join(changed)}"
    history.append(call.db, [history.entry(issue_id, "edit", call.now, actor=call.label, note=note)])
    totals = Totals()
    totals.remove(before["status"], before["severity"], LOG_TYPE, before["count"])
    totals.add(before["status"], after["severity"], LOG_TYPE, before["count"])
    totals.write(call.db)
    tell_change(call, IssueChange("edit", (issue_id,), {"fields": tuple(changed)}))
    return issue_id


def _text_columns(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": fields["title"],
        "severity": fields["severity"],
        "severity_rank": RANK[fields["severity"]],
        "source_frame": fields["source_frame"],
        "search_text": search_text(fields["title"], None, fields["source_frame"], CHANNEL, fields["description"]),
    }


def _check_module(call: Call, module_id: int | None) -> None:
    if module_id is not None and not hold_module(call.db, module_id):
        raise Invalid("module_id: unknown module")
