"""Rules of taking a grouping out of an issue."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import RowMapping

from snaglist.kernel import Call, Invalid, NotFound
from snaglist.plugins.issues import history
from snaglist.plugins.issues.above import sources
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import IssueChange
from snaglist.plugins.issues.ids import resolve_issue_id
from snaglist.plugins.issues.learning import set_apart
from snaglist.plugins.issues.merging import show_newest
from snaglist.plugins.issues.totals import Totals
from snaglist.plugins.issues.unmerging import queries
from snaglist.plugins.issues.unmerging.samples import Sample, known_sample, stored_sample

_CARRIED = ("origin", "kind", "module_id")


def unmerge_grouping(call: Call, issue_id: int, grouping_id: int) -> int:
    """Make a new, open issue of one of an issue's groupings, in the open write transaction; returns its id.

    Learning never joins the grouping with others again. The issue whose shown event went to the other one shows what
    the database knows; call `refresh_sample` for both after the commit. Raises NotFound for an unknown issue,
    Invalid when the grouping is not the issue's or is its only one.
    """
    db = call.db
    issue_id = resolve_issue_id(db, issue_id)
    groupings = {row["id"]: row for row in queries.lock_groupings(db, issue_id)}
    issue = queries.lock_issue(db, issue_id)
    if issue is None:
        raise NotFound("Unknown issue.")
    grouping = groupings.pop(grouping_id, None)
    if grouping is None:
        raise Invalid("grouping_id: must be a grouping of the issue")
    if not groupings:
        raise Invalid("grouping_id: must not be the only grouping of the issue")
    new_id = queries.add_issue(db, _new_issue(call, issue, grouping))
    shown = stored_sample(db, issue)
    moved = queries.move_grouping(db, grouping_id, issue_id, new_id)
    queries.move_facets(db, sources(call).table, issue_id, new_id)
    set_apart(db, issue_id, grouping_id, call.now, call.label)

    # The event that the issue shows goes along with its grouping.
    took_sample = shown.grouping_id == grouping_id
    new_sample = shown if took_sample else known_sample(call, new_id, issue, grouping)
    kept = known_sample(call, issue_id, issue, _newest(groupings)) if took_sample else shown
    totals = Totals()
    totals.remove(issue["status"], issue["severity"], issue["log_type"], issue["count"])
    queries.add_sample(db, {"issue_id": new_id, **new_sample.texts})
    queries.update_issue(db, new_id, {"stored_occurrences": moved, **new_sample.columns})
    totals.add("open", new_sample.columns["severity"], new_sample.columns["log_type"], grouping["count"])
    if took_sample:
        queries.replace_sample(db, issue_id, kept.texts)
    queries.update_issue(db, issue_id, {**_rest(call, issue, grouping, groupings, moved), **kept.columns})
    totals.add(issue["status"], kept.columns["severity"], kept.columns["log_type"], issue["count"] - grouping["count"])
    totals.write(db)
    show_newest(db, [issue_id, new_id])
    _tell(call, issue_id, new_id, grouping_id)
    return new_id


def _new_issue(call: Call, issue: RowMapping, grouping: RowMapping) -> dict[str, Any]:
    return {
        **{name: issue[name] for name in (*_CARRIED, *Sample.COLUMNS)},
        "sample_occurrence_id": None,
        "fingerprint": grouping["fingerprint"],
        "count": grouping["count"],
        "stored_occurrences": 0,
        "first_seen": grouping["first_seen"],
        "last_seen": grouping["last_seen"],
        "status": "open",
        "created_at": call.now,
        "updated_at": call.now,
    }


def _rest(
    call: Call, issue: RowMapping, grouping: RowMapping, groupings: Mapping[int, RowMapping], moved: int
) -> dict[str, Any]:
    """Return the counters of the issue without the grouping."""
    return {
        "count": issue["count"] - grouping["count"],
        "stored_occurrences": issue["stored_occurrences"] - moved,
        "first_seen": min(row["first_seen"] for row in groupings.values()),
        "last_seen": max(row["last_seen"] for row in groupings.values()),
        "updated_at": call.now,
    }


def _newest(groupings: Mapping[int, RowMapping]) -> RowMapping:
    return max(groupings.values(), key=lambda row: (row["last_seen"], row["id"]))


def _tell(call: Call, issue_id: int, new_id: int, grouping_id: int) -> None:
    told = {"actor": call.label}
    history.append(
        call.db,
        [
            history.entry(issue_id, "unmerge", call.now, note=f"Unmerged: {new_id}", **told),
            history.entry(new_id, "unmerge", call.now, note=f"Unmerged from {issue_id}", to_status="open", **told),
        ],
    )
    details = {"grouping_id": grouping_id, "new_id": new_id}
    tell_change(call, IssueChange("unmerge", (issue_id, new_id), details))
