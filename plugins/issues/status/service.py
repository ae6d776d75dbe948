"""Rules of a status change."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from snaglist.kernel import Call, Conflict, Invalid, NotFound
from snaglist.plugins.issues import history
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import STATUS_WORDS, STATUSES, IssueChange
from snaglist.plugins.issues.ids import resolve_issue_id
from snaglist.plugins.issues.row_updates import update_rows
from snaglist.plugins.issues.status import queries
from snaglist.plugins.issues.tables import issues
from snaglist.plugins.issues.totals import Totals

Fix = tuple[str | None, str | None]  # when, and in which release


@dataclass(frozen=True, slots=True)
class Wanted:
    """A status to set. `release` holds the fix; `comment=False` asks a tracker to move without a comment.

    `fixes` takes a change back: since when and in which release each issue counts as fixed, by id, others as never.
    """

    status: str
    note: str | None = None
    release: str | None = None
    comment: bool = True
    fixes: Mapping[int, Fix] | None = None

    def changes(self, before: queries.Before) -> bool:
        """Tell whether an issue becomes another by it: what has the status already needs a word to be told of it."""
        return before.status != self.status or bool(self.note or self.release) or self.fixes is not None

    def check(self) -> "Wanted":
        """Return it; raises Invalid when a release is given for anything but a fix."""
        if self.release and self.status != "fixed":
            raise Invalid("release: only with status fixed")
        return self


def change_status(
    call: Call,
    issue_id: int,
    status: str,
    note: str | None = None,
    release: str | None = None,
    comment: bool = True,
    expected: str | None = None,
) -> dict[str, Any]:
    """Set the status of an issue in the open write transaction, from any status, the same one included.

    Returns the answer of `issue-status`, with what plugins add under their ids. Raises Conflict when the issue has
    another status than the `expected` one.
    """
    wanted = Wanted(status, note or None, release or None, comment).check()
    issue_id = resolve_issue_id(call.db, issue_id)
    found = queries.lock(call.db, [issue_id])
    if not found:
        raise NotFound("Unknown issue.")
    if expected not in (None, found[0].status):
        raise Conflict(_moved(call, found[0]))
    fixed_at, fixed_release = _fix(found[0], wanted, call.now)
    answer = {
        "id": issue_id,
        "from_status": found[0].status,
        "status": status,
        "note": wanted.note,
        "fixed_at": fixed_at,
        "fixed_release": fixed_release,
        "changed_at": call.now,
        "fixes": {str(one): list(fix) for one, fix in fixes_of(found, call.now).items()},
    }
    return {**_change(call, found, wanted), **answer}


def change_statuses(
    call: Call, issue_ids: Collection[int], wanted: Wanted
) -> tuple[list[queries.Before], dict[str, Any]]:
    """Set the status of issues in the open write transaction; ids that are gone are left out.

    Those that have it already are left as they are, unless there is something to say. Returns the issues as they were,
    and what plugins add under their ids.
    """
    found = queries.lock(call.db, issue_ids)
    moved = [before for before in found if wanted.changes(before)]
    return list(found), _change(call, moved, wanted) if moved else {}


def fixes_of(found: Collection[queries.Before], now: str) -> dict[int, Fix]:
    """Return since when and in which release issues count as fixed, of those that do; where no time is known, now."""
    return {one.id: (one.fixed_at or now, one.fixed_release) for one in found if one.fixed_at or one.status == "fixed"}


def follow_statuses(call: Call, statuses: Mapping[int, str], *, actor: str) -> set[int]:
    """Let issues (id → status) take over what a tracker says, in the open write transaction.

    History names the tracker as `actor`; the change that plugins see has `followed` True, so that none tells the
    tracker about it. Returns the ids of the issues that changed.
    """
    changed: set[int] = set()
    for status in STATUSES:
        ids = [issue_id for issue_id, wanted in statuses.items() if wanted == status]
        found = [before for before in queries.lock(call.db, ids) if before.status != status]
        if found:
            _change(call, found, Wanted(status), followed_by=actor)
            changed.update(before.id for before in found)
    return changed


def _change(
    call: Call, found: Collection[queries.Before], wanted: Wanted, *, followed_by: str | None = None
) -> dict[str, Any]:
    event, actor = ("tracker", followed_by) if followed_by else ("status", call.label)
    rows, entries, totals = [], [], Totals()
    for before in found:
        fixed_at, fixed_release = _fix(before, wanted, call.now)
        fixed = {"fixed_at": fixed_at, "fixed_release": fixed_release}
        moved = {"status": wanted.status, "status_updated_at": call.now, "updated_at": call.now}
        rows.append({"row_id": before.id, **moved, **fixed})
        states = {"from_status": before.status, "to_status": wanted.status}
        entries.append(history.entry(before.id, event, call.now, actor=actor, note=wanted.note, **states))
        totals.remove(before.status, before.severity, before.log_type, before.seen)
        totals.add(wanted.status, before.severity, before.log_type, before.seen)
    update_rows(call.db, issues, rows)
    history.append(call.db, entries)
    totals.write(call.db)
    details = {
        "status": wanted.status,
        "note": wanted.note,
        "release": wanted.release,
        "comment": wanted.comment,
        "previous": {before.id: before.status for before in found},
        "followed": followed_by is not None,
    }
    return tell_change(call, IssueChange("status", tuple(before.id for before in found), details))


def _moved(call: Call, before: queries.Before) -> str:
    """Say who gave an issue the status that somebody did not know of, and when."""
    row = history.last_change(call.db, before.id, before.status)
    status = STATUS_WORDS[before.status]
    if row is None:
        return f"The status is {status} by now. Nothing was changed."
    actor = row["actor"] or "snaglist"
    return f"{actor} set the status to {status} at {row['created_at']} UTC. Nothing was changed."


def _fix(before: queries.Before, wanted: Wanted, now: str) -> Fix:
    """Return when and in which release the issue counts as fixed after the change."""
    if wanted.fixes is not None:
        fixed_at, release = wanted.fixes.get(before.id, (None, None))
    elif wanted.status == "fixed" and (before.status != "fixed" or wanted.release):
        fixed_at, release = now, wanted.release
    elif wanted.status in ("fixed", "reoccurred"):
        fixed_at, release = before.fixed_at, before.fixed_release
    else:
        return None, None
    # What is fixed without a time would never reoccur.
    return (fixed_at or now if wanted.status == "fixed" else fixed_at), release
