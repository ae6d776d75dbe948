"""Many rows in one statement, where a driver by itself sends them one after another.

psycopg copies and expands a JSON document far faster than it executes an INSERT or UPDATE per row, and
MySQL's drivers join the rows of an INSERT only: an UPDATE per row costs a round trip each. An INSERT of many rows goes
to the driver as it is: what SQLAlchemy does with the values of each row costs half as much as storing it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Table, bindparam, cast, column, func, insert
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.selectable import TableValuedAlias
from sqlalchemy.types import LargeBinary, String, Text, TypeEngine

from snaglist.kernel.columns import JsonText

__all__ = ["FEW", "Rows", "insert_rows", "is_text", "qualified", "records", "recordset"]

FEW = 8  # below this many rows the plain way is as fast
Rows = Sequence[Mapping[str, Any]]


def qualified(db: Connection, table: Table) -> str:
    """Return a table's quoted name with its tenant, for the few statements that are not built by SQLAlchemy."""
    preparer = db.dialect.identifier_preparer
    schema = db.schema_for_object(table)
    return f"{preparer.quote_schema(schema)}.{preparer.quote(table.name)}" if schema else preparer.quote(table.name)


def insert_rows(db: Connection, table: Table, rows: Rows) -> None:
    """Insert rows that have the same columns each."""
    if not rows:
        return
    if len(rows) < FEW:
        db.execute(_insert_of(table), list(rows))
        return
    names = list(rows[0])
    columns = ", ".join(map(db.dialect.identifier_preparer.quote, names))
    if db.dialect.driver == "psycopg":
        _copy(db, f"COPY {qualified(db, table)} ({columns}) FROM STDIN", _written(db, table, names, rows))
        return
    mark = "?" if db.dialect.paramstyle == "qmark" else "%s"
    values = ", ".join([mark] * len(names))
    statement = f"INSERT INTO {qualified(db, table)} ({columns}) VALUES ({values})"
    db.exec_driver_sql(statement, list(_written(db, table, names, rows)))


def _written(db: Connection, table: Table, names: Sequence[str], rows: Rows) -> Iterator[tuple[Any, ...]]:
    """Give the driver's values of rows, in the order of the names."""
    writers = {name: _writer(db, table, name) for name in names}
    plain = {name for name, write in writers.items() if write is _same}
    for row in rows:
        yield tuple([row[name] if name in plain else writers[name](row[name]) for name in names])


def _copy(db: Connection, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
    driver: Any = db.connection.driver_connection
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)
    except db.dialect.loaded_dbapi.Error as error:
        # SQLAlchemy did not see this statement, so its own exceptions have to be raised here.
        raise DBAPIError.instance(
            statement, None, error, db.dialect.loaded_dbapi.Error, hide_parameters=True, dialect=db.dialect
        ) from error


# PERF: building a statement costs several times as much as executing it again.
_insert_of = lru_cache(maxsize=256)(insert)


def recordset(table: Table, names: Sequence[str], *ids: str) -> TableValuedAlias:
    """Return PostgreSQL's table of a JSON document bound as `rows`; its columns are the table's and more ids."""
    columns = [column(name, table.c.id.type) for name in ids]
    columns += [column(name, Text() if is_text(table.c[name].type) else table.c[name].type) for name in names]
    found = func.json_to_recordset(cast(bindparam("rows", type_=Text()), JSON)).table_valued(*columns)
    return found.render_derived(name="new", with_types=True)


def records(db: Connection, table: Table, rows: Rows) -> str:
    """Return rows as the JSON document that `recordset` expands; absent members are NULL."""
    written = {name: _writer(db, table, name) for name in rows[0]}
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


def _writer(db: Connection, table: Table, name: str) -> Callable[[Any], Any]:
    """Return what makes the driver's value of a column's value."""
    if name not in table.c:
        return _same
    return table.c[name].type.dialect_impl(db.dialect).bind_processor(db.dialect) or _same


def _same(value: Any) -> Any:
    return value
