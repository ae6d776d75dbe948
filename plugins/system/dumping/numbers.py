"""The last number that a table gave to a row.

An id that was given once stays taken when its row is gone: a merged issue's id means another issue for ever. So a
dump carries the numbers of tables that say so (`sqlite_autoincrement`), each engine keeps them elsewhere.
"""

import re

from sqlalchemy import ColumnElement, Connection, Table, func, select, text

from snaglist.plugins.system.bulk import qualified

_COUNTER = re.compile(r"^\).*?\bAUTO_INCREMENT=(\d+)", re.MULTILINE)


def never_again(table: Table) -> bool:
    """Say whether ids of the table are never given again."""
    return bool(table.dialect_options["sqlite"]["autoincrement"])


def last_number(db: Connection, table: Table) -> int:
    """Return the highest id that the table ever gave, 0 before the first."""
    engine = db.dialect.name
    if engine == "sqlite":
        found = db.execute(text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name}).scalar()
    elif engine == "postgresql":
        found = db.execute(select(func.pg_sequence_last_value(_sequence(db, table)))).scalar()
    else:
        # Not from information_schema, which MySQL answers from a cache.
        made = db.execute(text(f"SHOW CREATE TABLE {qualified(db, table)}")).one()[1]
        counter = _COUNTER.search(made)
        found = int(counter[1]) - 1 if counter else 0
    return found or 0


def take_numbers(db: Connection, table: Table, last: int) -> None:
    """Let the table's next id be above `last`; on MariaDB and MySQL this ends the open transaction."""
    if last <= last_number(db, table):
        return
    engine = db.dialect.name
    if engine == "sqlite":
        db.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), {"name": table.name})
        db.execute(text("INSERT INTO sqlite_sequence VALUES (:name, :last)"), {"name": table.name, "last": last})
    elif engine == "postgresql":
        db.execute(select(func.setval(_sequence(db, table), last)))
    else:
        db.execute(text(f"ALTER TABLE {qualified(db, table)} AUTO_INCREMENT = {last + 1:d}"))


def restart_numbers(db: Connection, table: Table) -> None:
    """Let PostgreSQL's next id be above all that were loaded or taken; the other engines do so by themselves."""
    if db.dialect.name == "postgresql" and table.autoincrement_column is not None:
        sequence = _sequence(db, table)
        highest = func.greatest(func.max(table.c.id), func.pg_sequence_last_value(sequence))
        db.execute(select(func.setval(sequence, highest)))


def _sequence(db: Connection, table: Table) -> ColumnElement[str]:
    return func.pg_get_serial_sequence(qualified(db, table), "id")
