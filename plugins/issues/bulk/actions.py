"""The actions, each on issues that exist, in the open write transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from snaglist.kernel import Call, Invalid, NotFound
from snaglist.plugins.issues.above import tagging
from snaglist.plugins.issues.assignment import Assignee, assign_issues
from snaglist.plugins.issues.bulk.outcome import Outcome
from snaglist.plugins.issues.bulk.undoing import Done, done_before, untouched
from snaglist.plugins.issues.deleting import delete_issues
from snaglist.plugins.issues.ids import hold_issue_ids, resolve_issue_id
from snaglist.plugins.issues.merging import merge_issues
from snaglist.plugins.issues.snoozing import snooze_issues
from snaglist.plugins.issues.status import Wanted, change_statuses, fixes_of
from snaglist.plugins.issues.unmerging import unmerge_grouping

Fields = Mapping[str, Any]


def _status(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    wanted = Wanted(fields["status"], fields.get("note") or None, fields.get("release") or None, fields["comment"])
    found, reactions = change_statuses(call, ids, wanted.check())
    moved = [one for one in found if wanted.changes(one)]
    previous = {one.id: one.status for one in moved}
    gone = set(ids).difference(one.id for one in found)
    shown = {"status": wanted.status, "note": wanted.note, "changed_at": call.now}
    return Outcome(shown, previous, reactions, gone, fixes_of(moved, call.now))


def _undo(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    outcome = Outcome(gone=set(ids))
    done: Done = fields["done"]
    for status, some in untouched(call, done, ids).items():
        wanted = Wanted(status, fields.get("note") or "Undo", comment=fields["comment"], fixes=done.fixes)
        found, reactions = change_statuses(call, some, wanted)
        previous = {before.id: before.status for before in found}
        outcome.include(Outcome(previous=previous, reactions=reactions))
        outcome.gone.difference_update(previous)
    return outcome


def _add_tag(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    return _tag(call, ids, fields["tag_id"], tagging(call).put_on)


def _remove_tag(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    return _tag(call, ids, fields["tag_id"], tagging(call).take_off)


def _tag(
    call: Call, ids: Sequence[int], tag_id: int, by_hand: Callable[[Call, Sequence[int], int], set[int]]
) -> Outcome:
    try:
        return Outcome({"tag_id": tag_id}, gone=set(ids) - by_hand(call, ids, tag_id))
    except NotFound as unknown:
        raise Invalid("tag_id: unknown tag") from unknown


def _assign(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    assignee = Assignee(**fields["assignee"])
    held = hold_issue_ids(call.db, ids)
    reactions = assign_issues(call, held, assignee)
    shown = {"assigned_to_id": assignee.id, "assigned_to_label": assignee.label}
    return Outcome(shown, reactions=reactions, gone=set(ids).difference(held))


def _snooze(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    until, events = fields.get("until"), fields.get("count")
    held = hold_issue_ids(call.db, ids)
    reactions = snooze_issues(call, held, until, events)
    shown = {"snoozed_until": until, "snooze_count": events}
    return Outcome(shown, reactions=reactions, gone=set(ids).difference(held))


def _unsnooze(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    return replace(_snooze(call, ids, {}), fields={})


def _merge(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    # What was there when the request was checked may have gone by another one.
    try:
        target_id = resolve_issue_id(call.db, fields["target_id"])
    except NotFound as gone:
        raise Invalid("target_id: unknown issue") from gone
    try:
        if ids:
            merge_issues(call, ids, target_id)
    except NotFound as gone:
        raise Invalid(f"ids: {gone}") from gone
    return Outcome({"target_id": target_id})


def _unmerge(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    (issue_id,) = ids
    new_id = unmerge_grouping(call, issue_id, fields["grouping_id"])
    return Outcome({"id": issue_id, "grouping_id": fields["grouping_id"], "new_id": new_id})


def _delete(call: Call, ids: Sequence[int], fields: Fields) -> Outcome:
    return Outcome(gone=set(ids).difference(delete_issues(call, ids)))


def prepare(call: Call, action: str, fields: Fields) -> Fields:
    """Return the fields with what all batches need of the database; it is read once, in the open transaction."""
    return {**fields, "done": done_before(call, fields)} if action == "undo" else fields


ACTIONS: Mapping[str, Callable[[Call, Sequence[int], Fields], Outcome]] = {
    "status": _status,
    "undo": _undo,
    "add_tag": _add_tag,
    "remove_tag": _remove_tag,
    "assign": _assign,
    "snooze": _snooze,
    "unsnooze": _unsnooze,
    "merge": _merge,
    "unmerge": _unmerge,
    "delete": _delete,
}
