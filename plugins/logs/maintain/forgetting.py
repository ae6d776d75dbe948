"""Forgetting somebody: all events that happened to them go, with what was kept of them, and do not come back.

The job runs at least once: who it is about stands in its row of `log_deletions` until nothing is left, and no
longer. Arguments and results of jobs do not name them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from snaglist.kernel import Call
from snaglist.plugins.issues import (
    count_out,
    forget_events,
    forget_in_issues,
    issues_of_user,
    show_path,
    show_whole,
    tidy_indexes,
)
from snaglist.plugins.logs.maintain import queries
from snaglist.plugins.logs.pushing import retiring
from snaglist.plugins.logs.pushing.packing import Packer
from snaglist.plugins.logs.store import deletions
from snaglist.plugins.logs.store.queries import take_off
from snaglist.plugins.system import Cancelled, JobCall

JOB = "forget_user"
SCOPE = "user"
BATCH = 500
ISSUES = 50  # of one transaction
ISSUES_SHOWN = 50
FILES_SHOWN = 100
PRESERVED = {"raw_files_preserved": True}
_Done = TypeVar("_Done")


def preview(call: Call, user: str) -> dict[str, Any]:
    """Return what forgetting somebody would remove; needs an open transaction."""
    found = queries.events_of_user(call.db, user)
    shown = queries.titles_of(call.db, [row.issue_id for row in found[:ISSUES_SHOWN]])
    per_issue = [
        {
            "id": row.issue_id,
            "title": shown.get(row.issue_id, ""),
            "events": row.events,
            "first_seen": row.first,
            "last_seen": row.last,
        }
        for row in found[:ISSUES_SHOWN]
    ]
    return {
        "events": sum(row.events for row in found),
        "issues": len(found),
        "first_seen": min((row.first for row in found), default=None),
        "last_seen": max((row.last for row in found), default=None),
        "by_issue": per_issue,
        "issues_left_out": len(found) - len(per_issue),
        **_files(call, queries.files_of_user(call.db, user)),
        **PRESERVED,
    }


def begin(call: Call, user: str) -> tuple[dict[str, Any], int]:
    """Remember who is to be forgotten and queue the job, in the open write transaction.

    Returns the preview and the job's id.
    """
    shown = preview(call, user)
    row = {"scope": SCOPE, "day": None, "source_id": None, "up_to_offset": None, "user_name": user}
    deletion_id = queries.remember_deletion(call.db, {**row, "actor": call.label, "created_at": call.now})
    return shown, call.enqueue(JOB, {"deletion_id": deletion_id}, total=shown["events"])


def run(call: JobCall) -> Mapping[str, Any]:
    """Forget somebody, each step in a transaction of its own."""
    deletion_id = call.args["deletion_id"]
    with call.transaction(write=False) as db:
        user = queries.deletion(db, deletion_id).user_name
    if user is None:  # done by a run that ended before it could say so
        return _result(call, deletion_id, set())
    try:
        emptied = _forget(call, deletion_id, user)
    except Cancelled:
        _step(call, lambda: queries.forget_name(call.db, deletion_id))
        raise
    return _result(call, deletion_id, emptied)


def _forget(call: JobCall, deletion_id: int, user: str) -> set[int]:
    emptied: set[int] = set()
    while some := _step(call, lambda: _remove_some(call, deletion_id, user)):
        emptied |= some[1]
        call.progress(some[0])
        call.check_cancelled()
    last = 0
    while issue_ids := call.read(lambda db: issues_of_user(db, user, last, ISSUES)):  # noqa: B023 it runs at once
        _tidy(call, issue_ids, user)
        last = issue_ids[-1]
        call.check_cancelled()
    _repack(call)
    tidy_indexes(call)
    _step(call, lambda: queries.forget_name(call.db, deletion_id))
    return emptied


def _remove_some(call: Call, deletion_id: int, user: str) -> tuple[int, set[int]] | None:
    """Remove some of the events; returns how many went by now and the issues that have none left."""
    db = call.db
    ids = queries.some_of_user(db, user, BATCH)
    if not ids:
        return None
    deletions.remember_places(db, deletion_id, ids)
    dictionaries = retiring.used_by(db, ids)
    removed = forget_events(call, ids, user)
    retiring.retire(call, dictionaries, removed.by_issue)
    take_off(db, removed.by_source)
    queries.count_deleted(db, deletion_id, sum(removed.by_issue.values()))
    return queries.deletion(db, deletion_id).occurrences, removed.emptied


def _tidy(call: Call, issue_ids: Sequence[int], user: str) -> None:
    def work() -> None:
        forget_in_issues(call, issue_ids, user)
        retiring.retire(call, (), issue_ids)

    _step(call, work)
    show_whole(call, issue_ids)
    _step(call, lambda: count_out(call, issue_ids, user))


def _repack(call: JobCall) -> None:
    """Compress anew what needs a retired dictionary."""
    with call.transaction(write=False) as db:
        dictionary_ids = retiring.retired(db)
    last: int | None = 0
    while dictionary_ids and last is not None:
        after = last
        last = _step(call, lambda: retiring.pack_some(call, Packer(), dictionary_ids, after))  # noqa: B023 runs at once
        call.check_cancelled()
    _step(call, lambda: retiring.empty(call.db, dictionary_ids))


def _step(call: Call, work: Callable[[], _Done]) -> _Done:
    def step() -> _Done:
        with call.transaction():
            return work()

    return call.repeat(step)


def _result(call: Call, deletion_id: int, emptied: set[int]) -> dict[str, Any]:
    with call.transaction(write=False) as db:
        events = queries.deletion(db, deletion_id).occurrences
        files = _files(call, queries.files_of_deletion(db, deletion_id))
    return {"deleted": {"occurrences": events, "empty_issue_groups": len(emptied)}, **files, **PRESERVED}


def _files(call: Call, found: list[Any]) -> dict[str, Any]:
    """Return the files that still have lines of what is removed."""
    shown = [
        {"source_id": row.id, "path": show_path(call, row.path), "status": row.status, "events": row.events}
        for row in found[:FILES_SHOWN]
    ]
    return {"files": shown, "files_left_out": len(found) - len(shown)}
