"""Changes of a database's tables, for schema steps: create, add, rename and drop, alike on all three databases.

Each looks first and does only what is missing, so that a step can run again: MySQL and MariaDB commit every change at
once, and a step may be interrupted between two of them. Each acts on the application of its connection alone.

A step names tables and columns as they are when it is written. It never refers to the tables that the code uses now:
those change with later steps, and the step would make something else than it did.
"""

from collections.abc import Container
from typing import Any, cast

from sqlalchemy import Column, Connection, Index, MetaData, Table, inspect
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable, DropIndex, DropTable, SchemaItem

__all__ = [
    "add_column", "add_index", "create_table", "drop_column", "drop_index", "drop_table", "rename_column",
    "rename_table",
]  # fmt: skip


def create_table(db: Connection, name: str, *parts: SchemaItem, **options: Any) -> None:
    """Create a table of columns, constraints and indexes, given as `sqlalchemy.Table` takes them."""
    table = _table(name, *parts, **options)
    if name in _tables(db):
        _create_indexes(db, table, _indexes(db, name))
    else:
        db.execute(CreateTable(table))
        _create_indexes(db, table, ())


def drop_table(db: Connection, name: str) -> None:
    """Drop a table; ValueError while another one refers to it (SQLite would delete the rows there)."""
    if name not in (names := _tables(db)):
        return
    for other in names:
        if other != name and any(key["referred_table"] == name for key in _foreign_keys(db, other)):
            raise ValueError(f"{other} refers to {name}")
    db.execute(DropTable(_table(name)))


def rename_table(db: Connection, old: str, new: str) -> None:
    """Rename a table; what refers to it follows, and its indexes keep their names."""
    if _is_to_rename(_tables(db), old, new):
        # MySQL wants the name of the database with both names, the others with the first only.
        target = _quoted(db, new) if db.dialect.name in ("sqlite", "postgresql") else _table_name(db, new)
        _alter(db, old, f"RENAME TO {target}")


def add_column(db: Connection, table: str, column: Column[Any]) -> None:
    """Add a column; what it refers to and an index come along when it has `ForeignKey(...)` and `index=True`.

    ValueError for a primary key or `unique=True` (which `add_index` can do), and where the rows that are there would
    have no value: it must be nullable or have a `server_default`.
    """
    if column.primary_key or column.unique or (not column.nullable and column.server_default is None):
        raise ValueError(f"{table}.{column.name} must be nullable or have a server_default, and not be a key or unique")
    made = _table(table, column)
    if column.name not in _columns(db, table):
        change = f"ADD COLUMN {CreateColumn(column).compile(dialect=db.dialect)}"
        for key in column.foreign_keys:
            to = f"REFERENCES {_table_name(db, key.column.table.name)} ({_quoted(db, key.column.name)})"
            to += f" ON DELETE {key.ondelete}" if key.ondelete else ""
            # SQLite takes it only as a part of the column, MySQL only beside it.
            change += (
                f" {to}" if db.dialect.name == "sqlite" else f", ADD FOREIGN KEY ({_quoted(db, column.name)}) {to}"
            )
        _alter(db, table, change)
    _create_indexes(db, made, _indexes(db, table))


def rename_column(db: Connection, table: str, old: str, new: str) -> None:
    """Rename a column; its indexes and foreign keys follow."""
    if _is_to_rename(_columns(db, table), old, new):
        _alter(db, table, f"RENAME COLUMN {_quoted(db, old)} TO {_quoted(db, new)}")


def drop_column(db: Connection, table: str, name: str) -> None:
    """Drop a column with the indexes that hold it; ValueError for one in a key or a unique constraint."""
    if name not in _columns(db, table):
        return
    found, schema = inspect(db), _schema(db)
    held = [key["constrained_columns"] for key in _foreign_keys(db, table)]
    held += [found.get_pk_constraint(table, schema)["constrained_columns"]]
    held += [unique["column_names"] for unique in found.get_unique_constraints(table, schema)]
    if any(name in columns for columns in held):
        raise ValueError(f"{table}.{name} is in a key or a unique constraint: make a new table and copy the rows")
    for index in found.get_indexes(table, schema):
        if name in index["column_names"]:
            drop_index(db, table, str(index["name"]))
    _alter(db, table, f"DROP COLUMN {_quoted(db, name)}")


def add_index(db: Connection, table: str, index: Index) -> None:
    """Add an index, unique or not: `add_index(db, "notes", Index("ix_notes_author", "author"))`."""
    _create_indexes(db, _table(table, *map(Column, _columns(db, table)), index), _indexes(db, table))


def drop_index(db: Connection, table: str, name: str) -> None:
    """Drop an index."""
    if name in _indexes(db, table):
        db.execute(DropIndex(Index(name, _table(table, Column("any")).c.any)))


def _table(name: str, *parts: SchemaItem, **options: Any) -> Table:
    """Return a table as a step describes it, with as much of those it refers to as statements need."""
    table = Table(name, MetaData(), *parts, **options)
    for key in table.foreign_keys:
        target, _, column = key.target_fullname.rpartition(".")
        if target != name:
            Table(target, table.metadata, Column(column, key.parent.type), extend_existing=True)
    return table


def _create_indexes(db: Connection, table: Table, there: Container[str | None]) -> None:
    for index in sorted(table.indexes, key=lambda index: str(index.name)):
        if index.name not in there:
            db.execute(CreateIndex(index))


def _is_to_rename(names: Container[str], old: str, new: str) -> bool:
    """Tell whether it is still to be done; ValueError where it never was to be: neither name is there, or both."""
    if (old in names) == (new in names):
        raise ValueError(f"{old} cannot be renamed to {new}: {'both are' if old in names else 'neither is'} there")
    return old in names


def _schema(db: Connection) -> str | None:
    return cast("str | None", db.get_execution_options().get("tenant"))


def _tables(db: Connection) -> set[str]:
    return set(inspect(db).get_table_names(_schema(db)))


def _columns(db: Connection, table: str) -> list[str]:
    return [column["name"] for column in inspect(db).get_columns(table, _schema(db))]


def _indexes(db: Connection, table: str) -> set[str | None]:
    return {index["name"] for index in inspect(db).get_indexes(table, _schema(db))}


def _foreign_keys(db: Connection, table: str) -> list[Any]:
    return list(inspect(db).get_foreign_keys(table, _schema(db)))


def _alter(db: Connection, table: str, change: str) -> None:
    db.exec_driver_sql(f"ALTER TABLE {_table_name(db, table)} {change}")


def _table_name(db: Connection, name: str) -> str:
    schema = _schema(db)
    return f"{_quoted(db, schema)}.{_quoted(db, name)}" if schema else _quoted(db, name)


def _quoted(db: Connection, name: str) -> str:
    return db.dialect.identifier_preparer.quote(name)
