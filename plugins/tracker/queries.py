"""SQL of the area."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from snaglist.kernel import store
from snaglist.kernel.database import upsert
from snaglist.plugins.issues import stored
from snaglist.plugins.system import rows
from snaglist.plugins.tracker.tables import begun, changes, links

_issues, _samples = stored.issues, stored.samples


def locked_setting(db: Connection, name: str) -> Any:
    """Return a stored setting, kept from others until the end of the transaction; None without one."""
    return db.execute(select(store.settings.c.value).where(store.settings.c.key == name).with_for_update()).scalar()


def delete_setting(db: Connection, name: str) -> None:
    """Forget a stored setting."""
    db.execute(delete(store.settings).where(store.settings.c.key == name))


def lock_links(db: Connection, provider: str, external_ids: Collection[str]) -> dict[str, Row[Any]]:
    """Lock links of items and return them by external id."""
    wanted = select(links).where(links.c.provider == provider).order_by(links.c.external_id).with_for_update()
    return {row.external_id: row for row in rows.among(db, wanted, links.c.external_id, external_ids)}


def linked(db: Connection, issue_ids: Collection[int], provider: str | None = None) -> dict[int, Row[Any]]:
    """Return the links of issues (to one provider, when given) by issue id."""
    wanted = select(links) if provider is None else select(links).where(links.c.provider == provider)
    return {row.issue_id: row for row in rows.among(db, wanted, links.c.issue_id, issue_ids)}


def add_links(db: Connection, new: Sequence[Mapping[str, Any]]) -> None:
    """Link issues to items."""
    if new:
        db.execute(insert(links), list(new))


def update_links(db: Connection, changed: Sequence[Mapping[str, Any]]) -> None:
    """Write columns of links; each change holds `row_issue_id` and the same columns."""
    if changed:
        db.execute(update(links).where(links.c.issue_id == bindparam("row_issue_id")), list(changed))


def remove_link(db: Connection, issue_id: int) -> None:
    """Forget the link of an issue."""
    db.execute(delete(links).where(links.c.issue_id == issue_id))


def move_link(db: Connection, from_id: int, to_id: int) -> None:
    """Give the link of an issue to another one."""
    db.execute(update(links).where(links.c.issue_id == from_id).values(issue_id=to_id))


def forget_states(db: Connection) -> None:
    """Forget what all items were like."""
    db.execute(update(links).values(remote_state=None, last_pushed_state=None, last_pulled_at=None, agreed_at=None))
    db.execute(delete(changes))


def last_changes(db: Connection, provider: str, external_ids: Collection[str]) -> dict[str, str]:
    """Return when items were changed last, as far as it is known, by external id."""
    wanted = select(changes).where(changes.c.provider == provider)
    return {row.external_id: row.changed_at for row in rows.among(db, wanted, changes.c.external_id, external_ids)}


def note_changes(db: Connection, provider: str, times: Mapping[str, str]) -> None:
    """Note when items were changed last, by external id."""
    noted = [{"provider": provider, "external_id": id_, "changed_at": at} for id_, at in sorted(times.items())]
    upsert(db, changes, noted, greatest=("changed_at",))


def issues_of(db: Connection, issue_ids: Collection[int]) -> dict[int, Row[Any]]:
    """Return what statuses and items are decided by of issues, by id."""
    names = ("id", "origin", "status", "status_updated_at", "title", "severity", "external_source", "external_id",
               "external_url", "assignee", "channel", "first_seen", "updated_at")  # fmt: skip
    wanted = select(*(_issues[name] for name in names))
    return {row.id: row for row in rows.among(db, wanted, _issues.id, issue_ids)}


def named_issues(db: Connection, source: str, external_ids: Collection[str]) -> dict[str, int]:
    """Return the ids of issues that name items of a provider, by the items' names."""
    wanted = select(_issues.external_id, _issues.id).where(_issues.external_source == source)
    return {row.external_id: row.id for row in rows.among(db, wanted, _issues.external_id, external_ids)}


def sample(db: Connection, issue_id: int) -> Row[Any] | None:
    """Return the sample texts of an issue."""
    return db.execute(select(*_samples).where(_samples.issue_id == issue_id)).first()


def begin(db: Connection, issue_id: int, provider: str, now: str) -> str | None:
    """Note that an item is made for an issue; returns when that was begun before."""
    before = db.execute(select(begun).where(begun.c.issue_id == issue_id)).first()
    if before is not None and before.provider == provider:
        return str(before.begun_at)
    row = {"issue_id": issue_id, "provider": provider, "begun_at": now}
    upsert(db, begun, [row], replace=("provider", "begun_at"))
    return None


def begun_for(db: Connection, provider: str, issue_ids: Collection[int]) -> set[int]:
    """Return those of the issues for which an item of a provider is being made."""
    here = (begun.c.provider == provider, begun.c.issue_id.in_(sorted(issue_ids)))
    return set(db.scalars(select(begun.c.issue_id).where(*here))) if issue_ids else set()


def end(db: Connection, issue_id: int) -> None:
    """Forget that an item is made for an issue."""
    db.execute(delete(begun).where(begun.c.issue_id == issue_id))
