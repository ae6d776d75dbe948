"""What was stored while the area was off is noted by a job, a piece of the ids at a time."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from snaglist.kernel import Call, JobCall
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.releases.seen import queries
from snaglist.plugins.releases.seen.counting import sighting

JOB = "releases_seen"
SETTING = "releases.position"  # the last occurrence that was stored while the area was on
_PIECE = 5_000


def switched(call: Call, on: bool) -> None:
    """Note where the area went off, or queue the job that reads on from there."""
    if on:
        call.enqueue(JOB, {"after": get_setting(call.db, SETTING) or 0, "last": queries.last_occurrence(call.db)})
    else:
        put_setting(call.db, SETTING, queries.last_occurrence(call.db))


def run(call: JobCall) -> Mapping[str, Any]:
    """Note the releases of the events between two ids."""
    first, last = int(call.args["after"]), int(call.args["last"])
    for after in range(first, last, _PIECE):
        call.check_cancelled()
        end = min(after + _PIECE, last)
        call.repeat(partial(_note, call, after, end))
        call.progress(end - first, last - first)
    return {"events": max(0, last - first)}


def _note(call: Call, after: int, last: int) -> None:
    with call.transaction() as db:
        queries.add(db, {sighting(*one) for one in queries.occurring_between(db, after, last)})
