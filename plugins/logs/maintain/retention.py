"""How long things stay: archived files by age and number, occurrences by age and number per issue."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement

from snaglist.kernel import Call, times
from snaglist.kernel.database import chunks
from snaglist.plugins.issues import remove_occurrences, reoccurrence_times
from snaglist.plugins.logs.maintain import queries
from snaglist.plugins.logs.maintain.archive import Retention, archived_files, prune
from snaglist.plugins.logs.store.queries import take_off
from snaglist.plugins.system import JobCall

JOB = "retention"
BATCH = 1_000
_ALL = 2**63 - 1
_EARLIEST = "0000-00-00 00:00:00"


def archive_state(call: Call) -> dict[str, Any]:
    """Return the rules for archived files, and what is archived."""
    rules = Retention.configured(call)
    files = archived_files(call.application.processed, call.setting("ingestion.log_file_pattern"))
    return {
        "policy": {"processed_max_age_days": rules.max_age_days, "processed_max_files": rules.max_files},
        "archived_files": len(files),
        "archived_bytes": sum(file.size for file in files),
    }


def prune_archive(call: Call) -> dict[str, Any]:
    """Apply the rules for archived files now."""
    pattern = call.setting("ingestion.log_file_pattern")
    return prune(call.application.processed, pattern, Retention.configured(call), call.now)


def oldest_kept(call: Call) -> str:
    """Return the time before which occurrences are not kept, empty when their age does not matter."""
    days = call.setting("retention.occurrences_max_age_days")
    return times.add(call.now, days=-days) if days else ""


def due(call: Call) -> Mapping[str, Any] | None:
    """Tell whether a rule for occurrences gives some up; asked in a read transaction."""
    oldest, most = oldest_kept(call), call.setting("retention.max_occurrences_per_issue")
    if oldest and queries.issues_older_than(call.db, oldest, 0, 1):
        return {}
    return {} if most and any(_beyond(call, issue_id, most) for issue_id in _crowded(call, most)) else None


def rests(call: Call) -> bool:
    """Tell whether time alone gives nothing up."""
    return not oldest_kept(call)


def run(call: JobCall) -> Mapping[str, Any]:
    """Remove occurrences that the rules give up; issues and their counters stay."""
    removed = 0
    for ids in _given_up(call):
        for some in chunks(ids, BATCH):
            removed += call.repeat(partial(_remove, call, some))
            call.progress(removed)
            call.check_cancelled()
    return {"occurrences": removed}


def _given_up(call: Call) -> Iterator[Sequence[int]]:
    yield from _too_old(call)
    most = call.setting("retention.max_occurrences_per_issue")
    for issue_id in _read(call, partial(_crowded, call, most)) if most else ():
        while ids := _read(call, partial(_beyond, call, issue_id, most)):
            yield ids


def _too_old(call: Call) -> Iterator[Sequence[int]]:
    oldest, last = oldest_kept(call), 0
    while oldest and (issue_ids := _read(call, partial(_old_issues, call, oldest, last))):
        for condition in queries.within(issue_ids, _EARLIEST, oldest):
            while ids := _read(call, partial(_old_ids, call, condition)):
                yield ids
        last = issue_ids[-1]


def _read(call: Call, question: Callable[[], list[int]]) -> list[int]:
    with call.transaction(write=False):
        return question()


def _old_issues(call: Call, oldest: str, after_id: int) -> list[int]:
    return queries.issues_older_than(call.db, oldest, after_id, queries.CHUNK)


def _old_ids(call: Call, condition: ColumnElement[bool]) -> list[int]:
    return queries.some_ids(call.db, condition, _ALL, BATCH)


def _remove(call: Call, ids: Sequence[int]) -> int:
    with call.transaction() as db:
        removed = remove_occurrences(db, ids)
        take_off(db, removed.by_source)
        return sum(removed.by_issue.values())


def _crowded(call: Call, most: int) -> list[int]:
    return queries.issues_with_more(call.db, most)


def _beyond(call: Call, issue_id: int, most: int) -> list[int]:
    """Return some occurrences behind the newest ones, without the first and those that brought the issue back."""
    return queries.beyond(call.db, issue_id, most, reoccurrence_times(call.db, issue_id))
