"""Writing a dump: each application in one consistent read transaction, row by row, while it is in use."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, func, select
from sqlalchemy.schema import sort_tables

from snaglist.kernel import store, times
from snaglist.kernel.applications import Application
from snaglist.kernel.columns import metadata
from snaglist.kernel.service import Service
from snaglist.plugins.system.dumping.file import Writer, write_dump
from snaglist.plugins.system.dumping.numbers import last_number, never_again
from snaglist.plugins.system.orphans import unused

FETCHED = 500
Progress = Callable[[int, int | None, str], None]


@dataclass(frozen=True, slots=True)
class Dumped:
    """What was written of an application. `left_out`: whose tables were not, and what is the matter with the plugin."""

    rows: int
    left_out: dict[str, str]


def dump(service: Service, applications: Sequence[Application], path: Path, progress: Progress) -> dict[str, Dumped]:
    """Write applications into one file; returns what was written by id."""
    header = {"version": service.version, "created_at": times.now(), "engine": service.database.engine_name}
    written: dict[str, Dumped] = {}
    with write_dump(path, header) as writer:
        for application in applications:
            before = writer.rows
            left_out = _dump_application(service, application, writer, progress)
            written[application.id] = Dumped(writer.rows - before, left_out)
    return written


def tables_of(service: Service) -> list[Table]:
    """Return the tables of an application whose owners are loaded, each after those it refers to."""
    known = {table.name for plugin in service.plugins.loaded() for table in plugin.tables}
    known |= {store.settings.name, store.jobs.name}
    # Sorted by themselves: what a table of a failed plugin refers to may not be there.
    return sort_tables([table for table in metadata.tables.values() if table.name in known])


def _dump_application(service: Service, application: Application, writer: Writer, progress: Progress) -> dict[str, str]:
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
