"""Moving a module's groupings: their keys begin with the module, so they get the keys of the target.

Events that come later are keyed with the target, and must find the issues they belong to.
"""

from typing import Any

from sqlalchemy import Connection, delete, select, update

from snaglist.kernel import Call, digest
from snaglist.kernel.database import upsert
from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.issues.merging import merge_issues
from snaglist.plugins.issues.merging.queries import show_newest
from snaglist.plugins.issues.storing.queries import find_places, update_groupings
from snaglist.plugins.issues.tables import event_hours, grouping_texts, groupings, issue_aliases, occurrences

BATCH = 500


def move_groupings(call: Call, module_id: int, target_id: int | None) -> None:
    """Give the groupings of a module the keys of the target; where a key exists, join them and their issues."""
    last = 0
    while rows := _next_groupings(call.db, module_id, last):
        last = rows[-1]["id"]
        moved = {row["id"]: _moved(row, target_id) for row in rows}
        taken = find_places(
            call.db, {new["fingerprint"] for new in moved.values()} - {row["fingerprint"] for row in rows}
        )
        free = [row for row in rows if moved[row["id"]]["fingerprint"] not in taken]
        update_groupings(call.db, [{"row_id": row["id"], **moved[row["id"]]} for row in free])
        for row in rows:
            place = taken.get(moved[row["id"]]["fingerprint"])
            if place:
                _join(call, row["id"], place.grouping_id)
        show_newest(call.db, {row["issue_id"] for row in free})


def _next_groupings(db: Connection, module_id: int, after: int) -> list[dict[str, Any]]:
    statement = select(groupings).where(groupings.c.module_id == module_id, groupings.c.id > after)
    locked = statement.order_by(groupings.c.id).limit(BATCH).with_for_update()
    return [dict(row) for row in db.execute(locked).mappings()]


def _moved(row: dict[str, Any], target_id: int | None) -> dict[str, Any]:
    """Return the columns that a grouping has in the target."""
    _, _, rest = row["key"].partition("|")
    begin, _, _ = grouping_key(Event(message=""), target_id).key.partition("|")
    text = f"{begin}|{rest}"
    return {
        "module_id": target_id,
        "fingerprint": digest(text),
        "key": text,
        "parts": {**row["parts"], "module": target_id},
    }


def _join(call: Call, grouping_id: int, target_id: int) -> None:
    """Merge the issues of two groupings into the older one, then the first grouping into the target."""
    db = call.db
    issue_ids = set(
        db.execute(select(groupings.c.issue_id).where(groupings.c.id.in_((grouping_id, target_id)))).scalars()
    )
    issue_id = min(issue_ids)
    if len(issue_ids) > 1:
        merge_issues(call, sorted(issue_ids - {issue_id}), issue_id)
    of_grouping = (occurrences.c.issue_id == issue_id, occurrences.c.grouping_id == grouping_id)
    db.execute(update(occurrences).where(*of_grouping).values(grouping_id=target_id))
    db.execute(update(grouping_texts).where(grouping_texts.c.grouping_id == grouping_id).values(grouping_id=target_id))
    followed = (issue_aliases.c.issue_id == issue_id, issue_aliases.c.grouping_id == grouping_id)
    db.execute(update(issue_aliases).where(*followed).values(grouping_id=target_id))
    hours = db.execute(select(event_hours).where(event_hours.c.grouping_id == grouping_id)).mappings().all()
    upsert(db, event_hours, [{**row, "grouping_id": target_id} for row in hours], add=("count",))
    counters = db.execute(select(groupings).where(groupings.c.id.in_((grouping_id, target_id)))).mappings().all()
    db.execute(delete(groupings).where(groupings.c.id == grouping_id))
    db.execute(
        update(groupings)
        .where(groupings.c.id == target_id)
        .values(
            count=sum(row["count"] for row in counters),
            first_seen=min(row["first_seen"] for row in counters),
            last_seen=max(row["last_seen"] for row in counters),
        )
    )
    show_newest(db, [issue_id])
