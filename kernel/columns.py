"""Column types of the data model, equal on SQLite, PostgreSQL and MySQL/MariaDB.

Text compares binary everywhere: SQLite by default, PostgreSQL by collation "C", MySQL/MariaDB by
the collation of the database that snaglist creates.
"""

import json
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Dialect, Double, ForeignKey, Integer, LargeBinary, MetaData, String
from sqlalchemy import Text as SqlText
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeDecorator, TypeEngine

from snaglist.kernel.text import storable

__all__ = [
    "JsonText", "blob", "data", "document", "flag", "id_column", "metadata", "moment", "number", "real", "reference",
    "text",
]  # fmt: skip

# All tables of an application's database; areas and plugins add theirs, so that foreign keys resolve.
metadata = MetaData()

_BIG = BigInteger().with_variant(Integer(), "sqlite")  # SQLite numbers rows itself only for INTEGER PRIMARY KEY


def short(length: int) -> TypeEngine[str]:
    """Text of at most `length` code points, usable in indexes up to 700."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def long_text() -> TypeEngine[str]:
    """Unlimited text."""
    return (
        SqlText().with_variant(SqlText(collation="C"), "postgresql").with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
    )


def blob() -> TypeEngine[bytes]:
    """Unlimited bytes."""
    return LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")


class JsonText(TypeDecorator[Any]):
    """A JSON value kept as text; None is SQL NULL."""

    impl = SqlText
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Take the long text type of the engine."""
        return dialect.type_descriptor(long_text())

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write compact JSON."""
        return None if value is None else storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Read it back."""
        return None if value is None else json.loads(value)


def id_column() -> Column[int]:
    """The 64-bit auto-increment key `id`."""
    return Column("id", _BIG, primary_key=True, autoincrement=True)


def reference(name: str, target: str, *, on_delete: str = "CASCADE", **options: Any) -> Column[int]:
    """A foreign key; `target` is `table.column`, like `issues.id`.

    `on_delete` is CASCADE or SET NULL (then nullable). It makes no index: add one to the table.
    """
    options.setdefault("nullable", on_delete == "SET NULL")
    return Column(name, _BIG, ForeignKey(target, ondelete=on_delete), **options)


def text(name: str, length: int | None = None, *, nullable: bool = False, **options: Any) -> Column[str]:
    """A text column of at most `length` code points, or unlimited."""
    return Column(name, short(length) if length else long_text(), nullable=nullable, **options)


def number(name: str, *, nullable: bool = False, **options: Any) -> Column[int]:
    """A 64-bit integer column."""
    return Column(name, _BIG if options.get("primary_key") else BigInteger(), nullable=nullable, **options)


def real(name: str, **options: Any) -> Column[float]:
    """A double precision column."""
    return Column(name, Double(), nullable=False, **options)


def flag(name: str, **options: Any) -> Column[bool]:
    """A boolean column."""
    return Column(name, Boolean(), nullable=False, **options)


def moment(name: str, *, nullable: bool = False, **options: Any) -> Column[str]:
    """A time column: `YYYY-MM-DD HH:MM:SS`, UTC."""
    return Column(name, short(19), nullable=nullable, **options)


def document(name: str, *, nullable: bool = False) -> Column[Any]:
    """A JSON column."""
    return Column(name, JsonText(), nullable=nullable)


def data(name: str, *, nullable: bool = False) -> Column[bytes]:
    """A bytes column."""
    return Column(name, blob(), nullable=nullable)
