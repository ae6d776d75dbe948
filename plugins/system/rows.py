"""Rows and columns of tables, for areas and wheels: one row by its id, many by values, a page; promised columns."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import (
    ColumnCollection,
    ColumnElement,
    Connection,
    Delete,
    Row,
    Select,
    Table,
    Update,
    delete,
    func,
    insert,
    select,
    update,
)  # fmt: skip
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from snaglist.kernel import Call, paging
from snaglist.kernel.database import chunks, inserted_id

__all__ = ["MOST", "add", "among", "change", "find", "page", "promised", "remove"]

MOST = 500  # values in one statement: databases bound their number


def find(db: Connection, table: Table, row_id: int, *, lock: bool = False) -> Row[Any] | None:
    """Return the row with an `id`, None without one; with `lock` kept from others until the end of the transaction."""
    found = select(table).where(table.c.id == row_id)
    return db.execute(found.with_for_update() if lock else found).first()


def add(db: Connection, table: Table, row: Mapping[str, Any]) -> int:
    """Insert a row and return its `id`; IntegrityError where it must not be twice."""
    return inserted_id(db.execute(insert(table).values(row)))


def change(db: Connection, table: Table, row_id: int, **values: Any) -> None:
    """Change columns of the row with an `id`."""
    db.execute(update(table).where(table.c.id == row_id).values(values))


def remove(db: Connection, table: Table, row_id: int) -> bool:
    """Delete the row with an `id`, and what its keys take along; False without one."""
    return db.execute(delete(table).where(table.c.id == row_id)).rowcount > 0


def among(
    db: Connection, statement: "Select[Any] | Update | Delete", column: ColumnElement[Any], values: Iterable[Any]
) -> list[Any]:
    """Run a statement for the rows whose column has one of the values, however many; returns what it selects."""
    found: list[Any] = []
    for some in chunks(sorted(values), MOST):
        result = db.execute(statement.where(column.in_(some)))
        found += result.all() if result.returns_rows else ()
    return found


def page(
    call: Call, listed: "Select[Any]", counted: Table, *wanted: ColumnElement[bool]
) -> tuple[list[Any], dict[str, int]]:
    """Return the rows of a list that are `wanted`, those of the page that the query asks for, and the answer's `meta`.

    `listed` may show more than the rows of the table `counted`, which tells how many there are.
    """
    number, limit = call.query["page"], call.query["limit"]
    total = call.db.execute(select(func.count()).select_from(counted).where(*wanted)).scalar_one()
    found = call.db.execute(listed.where(*wanted).limit(limit).offset((number - 1) * limit)).all()
    return list(found), paging.meta(total, number, limit)


class _Promised(ReadOnlyColumnCollection[str, Any]):
    def __getattr__(self, key: str) -> Any:
        try:
            return super().__getattr__(key)
        except AttributeError:
            raise AttributeError(f"{key} is not promised; these columns are: {', '.join(self.keys())}") from None


def promised(table: Table, *names: str) -> ColumnCollection[str, ColumnElement[Any]]:
    """Return columns of a table that others may read, and by no other names."""
    columns: Any = select(*(table.c[name] for name in names)).selected_columns
    return _Promised(columns)
