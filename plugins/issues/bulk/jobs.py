"""The job of a large bulk action: batches in short transactions, so that other writers are not held up.

What each batch did is kept with it, so that a job whose worker died goes on behind the last one.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import select

from snaglist.kernel import Actor, Call
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.bulk import kept
from snaglist.plugins.issues.bulk.actions import ACTIONS, prepare
from snaglist.plugins.issues.bulk.kept import KIND
from snaglist.plugins.issues.bulk.outcome import Outcome
from snaglist.plugins.issues.deleting import take_out_some
from snaglist.plugins.issues.ids import resolve_issue_ids
from snaglist.plugins.issues.tables import issues
from snaglist.plugins.issues.unmerging import refresh_sample
from snaglist.plugins.system import Job, JobCall

BATCH = 500
OCCURRENCES = 2_000  # removed in one transaction
AT_ONCE = ("merge", "unmerge")  # either done or not, whatever their size


def run(call: JobCall) -> Mapping[str, Any]:
    """Do the action on all issues of the arguments; history names who asked for it."""
    action, ids, fields = (call.args[name] for name in ("action", "ids", "fields"))
    if call.args["actor"] is not None:
        call.actor = Actor(call.args["actor"], call.args["actor"], ("editor",))
    with call.transaction(write=False) as db:
        fields = prepare(call, action, fields)
        outcome, position = kept.kept_of_job(db, call.job_id)
        outlived = kept.outlived(db)
    if outlived:
        call.repeat(partial(_forget, call, outlived))
    left = [issue_id for issue_id in ids if issue_id > position]
    done = len(ids) - len(left)
    for some in _portions(call, action, left):
        call.check_cancelled()
        outcome.include(call.repeat(partial(_batch, call, action, some, fields)))
        done += len(some)
        call.progress(done, len(ids))
    answer = outcome.answer(action, ids)
    if action == "unmerge":
        refresh_samples(call, answer)
    return answer


def refresh_samples(call: Call, answer: Mapping[str, Any]) -> None:
    """Let the two issues of an unmerge show their own latest events."""
    for issue_id in (answer["id"], answer["new_id"]):
        refresh_sample(call, issue_id)


JOBS = (Job(KIND, run, unit="issues"),)


def _forget(call: JobCall, keys: list[str]) -> None:
    with call.transaction() as db:
        kept.forget(db, keys)


class _DoneMeanwhile(Exception):
    """Another worker, which had lost its lease, did the batch while this one waited for its locks."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome


def _batch(call: JobCall, action: str, ids: Sequence[int], fields: Mapping[str, Any]) -> Outcome:
    try:
        with call.transaction() as db:
            done = kept.kept_of_batch(db, call.job_id, ids[-1])
            if done is not None:  # the answer of the database was lost
                return done
            alive = _alive(call, ids)
            outcome = ACTIONS[action](call, alive, fields) if alive else Outcome()
            outcome.gone.update(set(ids).difference(alive))
            if (done := kept.kept_of_batch(db, call.job_id, ids[-1])) is not None:
                raise _DoneMeanwhile(done)
            kept.keep(db, call.job_id, ids[-1], outcome)
            return outcome
    except _DoneMeanwhile as other:  # nothing of it is done twice
        return other.outcome


def _portions(call: JobCall, action: str, ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Cut the issues into what one transaction does; those to be deleted lose most of their occurrences before."""
    if action in AT_ONCE:
        if ids:
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
