"""What jobs begun by 0.4 did not keep is read from the history, which knows no releases of fixes."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from snaglist.plugins.issues.status import Fix
from snaglist.plugins.issues.tables import issues, status_history
from snaglist.plugins.system import rows


def states_before(db: Connection, issue_ids: Iterable[int], status: str) -> dict[int, tuple[str, str | None]]:
    """Return of issues which status they had before they were last given `status`, and since when they were fixed."""
    columns = status_history.c
    steps = select(columns.issue_id, columns.event, columns.from_status, columns.to_status, columns.created_at)
    steps = steps.where(columns.to_status.is_not(None)).order_by(columns.created_at, columns.id)
    fixed: dict[int, str] = {}
    found: dict[int, tuple[str, str | None]] = {}
    for row in rows.among(db, steps, columns.issue_id, issue_ids):
        if row.event == "status" and row.to_status == status:
            found[row.issue_id] = row.from_status, fixed.get(row.issue_id)
        if row.to_status == "fixed":
            if row.from_status != "fixed" or row.issue_id not in fixed:
                fixed[row.issue_id] = row.created_at
        elif row.to_status != "reoccurred":
            fixed.pop(row.issue_id, None)
    return found


def fixes_before(
    db: Connection, previous: Mapping[int, str], status: str, release: str | None, began: str
) -> dict[int, Fix]:
    """Return since when issues (id → status before) counted as fixed: at the latest since the job `began`."""
    # These lost nothing by the job.
    stayed = {one for one, before in previous.items() if not release and _keeps_its_fix(before, status)}
    fixes: dict[int, Fix] = {}
    for row in rows.among(db, select(issues.c.id, issues.c.fixed_at, issues.c.fixed_release), issues.c.id, stayed):
        if row.fixed_at:
            fixes[row.id] = row.fixed_at, row.fixed_release
    lost = [one for one, before in previous.items() if before in ("fixed", "reoccurred") and one not in stayed]
    known = states_before(db, lost, status)
    for one in lost:
        fixed_at = known[one][1] if one in known else None
        if fixed_at or previous[one] == "fixed":
            fixes[one] = fixed_at or began, None
    return fixes


def _keeps_its_fix(before: str, status: str) -> bool:
    return (before, status) in (("fixed", "fixed"), ("fixed", "reoccurred"), ("reoccurred", "reoccurred"))
