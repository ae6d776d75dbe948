"""Statements of modules."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Connection, RowMapping, delete, func, insert, or_, select, update

from snaglist.kernel import key
from snaglist.kernel.database import inserted_id
from snaglist.plugins.issues.tables import issues, modules

_SHOWN = (
    modules.c.id,
    modules.c.name,
    modules.c.slug,
    modules.c.color,
    modules.c.created_at,
    modules.c.updated_at,
    # Counted per module from the index on issues.module_id alone.
    select(func.count())
    .select_from(issues)
    .where(issues.c.module_id == modules.c.id)
    .scalar_subquery()
    .label("issue_count"),
)


def list_modules(db: Connection) -> list[dict[str, Any]]:
    """Return all modules as they are shown, by the comparison key of the name."""
    return [dict(row) for row in db.execute(select(*_SHOWN).order_by(modules.c.name_key)).mappings()]


def get_module(db: Connection, module_id: int) -> dict[str, Any]:
    """Return a module as it is shown."""
    return dict(db.execute(select(*_SHOWN).where(modules.c.id == module_id)).mappings().one())


def find_module(db: Connection, module_id: int) -> RowMapping | None:
    """Return the row of a module."""
    return db.execute(select(modules).where(modules.c.id == module_id)).mappings().first()


def hold_module(db: Connection, module_id: int) -> bool:
    """Keep a module from being deleted until the end of the transaction; False when there is none."""
    held = select(modules.c.id).where(modules.c.id == module_id).with_for_update(read=True, key_share=True)
    return db.execute(held).first() is not None


def find_by_slug_or_name(db: Connection, text: str) -> int | None:
    """Return the id of the module with that slug, else with that name."""
    wanted = key(text)
    statement = select(modules.c.id, modules.c.slug).where(or_(modules.c.slug == wanted, modules.c.name_key == wanted))
    found = sorted(db.execute(statement), key=lambda row: row.slug != wanted)
    return found[0].id if found else None


def is_taken(db: Connection, column: str, value: str, *, but: int | None = None) -> bool:
    """Tell whether a module other than `but` has that value."""
    found = db.execute(select(modules.c.id).where(modules.c[column] == value)).scalar()
    return found is not None and found != but


def add_module(db: Connection, columns: Mapping[str, Any]) -> int:
    """Insert a module; returns its id."""
    return inserted_id(db.execute(insert(modules).values(columns)))


def update_module(db: Connection, module_id: int, columns: Mapping[str, Any]) -> None:
    """Write columns of a module."""
    db.execute(update(modules).where(modules.c.id == module_id).values(columns))


def delete_module(db: Connection, module_id: int) -> None:
    """Remove a module."""
    db.execute(delete(modules).where(modules.c.id == module_id))


def holds(db: Connection, column: Column[int], module_id: int) -> bool:
    """Tell whether a row refers to a module."""
    return db.execute(select(column).where(column == module_id).limit(1)).first() is not None


def move(db: Connection, column: Column[int], module_id: int, target_id: int | None) -> None:
    """Let rows refer to another module, or to none."""
    db.execute(update(column.table).where(column == module_id).values({column.name: target_id}))
