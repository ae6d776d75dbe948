"""Many rows in one statement on PostgreSQL, as a JSON document.

psycopg sends and expands one far faster than it executes an INSERT or UPDATE per row.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, bindparam, cast, column, func
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlalchemy.types import LargeBinary, String, Text, TypeEngine

from snaglist.kernel.columns import JsonText

__all__ = ["FEW", "Rows", "is_text", "records", "recordset", "same", "writer"]

FEW = 8  # below this many rows the plain way is as fast
Rows = Sequence[Mapping[str, Any]]


def recordset(table: Table, names: Sequence[str], *ids: str) -> TableValuedAlias:
    """Return PostgreSQL's table of a JSON document bound as `rows`; its columns are the table's and more ids."""
    columns = [column(name, table.c.id.type) for name in ids]
    columns += [column(name, Text() if is_text(table.c[name].type) else table.c[name].type) for name in names]
    found = func.json_to_recordset(cast(bindparam("rows", type_=Text()), JSON)).table_valued(*columns)
    return found.render_derived(name="new", with_types=True)


def records(db: Connection, table: Table, rows: Rows) -> str:
    """Return rows as the JSON document that `recordset` expands; absent members are NULL."""
    written = {name: writer(db, table, name) for name in rows[0]}
    document = [{name: written[name](value) for name, value in row.items() if value is not None} for row in rows]
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def takes_records(db: Connection, table: Table, rows: Rows) -> bool:
    """Tell whether rows are worth a JSON document on this database; bytes have no place in one."""
    if db.dialect.name != "postgresql" or len(rows) < FEW:
        return False
    return not any(isinstance(getattr(table.c[name].type, "impl", table.c[name].type), LargeBinary) for name in rows[0])


def is_text(kind: TypeEngine[Any]) -> bool:
    """Tell whether a column holds text, JSON included."""
    return isinstance(kind, String | JsonText)


def writer(db: Connection, table: Table, name: str) -> Callable[[Any], Any]:
    """Return what makes the driver's value of a column's value."""
    made = table.c[name].type.dialect_impl(db.dialect).bind_processor(db.dialect) if name in table.c else None
    return made or same


def same(value: Any) -> Any:
    """Return a value that the driver takes as it is."""
    return value
