"""Deleting what was stored of a day or of a source: previewed, remembered, in portions when it is much."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement

from snaglist.kernel import Call, Invalid, times
from snaglist.plugins.issues import Removed, remove_occurrences, show_path
from snaglist.plugins.logs.maintain import queries
from snaglist.plugins.logs.store import deletions
from snaglist.plugins.logs.store.deletions import DAY, SOURCE
from snaglist.plugins.logs.store.queries import source_by_id, take_off
from snaglist.plugins.system import JobCall

JOB = "delete_logs"
AT_ONCE = 10_000
BATCH = 1_000
PRESERVED = {"raw_files_preserved": True, "checkpoints_preserved": True}
_SOURCE_FIELDS = ("id", "path", "log_type", "channel", "size", "imported_at")

Conditions = Sequence[ColumnElement[bool]]


def preview(call: Call, date: str | None, source_id: int | None) -> dict[str, Any]:
    """Return what a deletion would remove; needs an open transaction."""
    source = _source(call, source_id)
    occurrences, issues, sources = queries.count(call.db, _conditions(call, date, source_id))
    return {
        "scope": {"type": SOURCE if source else DAY, "date": date, "source_id": source_id, "source": source},
        "occurrences": occurrences,
        "issue_groups": issues,
        "sources": sources,
        **PRESERVED,
    }


def begin(call: Call, date: str | None, source_id: int | None) -> tuple[dict[str, Any], int | None]:
    """Delete and remember, in the open write transaction; more than 10,000 occurrences are left to a job.

    Returns the result, or the preview and the job's id.
    """
    shown = preview(call, date, source_id)
    source = source_by_id(call.db, source_id) if source_id is not None else None
    deletion_id = queries.remember_deletion(
        call.db,
        {
            "scope": SOURCE if source else DAY,
            "day": date,
            "source_id": source_id,
            "up_to_offset": source.offset if source else None,
            "actor": call.label,
            "created_at": call.now,
        },
    )
    args = {"deletion_id": deletion_id, "up_to_id": queries.last_occurrence_id(call.db), "preview": shown}
    if shown["occurrences"] > AT_ONCE:
        return shown, call.enqueue(JOB, args, total=shown["occurrences"])
    emptied: set[int] = set()
    for condition in _conditions(call, date, source_id):
        while removed := _delete_some(call, condition, args, date):
            emptied |= removed.emptied
    deletions.settle(call.db, deletion_id)
    return _result(call, args, emptied), None


def run(call: JobCall) -> Mapping[str, Any]:
    """Delete a day or a source, one transaction per portion."""
    with call.transaction(write=False) as db:
        deletion = queries.deletion(db, call.args["deletion_id"])
        conditions = _conditions(call, deletion.day, deletion.source_id)
        done = deletion.occurrences
    emptied: set[int] = set()
    for condition in conditions:
        while removed := _in_transaction(call, partial(_delete_some, call, condition, call.args, deletion.day)):
            emptied |= removed.emptied
            done += sum(removed.by_issue.values())
            call.progress(done)
            call.check_cancelled()
    with call.transaction() as db:
        deletions.settle(db, deletion.id)
        return _result(call, call.args, emptied)


def _in_transaction(call: Call, work: Callable[[], Removed | None]) -> Removed | None:
    def step() -> Removed | None:
        with call.transaction():
            return work()

    return call.repeat(step)


def _delete_some(
    call: Call, condition: ColumnElement[bool], args: Mapping[str, Any], day: str | None
) -> Removed | None:
    ids = queries.some_ids(call.db, condition, args["up_to_id"], BATCH)
    if not ids:
        return None
    deletions.remember(call.db, args["deletion_id"], day, ids)
    removed = remove_occurrences(call.db, ids)
    take_off(call.db, removed.by_source)
    queries.count_deleted(call.db, args["deletion_id"], sum(removed.by_issue.values()))
    return removed


def _result(call: Call, args: Mapping[str, Any], emptied: set[int]) -> dict[str, Any]:
    deleted = queries.deletion(call.db, args["deletion_id"]).occurrences
    return {
        "deleted": {"occurrences": deleted, "empty_issue_groups": len(emptied)},
        "preview": args["preview"],
        **PRESERVED,
    }


def _conditions(call: Call, date: str | None, source_id: int | None) -> Conditions:
    if date is None:
        return [queries.of_source(source_id or 0)]
    start = f"{date} 00:00:00"
    end = times.add(start, days=1)
    return list(queries.within(queries.issues_of_day(call.db, start, end), start, end))


def _source(call: Call, source_id: int | None) -> dict[str, Any] | None:
    if source_id is None:
        return None
    row = source_by_id(call.db, source_id)
    if row is None:
        raise Invalid("source_id: unknown source")
    return {**{name: getattr(row, name) for name in _SOURCE_FIELDS}, "path": show_path(call, row.path)}
