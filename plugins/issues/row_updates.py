"""Changes of many rows in one statement: MySQL's drivers, and psycopg, send an UPDATE per row one after another."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Table, Update, bindparam, text, update

from snaglist.kernel.bulk import FEW, Rows, is_text, records, recordset
from snaglist.plugins.system import qualified


def update_rows(db: Connection, table: Table, rows: Rows) -> None:
    """Set columns of rows by their id; each row holds `row_id` and the same text and number columns."""
    if not rows:
        return
    names = [name for name in rows[0] if name != "row_id"]
    if db.dialect.name == "sqlite" or len(rows) < FEW:
        db.execute(_update_of(table), list(rows))
    elif db.dialect.name == "postgresql":
        new = recordset(table, names, "row_id")
        statement = update(table).where(table.c.id == new.c.row_id).values({name: new.c[name] for name in names})
        db.execute(statement, {"rows": records(db, table, rows)})
    else:
        db.execute(_joined_update(db, table, names), {"rows": records(db, table, rows)})


@lru_cache(maxsize=256)
def _update_of(table: Table) -> Update:
    return update(table).where(table.c.id == bindparam("row_id"))


def _joined_update(db: Connection, table: Table, names: Sequence[str]) -> Any:
    quote = db.dialect.identifier_preparer.quote

    def declared(name: str) -> str:
        kind = table.c["id" if name == "row_id" else name].type
        shown = "LONGTEXT" if is_text(kind) else kind.compile(db.dialect)
        return f"{quote(name)} {shown} PATH '$.{name}'"

    columns = ", ".join(declared(name) for name in ["row_id", *names])
    changes = ", ".join(f"old.{quote(name)} = new.{quote(name)}" for name in names)
    # STRAIGHT_JOIN: read the new values first, then each row by its id; never the whole table.
    return text(
        f"UPDATE JSON_TABLE(:rows, '$[*]' COLUMNS ({columns})) AS new"
        f" STRAIGHT_JOIN {qualified(db, table)} AS old ON old.id = new.row_id SET {changes}"
    )
