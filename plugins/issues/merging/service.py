"""Rules of a merge."""

from collections.abc import Sequence

from snaglist.kernel import Call, NotFound
from snaglist.plugins.issues import history
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import IssueChange
from snaglist.plugins.issues.facets import add_facets
from snaglist.plugins.issues.merging import queries
from snaglist.plugins.issues.totals import Totals


def merge_issues(call: Call, issue_ids: Sequence[int], target_id: int, *, learned: str | None = None) -> None:
    """Move all that issues have to the target and remove them, in the open write transaction.

    The target keeps its status, assignment and snooze. The ids must be of issues that exist, not merged ones;
    raises NotFound otherwise. `learned` says why, when nobody asked for it.
    """
    db = call.db
    merged = sorted(set(issue_ids) - {target_id})
    everyone = sorted({*merged, target_id})
    queries.lock_groupings(db, everyone)
    rows = queries.lock_issues(db, everyone)
    if missing := set(everyone) - rows.keys():
        raise NotFound(f"Unknown issue {min(missing)}.")
    target = rows[target_id]
    totals = Totals()
    for row in rows.values():
        totals.remove(row["status"], row["severity"], row["log_type"], row["count"])
    # Equal times: the target's own sample stays.
    shown = max(rows.values(), key=lambda row: (row["last_seen"], row["id"] == target_id))
    columns = {
        "count": sum(row["count"] for row in rows.values()),
        "stored_occurrences": sum(row["stored_occurrences"] for row in rows.values()),
        "first_seen": min(row["first_seen"] for row in rows.values()),
        "last_seen": shown["last_seen"],
        "updated_at": call.now,
        **{name: shown[name] for name in queries.SAMPLE_COLUMNS},
    }
    add_facets(db, {target_id: queries.joined_facets(db, merged)})
    queries.move_rows(db, merged, target_id)
    if shown["id"] != target_id:
        queries.move_sample(db, shown["id"], target_id)
    queries.update_issue(db, target_id, columns)
    queries.show_newest(db, [target_id])
    note = f"{learned or 'Merged'}: {', '.join(map(str, merged))}"
    actor = None if learned else call.label
    history.append(db, [history.entry(target_id, "merge", call.now, actor=actor, note=note)])
    totals.add(target["status"], shown["severity"], shown["log_type"], columns["count"])
    totals.write(db)
    # Before the rows go, so that plugins can move what they keep about them.
    tell_change(call, IssueChange("merge", tuple(merged), {"target_id": target_id}))
    queries.remove_issues(db, merged)
