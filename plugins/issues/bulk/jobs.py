"""The job of a large bulk action: batches in short transactions, so that other writers are not held up.

A position, saved with each batch, lets a job whose worker died go on without doing anything twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import delete, select

from snaglist.kernel import Actor, Call, store
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.bulk.actions import ACTIONS, Outcome, prepare
from snaglist.plugins.issues.bulk.undoing import KIND
from snaglist.plugins.issues.deleting import take_out_some
from snaglist.plugins.issues.ids import resolve_issue_ids
from snaglist.plugins.issues.tables import issues, status_history
from snaglist.plugins.issues.unmerging import refresh_sample
from snaglist.plugins.system import Job, JobCall

BATCH = 500
OCCURRENCES = 2_000  # removed in one transaction
_AT_THE_START: dict[str, Any] = {"position": 0, "fields": {}, "gone": [], "fixes": {}}
AT_ONCE = ("merge", "unmerge")  # either done or not, whatever their size


def run(call: JobCall) -> Mapping[str, Any]:
    """Do the action on all issues of the arguments; history names who asked for it."""
    action, ids, fields = (call.args[name] for name in ("action", "ids", "fields"))
    if call.args["actor"] is not None:
        call.actor = Actor(call.args["actor"], call.args["actor"], ("editor",))
    with call.transaction(write=False):
        fields = prepare(call, action, fields)
    outcome = Outcome()
    done = 0
    for some in _portions(call, action, ids):
        call.check_cancelled()
        outcome.include(call.repeat(partial(_batch, call, action, some, fields)))
        done += len(some)
        call.progress(done, len(ids))
    with call.transaction() as db:
        db.execute(delete(store.settings).where(store.settings.c.key == _key(call)))
    answer = outcome.answer(action, ids)
    if action == "status":
        answer["fixes"] = outcome.fixes
    if action == "unmerge":
        refresh_samples(call, answer)
    return answer


def refresh_samples(call: Call, answer: Mapping[str, Any]) -> None:
    """Let the two issues of an unmerge show their own latest events."""
    for issue_id in (answer["id"], answer["new_id"]):
        refresh_sample(call, issue_id)


JOBS = (Job(KIND, run, unit="issues"),)


def _key(call: JobCall) -> str:
    return f"{KIND}.{call.job_id}"


def _batch(call: JobCall, action: str, ids: Sequence[int], fields: Mapping[str, Any]) -> Outcome:
    with call.transaction() as db:
        saved = _AT_THE_START | (store.get_setting(db, _key(call)) or {})
        if ids[-1] <= saved["position"]:
            return _done_before(call, action, ids, saved)
        alive = _alive(call, ids)
        outcome = ACTIONS[action](call, alive, fields) if alive else Outcome()
        outcome.gone.update(set(ids).difference(alive))
        gone, fixes = [*saved["gone"], *sorted(outcome.gone)], saved["fixes"] | outcome.fixes
        state = {"position": ids[-1], "fields": outcome.fields, "gone": gone, "fixes": fixes}
        store.put_setting(db, _key(call), state)
        return outcome


def _done_before(call: JobCall, action: str, ids: Sequence[int], saved: Mapping[str, Any]) -> Outcome:
    """Return what an earlier attempt, whose worker died, did to a batch."""
    gone = set(saved["gone"]).intersection(ids)
    changed = [issue_id for issue_id in ids if issue_id not in gone]
    previous = _statuses_before(call, changed) if action in ("status", "undo") else {}
    kept = {int(issue_id): fix for issue_id, fix in saved["fixes"].items()}
    return Outcome(saved["fields"], previous, gone=gone, fixes={one: kept[one] for one in changed if one in kept})


def _portions(call: JobCall, action: str, ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut the issues into what one transaction does; those to be deleted lose most of their occurrences before."""
    if action in AT_ONCE:
        yield ids
        return
    for some in chunks(ids, BATCH):
        if action != "delete":
            yield some
            continue
        portion: list[int] = []
        size = 0
        for issue_id, stored in _sizes(call, some):
            if stored > OCCURRENCES:
                while call.repeat(partial(_take_out, call, issue_id)):
                    call.check_cancelled()
                stored = 0
            if portion and size + stored > OCCURRENCES:
                yield portion
                portion, size = [], 0
            portion.append(issue_id)
            size += stored
        yield portion


def _sizes(call: JobCall, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return ids with their number of stored occurrences, 0 for issues that are gone."""
    with call.transaction(write=False) as db:
        rows = db.execute(select(issues.c.id, issues.c.stored_occurrences).where(issues.c.id.in_(ids)))
        stored = {row.id: row.stored_occurrences for row in rows}
    return [(issue_id, stored.get(issue_id, 0)) for issue_id in ids]


def _take_out(call: JobCall, issue_id: int) -> bool:
    with call.transaction():
        return take_out_some(call, issue_id, OCCURRENCES)


def _alive(call: Call, ids: Sequence[int]) -> list[int]:
    """Return those of the ids, ascending, whose issues are neither deleted nor merged into others by now."""
    return sorted(old for old, new in resolve_issue_ids(call.db, ids).items() if old == new)


def _statuses_before(call: Call, ids: Sequence[int]) -> dict[int, str]:
    """Return the statuses that a batch done by an earlier attempt has changed."""
    latest = (
        select(status_history.c.issue_id, status_history.c.from_status)
        .where(status_history.c.issue_id.in_(ids), status_history.c.event == "status")
        .order_by(status_history.c.created_at, status_history.c.id)
    )
    return {row.issue_id: row.from_status for row in call.db.execute(latest)}
