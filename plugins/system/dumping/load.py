"""Loading a dump: the file is read to its end first, then each application's rows arrive in one transaction."""

import base64
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, MetaData, Table, delete, inspect, select, text
from sqlalchemy.exc import DBAPIError

from snaglist.kernel import Application, Conflict, store
from snaglist.kernel.database import ends_transaction
from snaglist.kernel.faults import MISSING, Unusable
from snaglist.kernel.service import Service
from snaglist.kernel.text import slug
from snaglist.plugins.system.bulk import insert_rows
from snaglist.plugins.system.dumping.dump import Progress, tables_of
from snaglist.plugins.system.dumping.file import DumpFile, read_dump
from snaglist.plugins.system.dumping.numbers import restart_numbers, take_numbers
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.registering import (
    REPLACEABLE,
    register_application,
    rename_application,
    replace_database,
    was_used,
)
from snaglist.plugins.system.repairing import check
from snaglist.plugins.system.upgrading import unused

MAX_ROWS = 1_000
MAX_CHARACTERS = 4_000_000
Ledger = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Part:
    """One application of a dump, and the schema steps it had."""

    application: Application
    steps: Ledger


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the rows of a table go; `table` is None when no loaded plugin has it."""

    name: str
    table: Table | None
    columns: list[str]
    decoders: list[Callable[[Any], Any]]


Record = tuple[Part, Rows | None, list[Any]]


class Loader:
    """Loads applications of one file into an installation."""

    def __init__(self, service: Service, path: Path, progress: Progress) -> None:
        self._service = service
        self._path = path
        self._size = path.stat().st_size
        self._progress = progress
        self._tables = {table.name: table for table in tables_of(service)}
        self._last: dict[str, dict[str, int]] = {}  # by application and table; known once the file was read
        # By application: whose rows were left out, and what is the matter with the plugin.
        self.left_out: dict[str, dict[str, str]] = {}

    def load(self, wanted: str | None, *, replace: bool) -> dict[str, int]:
        """Load all applications, or the wanted one; returns their numbers of rows by id.

        Before anything is written the file is read to its end, and an application that exists is refused
        unless `replace` is true. Rows of plugins that do not work here are left out: `left_out` names them.
        """
        found = self._check(wanted)
        applications = self._service.applications
        if applications.lost():  # with a new one the others would be forgotten
            raise Unusable(applications.registry, MISSING)
        applications.make_registry()
        known = {application.id: application for application in applications.refresh()}
        for application_id in found:
            there = known.get(application_id) or applications.make(application_id, "", "")
            if application_id in known or was_used(self._service, there):
                self._refuse(there, replace)
        for part, records in groupby(self._records("loading"), key=itemgetter(0)):
            if (name := part.application.id) in found:
                loaded = self._load(part, records, registered=name in known)
                if loaded < found[name]:
                    self.left_out[name] = unused(self._service, (owner for owner, _ in part.steps))
                found[name] = loaded
        return found

    def _check(self, wanted: str | None) -> dict[str, int]:
        found: dict[str, int] = {}
        for part, rows, _ in self._records("checking"):
            if wanted is not None and part.application.id != wanted:
                continue
            found.setdefault(part.application.id, 0)
            if rows is None:
                if self._service.steps.compare(part.steps).newer:
                    raise DumpFile("its schema is newer than this version of snaglist")
            else:
                found[part.application.id] += 1
        if not found:
            raise DumpFile("holds no application" if wanted is None else f"holds no application {wanted}")
        return found

    def _refuse(self, application: Application, replace: bool) -> None:
        if not replace:
            raise Conflict(f"The application {application.id} exists; --replace loads over it.")
        try:
            self._service.require_schema(application)
        except Unusable:
            return
        with self._service.database.transaction(application, write=False) as db:
            if db.execute(select(tables.jobs.c.id).where(tables.jobs.c.status == "running").limit(1)).first():
                raise Conflict(f"A job of {application.id} is running.")

    def _records(self, title: str) -> Iterator[Record]:
        """Give each row with its application and table; an application comes first with neither."""
        part: Part | None = None
        rows: Rows | None = None
        unknown = False
        for line in read_dump(self._path, lambda position: self._progress(position, self._size, title)):
            if isinstance(line, list):
                if part is None or rows is None or len(line) != len(rows.columns):
                    raise DumpFile("damaged")
                if rows.table is None and not unknown and not unused(self._service, (owner for owner, _ in part.steps)):
                    raise DumpFile(f"holds rows of {rows.name}, a table of a plugin that is not installed here")
                yield part, rows, line
            elif "application" in line:
                part, rows = self._part(line["application"], line["steps"]), None
                yield part, None, []
            else:
                if part is None:
                    raise DumpFile("damaged")
                # Tables of an earlier version are known when its steps have made them.
                unknown = title == "checking" and bool(self._service.steps.compare(part.steps).pending)
                rows = self._rows(None if unknown else self._tables.get(line["table"]), line["table"], line["columns"])
                if "last" in line:
                    self._last.setdefault(part.application.id, {})[rows.name] = line["last"]

    def _part(self, described: dict[str, str], steps: list[list[str]]) -> Part:
        if slug(described["id"]) != described["id"]:
            raise DumpFile("damaged")
        application = self._service.applications.make(described["id"], described["name"], described["created_at"])
        return Part(application, frozenset((owner, name) for owner, name in steps))

    def _rows(self, table: Table | None, name: str, columns: list[str]) -> Rows:
        if table is None:
            return Rows(name, None, columns, [])
        if not set(columns) <= set(table.columns.keys()):
            raise DumpFile(f"the columns of {name} are not those of this version of snaglist")
        binary = [isinstance(table.c[column].type, LargeBinary) for column in columns]
        return Rows(name, table, columns, [_bytes if is_bytes else _same for is_bytes in binary])

    # -- writing

    def _load(self, part: Part, records: Iterator[Record], *, registered: bool) -> int:
        """Load an application; returns the number of rows."""
        service, application = self._service, part.application
        self._make_database(application)
        self._make_schema(part)
        # In a transaction of its own, which MariaDB ends with each: if the rest fails, some numbers are skipped.
        with service.database.transaction(application, write=True) as db:
            for name, last in self._last.get(application.id, {}).items():
                if name in self._tables:
                    take_numbers(db, self._tables[name], last)
        with service.database.transaction(application, write=True) as db:
            for table in reversed(self._tables.values()):
                db.execute(delete(table))
            loaded = 0
            for rows, batch in _batches(records):
                _insert(db, rows, batch)
                loaded += len(batch)
            for table in self._tables.values():
                restart_numbers(db, table)
        service.upgrade_application(application)
        if registered:
            rename_application(service, application.id, application.name)
        else:
            register_application(service, application)
        service.applications.forget_state(application)
        return loaded

    def _make_database(self, application: Application) -> None:
        """Make a database where there is none, or none that can be used: what is there stays beside it."""
        try:
            if self._service.database.exists(application):
                check(self._service, application)
                if not self._service.steps.state(application).fault:
                    return
        except Unusable as error:
            if error.fault not in REPLACEABLE:
                raise
        replace_database(self._service, application)

    def _make_schema(self, part: Part) -> None:
        """Bring the database to the steps that the dump had: later ones change rows too, and run afterwards."""
        steps, application = self._service.steps, part.application
        if self._known(steps.applied(application)) == self._known(part.steps):
            self._tables = {table.name: table for table in tables_of(self._service)}
            return
        while True:
            working = self._service.plugins.loaded()
            self._drop_tables(application)
            self._service.upgrade_application(application, only=part.steps)
            if self._service.plugins.loaded() == working:
                break
            # A plugin's step failed: once more without it, so that it has no tables here.
        self._tables = self._made(application)

    def _drop_tables(self, application: Application) -> None:
        with self._service.database.transaction(application, write=True) as db:
            schema = db.get_execution_options().get("tenant")
            if db.dialect.name == "sqlite":  # an index of texts is a table with others behind it, which go with it
                for name in db.execute(_VIRTUAL).scalars().all():
                    Table(name, MetaData()).drop(db)
            for name, _ in reversed(inspect(db).get_sorted_table_and_fkc_names(schema)):
                if name is not None:
                    Table(name, MetaData(), schema=schema).drop(db)

    def _made(self, application: Application) -> dict[str, Table]:
        """Return the tables as the steps of the dump made them, each after those it refers to."""
        live = {table.name: table for table in tables_of(self._service)}
        with self._service.database.transaction(application, write=False) as db:
            schema = db.get_execution_options().get("tenant")
            found = inspect(db)
            virtual = db.execute(_VIRTUAL).scalars().all() if db.dialect.name == "sqlite" else []
            names = [name for name, _ in found.get_sorted_table_and_fkc_names(schema) if name]
            names = [name for name in names if not any(f"{name}_".startswith(f"{one}_") for one in virtual)]
            columns = {name: {c["name"]: c["type"] for c in found.get_columns(name, schema)} for name in names}
        made = {}
        for name in names:
            if name == store.schema_step.name:
                continue
            if (table := live.get(name)) is None or set(table.columns.keys()) != columns[name].keys():
                known = {} if table is None else {column.name: column.type for column in table.columns}
                kinds = {**columns[name], **{one: kind for one, kind in known.items() if one in columns[name]}}
                table = Table(name, MetaData(), *(Column(n, k, primary_key=n == "id") for n, k in kinds.items()))
            made[name] = table
        return made

    def _known(self, ledger: Set[tuple[str, str]]) -> Set[tuple[str, str]]:
        return ledger - set(self._service.steps.compare(ledger).orphans)


_VIRTUAL = text("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")


def _batches(records: Iterable[Record]) -> Iterator[tuple[Rows, list[dict[str, Any]]]]:
    """Collect rows of one table, at most so many and so large that memory stays small."""
    for _, some in groupby(records, key=lambda record: id(record[1])):
        batch: list[dict[str, Any]] = []
        characters = 0
        for _, rows, values in some:
            if rows is None or rows.table is None:
                continue
            decoded = zip(rows.columns, rows.decoders, values, strict=True)
            batch.append({name: decode(value) for name, decode, value in decoded})
            characters += sum(len(value) for value in values if isinstance(value, str))
            if len(batch) >= MAX_ROWS or characters >= MAX_CHARACTERS:
                yield rows, batch
                batch, characters = [], 0
        if batch and rows is not None:
            yield rows, batch


def _insert(db: Connection, rows: Rows, batch: list[dict[str, Any]]) -> None:
    assert rows.table is not None  # the check came before
    try:
        insert_rows(db, rows.table, batch)
    except DBAPIError as error:
        if ends_transaction(error):
            raise
        raise DumpFile(f"rows of {rows.name} cannot be stored ({type(error.orig).__name__})") from error


def _bytes(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)


def _same(value: Any) -> Any:
    return value
