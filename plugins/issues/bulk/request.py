"""What a bulk request asks for: the fields that go together, and the issues that it means."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from snaglist.kernel import Call, Invalid, times
from snaglist.kernel.text import CONTROLS
from snaglist.plugins.issues.bulk.undoing import Done
from snaglist.plugins.issues.ids import resolve_issue_id, resolve_issue_ids
from snaglist.plugins.issues.search.fields import search_fields
from snaglist.plugins.issues.search.listing import matching_ids
from snaglist.plugins.issues.tables import issues

CONFIRMATION = "DELETE ISSUES"
OF_UNDO = ("action", "job_id", "done", "note", "comment")
SKEW_SECONDS = 60  # between the clock of the machine that told what it did, and that of the one that is to undo it
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "status": ("status",),
    "add_tag": ("tag_id",),
    "remove_tag": ("tag_id",),
    "merge": ("target_id",),
    "unmerge": ("id", "grouping_id"),
    "delete": ("confirmation",),
}


def check(body: Mapping[str, Any], now: str) -> None:
    """Raise Invalid unless the body's fields fit its action."""
    action = body["action"]
    problems = [f"{name}: is required" for name in REQUIRED.get(action, ()) if name not in body]
    chosen = [name for name in ("ids", "filter") if name in body]
    if action == "unmerge":
        problems += [f"{name}: not with unmerge; give id and grouping_id" for name in chosen]
    elif action == "undo":
        problems += [f"{name}: not with undo; give job_id or done" for name in body if name not in OF_UNDO]
        if ("job_id" in body) == ("done" in body):
            problems.append("job_id: give exactly one of job_id and done")
        problems += _problems_of(body["done"], now) if "done" in body else []
    elif len(chosen) != 1:
        problems.append("ids: give exactly one of ids and filter")
    if action != "undo":
        problems += [f"{name}: only with undo" for name in ("job_id", "done") if name in body]
    if action == "snooze" and ("until" in body) == ("count" in body):
        problems.append("until: give exactly one of until and count")
    if action == "delete" and body.get("confirmation", CONFIRMATION) != CONFIRMATION:
        problems.append(f"confirmation: must be exactly {CONFIRMATION}")
    if problems:
        raise Invalid(problems)


def _problems_of(done: Mapping[str, Any], now: str) -> list[str]:
    """Return what is wrong with that which an undo is to take back."""
    latest = times.add(now, seconds=SKEW_SECONDS)
    problems = ["done.changed_at: must not be in the future"] if done["changed_at"] > latest else []
    for one, (fixed_at, release) in done["fixes"].items():
        if not times.is_time(fixed_at):
            problems.append(f"done.fixes.{one}: must begin with a time")
        elif fixed_at > latest:  # the issue would not reoccur before that
            problems.append(f"done.fixes.{one}: must not be in the future")
        if release is not None and (not release.strip() or CONTROLS.search(release)):
            problems.append(f"done.fixes.{one}: must end with a release in one line, or null")
    untold = [one for one, status in done["previous"].items() if status == "fixed" and one not in done["fixes"]]
    return problems + [f"done.fixes: must tell of issue {one}, which was fixed before" for one in untold]


def choose(call: Call, body: Mapping[str, Any], done: Done | None) -> list[int]:
    """Return the ids of the issues meant, ascending: of an undo those of what was `done`; needs an open transaction."""
    if body["action"] == "unmerge":
        return [resolve_issue_id(call.db, body["id"])]
    if done is not None:
        return sorted(done.previous)
    if "filter" in body:
        known = {*(word.name for word in search_fields(call)), "q", "date", "from", "to"}
        if strange := [f"filter.{name}: is not a known field" for name in body["filter"] if name not in known]:
            raise Invalid(strange)  # of a plugin that is off
        found = matching_ids(call, body["filter"])
        return _mergeable(call, found, body["target_id"], drop=True) if body["action"] == "merge" else found
    resolved = resolve_issue_ids(call.db, set(body["ids"]))
    if unknown := set(body["ids"]) - resolved.keys():
        raise Invalid(f"ids: unknown issue {min(unknown)}")
    found = sorted(set(resolved.values()))
    return _mergeable(call, found, body["target_id"], drop=False) if body["action"] == "merge" else found


def _mergeable(call: Call, found: list[int], target: int, *, drop: bool) -> list[int]:
    """Check the target of a merge; a filter may match it, a list of ids must not hold it."""
    target_id = resolve_issue_ids(call.db, [target]).get(target)
    if target_id is None:
        raise Invalid("target_id: unknown issue")
    if target_id in found and not drop:
        raise Invalid("target_id: must not be one of ids")
    others = [issue_id for issue_id in found if issue_id != target_id]
    made = select(issues.c.id).where(issues.c.origin != "ingested")
    for start in range(0, len(others) + 1, 500):
        some = [target_id, *others[start : start + 500]]
        if (first := call.db.execute(made.where(issues.c.id.in_(some)).limit(1)).scalar()) is not None:
            raise Invalid(f"ids: issue {first} was not ingested; only ingested issues can be merged")
    return others
