"""The connection that handlers, hooks and jobs get: its transaction is not theirs to end.

Ending it would keep half of what others do in it, and MariaDB ends it with each change of the schema. What only reads
writes on no database. Refused before it is sent, so that all three databases say the same.
"""

import re
from typing import Any

from sqlalchemy import Connection, TextClause
from sqlalchemy.schema import ExecutableDDLElement

_SHARED = "the transaction of call.db is shared: who opened it ends it, and the schema changes in steps alone"
_READING = "call.db is for reading here"
_ENDING = re.compile(
    r"\s*(?:BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|PREPARE|CREATE|ALTER|DROP|TRUNCATE|RENAME)\b", re.I
)
# At the beginning or in brackets, or behind those of WITH; not FOR UPDATE, and not a function that is called.
_WRITING = re.compile(r"(?:^|[()])\s*(?:(?:INSERT|REPLACE|MERGE)\s+\w|DELETE\s+FROM|UPDATE\s+[^\s(])", re.I)


class Lent(Connection):
    """A connection inside `Call.transaction`; `begin_nested` makes savepoints as ever."""

    reading = False

    def execute(self, statement: Any, *arguments: Any, **options: Any) -> Any:
        """Execute a statement that leaves the transaction as it is."""
        _check(self.reading, statement)
        return super().execute(statement, *arguments, **options)

    def scalar(self, statement: Any, *arguments: Any, **options: Any) -> Any:
        """Execute such a statement and return its first value."""
        _check(self.reading, statement)
        return super().scalar(statement, *arguments, **options)

    def exec_driver_sql(self, statement: str, *arguments: Any, **options: Any) -> Any:
        """Execute such a statement as it is."""
        _check(self.reading, statement)
        return super().exec_driver_sql(statement, *arguments, **options)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(_SHARED)

    commit: Any = _refuse
    rollback: Any = _refuse
    close: Any = _refuse
    get_transaction: Any = _refuse


class _ForReading(Lent):
    reading = True


def lend(connection: Connection, *, reading: bool) -> Connection:
    """Guard a connection whose transaction others share; whoever opened it makes it a plain one again to end it."""
    connection.__class__ = _ForReading if reading else Lent
    return connection


def _check(reading: bool, statement: Any) -> None:
    words = statement.text if isinstance(statement, TextClause) else statement if isinstance(statement, str) else ""
    if isinstance(statement, ExecutableDDLElement) or _ENDING.match(words):
        raise RuntimeError(_SHARED)
    if reading and (getattr(statement, "is_dml", False) or _WRITING.search(words)):
        raise RuntimeError(_READING)
