"""What can be read of a damaged SQLite file, as a database in order that can be dumped.

Rows are copied one by one into a new database of the same schema steps, from the beginning of each table until a row
cannot be read, then from its end. What refers to rows that are lost goes, too, as a dump with it could not be loaded.
"""

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sqlalchemy import Table

from snaglist.kernel import Application
from snaglist.kernel.faults import NEWER, Unusable
from snaglist.kernel.service import Service

Ledger = frozenset[tuple[str, str]]


@dataclass(slots=True)
class Losses:
    """Rows that were not saved by table; -1 where nobody knows how many there were."""

    rows: dict[str, int] = field(default_factory=dict)

    def add(self, table: str, number: int) -> None:
        """Count rows of a table; once nobody knows, it stays so."""
        if number:
            known = self.rows.get(table, 0)
            self.rows[table] = -1 if -1 in (known, number) else known + number


@contextmanager
def salvaged(
    service: Service, application: Application, tables: Sequence[Table]
) -> Iterator[tuple[Application, Losses]]:
    """Give an application of the same name whose database holds what could be read, and what could not."""
    with tempfile.TemporaryDirectory() as folder:
        saved = replace(application, folder=Path(folder), tenant=f"{application.tenant} saved")
        losses = Losses()
        try:
            service.database.create(saved)
            with closing(_open(application.file)) as source:
                ledger = _ledger(source)
                if ledger and service.steps.compare(ledger).newer:
                    raise Unusable(application, NEWER)
                service.steps.upgrade(saved, only=ledger)
                service.database.release(saved)
                with closing(sqlite3.connect(saved.file, isolation_level=None)) as target:
                    _copy(source, target, tables, losses)
            service.steps.upgrade(saved)
            yield saved, losses
        finally:
            service.database.release(saved)


def _open(file: Path) -> sqlite3.Connection:
    # Not read-only: what is still in the log beside the file (-wal) is read with it.
    opened = sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True, isolation_level=None)
    opened.execute(
        "PRAGMA writable_schema = ON"
    )  # else nothing is read where the end, or a part of the schema, is lost
    opened.execute("PRAGMA query_only = ON")
    opened.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()  # fails where nothing can be read
    return opened


def _ledger(source: sqlite3.Connection) -> Ledger | None:
    """Return the steps that the file had; None, that is all of this version, where that cannot be read."""
    with suppress(sqlite3.DatabaseError):
        return frozenset(source.execute("SELECT owner, name FROM schema_step")) or None
    return None


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, tables: Sequence[Table], losses: Losses) -> None:
    target.execute("PRAGMA foreign_keys = OFF")
    target.execute("BEGIN")
    for table in tables:
        there = {row[1] for row in target.execute(f'PRAGMA table_info("{table.name}")')}
        columns = [column.name for column in table.columns if column.name in there]
        if columns:
            losses.add(table.name, _copy_table(source, target, table.name, columns))
    _copy_numbers(source, target)
    while orphans := {(row[0], row[1]) for row in target.execute("PRAGMA foreign_key_check")}:
        for name, rowid in orphans:
            target.execute(f'DELETE FROM "{name}" WHERE rowid = ?', (rowid,))
            losses.add(name, 1)
    target.execute("COMMIT")


def _copy_table(source: sqlite3.Connection, target: sqlite3.Connection, name: str, columns: list[str]) -> int:
    """Copy a table; returns how many rows were lost, -1 for nobody knows."""
    listed = ", ".join(f'"{column}"' for column in columns)
    insert = f'INSERT OR IGNORE INTO "{name}" ({listed}) VALUES ({", ".join("?" * len(columns))})'
    target.execute(f'DELETE FROM "{name}"')
    read = whole = 0
    # NOT INDEXED: a damaged index must not hide rows that are there.
    for order in ("ASC", "DESC"):
        try:
            for row in source.execute(f'SELECT {listed} FROM "{name}" NOT INDEXED ORDER BY rowid {order}'):
                read += target.execute(insert, row).rowcount
            whole = 1
            break
        except sqlite3.DatabaseError:
            continue
    if whole:
        return 0
    with suppress(sqlite3.DatabaseError):
        return max(0, int(source.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]) - read) or -1
    return -1


def _copy_numbers(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Ids that were given stay taken."""
    with suppress(sqlite3.DatabaseError):
        for name, last in source.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
            if not target.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name)).rowcount:
                target.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, last))
