"""Rules of an assignment."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import or_, select, update

from snaglist.kernel import Call, Invalid
from snaglist.plugins.issues import history
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import IssueChange
from snaglist.plugins.issues.tables import issues
from snaglist.plugins.system import rows


@dataclass(frozen=True, slots=True)
class Assignee:
    """Somebody to assign, or nobody (`id` None). Where assignment is not `possible` nothing is ever stored."""

    id: str | None = None
    label: str | None = None
    possible: bool = True


def find_assignee(call: Call, person_id: str | None) -> Assignee:
    """Return the person that the host offers under an id; Invalid when it offers none such.

    Asks the host, so call it outside a transaction.
    """
    people = call.assignable_users()
    if people is None:
        return Assignee(possible=False)
    if not person_id:
        return Assignee()
    for person in people:
        if person["id"] == person_id:
            return Assignee(person["id"], person["label"])
    raise Invalid("assigned_to_id: not one of the assignable users")


def assign_issues(call: Call, issue_ids: Collection[int], assignee: Assignee) -> dict[str, Any]:
    """Store an assignment in the open write transaction; issues that have it already are not touched.

    Returns what plugins add under their ids.
    """
    if not assignee.possible:
        return {}
    values = {"assigned_to_id": assignee.id, "assigned_to_label": assignee.label}
    assigned = issues.c.assigned_to_id.is_not(None)
    differs = [issues.c[name].is_distinct_from(value) for name, value in values.items()]
    other = assigned if assignee.id is None else or_(*differs)
    locked = select(issues.c.id).where(other).order_by(issues.c.id).with_for_update(key_share=True)
    changed = [row.id for row in rows.among(call.db, locked, issues.c.id, issue_ids)]
    rows.among(call.db, update(issues).values(**values, updated_at=call.now), issues.c.id, changed)
    if not changed:
        return {}
    note = f"Assigned to {assignee.label}" if assignee.id is not None else "Unassigned"
    entries = [history.entry(issue_id, "assignment", call.now, actor=call.label, note=note) for issue_id in changed]
    history.append(call.db, entries)
    return tell_change(call, IssueChange("assignment", tuple(changed), values))
