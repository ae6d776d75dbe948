"""Notes which issues have events of which release, with the events that are stored.

What was stored while the area was off is noted by a job, a piece of the ids at a time.
"""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import Connection

from snaglist.kernel import Call, digest
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.issues import IssueChange, StoredBatch, clean
from snaglist.plugins.releases.seen import queries
from snaglist.plugins.releases.seen.queries import Sighting
from snaglist.plugins.system import JobCall

JOB = "releases_seen"
SETTING = "releases.position"  # the last occurrence that was stored while the area was on
_PIECE = 5_000
MAX_VERSION, MAX_ENVIRONMENT = 120, 100
_hash = lru_cache(maxsize=1_024)(digest)  # few versions come in very many events


def sighting(issue_id: int, version: str, environment: str) -> Sighting:
    """Return the row of an issue that has an event of a release; both names cut as the occurrence has them."""
    return Sighting(_hash(clean(version[:MAX_VERSION])), clean(environment[:MAX_ENVIRONMENT]), issue_id)


def count_batch(call: Call, batch: StoredBatch) -> None:
    """Note the releases of a stored batch."""
    seen = {
        (stored.issue_id, stored.event.release, stored.event.environment)
        for stored in batch.stored
        if stored.event.release
    }
    queries.add(call.db, {sighting(*one) for one in seen})


def follow(call: Call, change: IssueChange) -> None:
    """Follow merged and unmerged issues; rows of removed ones go by their key."""
    if change.kind == "merge" and isinstance(target := change.details.get("target_id"), int):
        gone = set(change.issue_ids) - {target}
        queries.add(call.db, {row._replace(issue_id=target) for row in queries.of_issues(call.db, gone)})
    elif change.kind == "unmerge" and isinstance(new := change.details.get("new_id"), int):
        found = queries.occurring(call.db, new)
        queries.add(call.db, {sighting(new, version, environment) for version, environment in found})


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
        call.write(partial(_note, after, end))
        call.progress(end - first, last - first)
    return {"events": max(0, last - first)}


def _note(after: int, last: int, db: Connection) -> None:
    queries.add(db, {sighting(*one) for one in queries.occurring_between(db, after, last)})
