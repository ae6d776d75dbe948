"""Writing a dump: each application in one consistent read transaction, row by row, while it is in use."""

import base64
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, func, select
from sqlalchemy.schema import sort_tables

from snaglist.kernel import Application, hookspecs, store, times
from snaglist.kernel.columns import metadata
from snaglist.kernel.faults import DAMAGED, Unusable
from snaglist.kernel.service import Service
from snaglist.plugins.system.dumping.file import Writer, write_dump
from snaglist.plugins.system.dumping.numbers import last_number, never_again
from snaglist.plugins.system.dumping.salvage import salvaged
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.repairing import check
from snaglist.plugins.system.upgrading import unused

FETCHED = 500
Progress = Callable[[int, int | None, str], None]


@dataclass(frozen=True, slots=True)
class Dumped:
    """What was written of an application. `left_out`: whose tables were not, and what is the matter with the plugin."""

    rows: int
    left_out: dict[str, str]
    lost: dict[str, int] = field(default_factory=dict)  # of a damaged one, by table; -1: nobody knows how many


def dump(
    service: Service,
    applications: Sequence[Application],
    path: Path,
    progress: Progress,
    left: list[Unusable] | None = None,
) -> dict[str, Dumped]:
    """Write applications into one file; returns what was written by id.

    Of a damaged SQLite file what can be read. One that cannot be written is entered in `left`, or raises Unusable.
    """
    header = {"version": service.version, "created_at": times.now(), "engine": service.database.engine_name}
    written: dict[str, Dumped] = {}
    with write_dump(path, header) as writer:
        for application in applications:
            try:
                written[application.id] = _dump(service, application, writer, progress)
            except Unusable as error:
                if left is None or len(left) + 1 == len(applications):
                    raise
                left.append(error)
    return written


def _dump(service: Service, application: Application, writer: Writer, progress: Progress) -> Dumped:
    before = writer.rows
    try:
        check(service, application)
    except Unusable as error:
        if error.fault is not DAMAGED:
            raise
        try:  # another database under the same id, for as long as it is dumped
            with salvaged(service, application, tables_of(service)) as (saved, losses):
                left_out = _dump_application(service, saved, writer, progress)
                return Dumped(writer.rows - before, left_out, losses.rows)
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            raise error from None  # nothing can be read, not even which tables there are
        finally:
            service.applications.forget_state(application)
    left_out = _dump_application(service, application, writer, progress)
    return Dumped(writer.rows - before, left_out)


def tables_of(service: Service) -> list[Table]:
    """Return the tables of an application whose owners are loaded, each after those it refers to."""
    known = {table.name for plugin in service.plugins.loaded() for table in plugin.values(hookspecs.register_tables)}
    known |= {store.settings.name, tables.jobs.name}
    # Sorted by themselves: what a table of a failed plugin refers to may not be there.
    return sort_tables([table for table in metadata.tables.values() if table.name in known])


def _dump_application(service: Service, application: Application, writer: Writer, progress: Progress) -> dict[str, str]:
    service.applications.forget_state(application)
    service.require_schema(application)
    with service.database.transaction(application, write=False, snapshot=True) as db:
        ledger = select(store.schema_step.c.owner, store.schema_step.c.name).order_by(
            store.schema_step.c.owner, store.schema_step.c.name
        )
        shown = {"id": application.id, "name": application.name, "created_at": application.created_at}
        steps = [list(row) for row in db.execute(ledger)]
        writer.application({"application": shown, "steps": steps})
        tables = tables_of(service)
        total = sum(db.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)
        first = writer.rows
        for table in tables:
            last = {"last": last_number(db, table)} if never_again(table) else {}
            writer.line({"table": table.name, "columns": [column.name for column in table.columns], **last})
            _dump_table(db, table, writer, lambda: progress(writer.rows - first, total, application.id))
        return unused(service, (owner for owner, _ in steps))


def _dump_table(db: Connection, table: Table, writer: Writer, moved: Callable[[], None]) -> None:
    encoders = [_base64 if isinstance(column.type, LargeBinary) else _same for column in table.columns]
    rows = db.execute(select(table).order_by(*table.primary_key.columns), execution_options={"yield_per": FETCHED})
    for some in rows.partitions():
        for row in some:
            writer.row([encode(value) for encode, value in zip(encoders, row, strict=True)])
        moved()


def _base64(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


def _same(value: Any) -> Any:
    return value
