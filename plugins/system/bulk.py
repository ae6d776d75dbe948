"""Many rows in one INSERT.

psycopg copies rows far faster than it executes an INSERT per row. Elsewhere they go to the driver as they are: what
SQLAlchemy does with the values of each row costs half as much as storing it.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Table, insert
from sqlalchemy.exc import DBAPIError

from snaglist.kernel.bulk import FEW, Rows, same, writer

# PERF: building a statement costs several times as much as executing it again.
_insert_of = lru_cache(maxsize=256)(insert)


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
    writers = {name: writer(db, table, name) for name in names}
    plain = {name for name, write in writers.items() if write is same}
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
