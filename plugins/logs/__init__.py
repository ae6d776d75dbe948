"""Logs: parsers, the import of files and what is shown of sources."""

from collections.abc import Callable
from importlib import resources  # `files` is a module of this package
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Job, Option, hookimpl
from snaglist.plugins.issues import IssueChange
from snaglist.plugins.logs.collect.connectors import Dropped, find_dropped, holds_source, read_file, read_rest
from snaglist.plugins.logs.collect.discovery import compile_pattern, discover
from snaglist.plugins.logs.collect.drop_folder import due, is_dropped, rests, run_import
from snaglist.plugins.logs.collect.in_place import allowed_roots
from snaglist.plugins.logs.commands import add_commands
from snaglist.plugins.logs.handlers import ENDPOINTS, IMPORT
from snaglist.plugins.logs.ingestion import Ingestion, is_zone
from snaglist.plugins.logs.maintain.handlers import ENDPOINTS as MAINTENANCE
from snaglist.plugins.logs.maintain.handlers import JOBS
from snaglist.plugins.logs.options import OPTIONS
from snaglist.plugins.logs.parsers import AccessLine, Clock, Parser, Reader
from snaglist.plugins.logs.parsers.severity import by_level
from snaglist.plugins.logs.parsers.traces import read_trace
from snaglist.plugins.logs.pushing import (
    MAX_BREADCRUMBS,
    Delivery,
    Intake,
    Outcome,
    Pruner,
    Pushed,
    Rates,
    SenderKeys,
    admit,
    exceptions_of,
    give_back,
    read_pushed,
    redacted_names,
    sender_key,
    structure_of,
)
from snaglist.plugins.logs.pushing.packing import move_dictionaries
from snaglist.plugins.logs.read.files import open_file
from snaglist.plugins.logs.read.importing import import_file
from snaglist.plugins.logs.read.parsing import Reading
from snaglist.plugins.logs.read.portions import LineBatch, Rules
from snaglist.plugins.logs.read.requests import read_requests
from snaglist.plugins.logs.read.results import FileResult
from snaglist.plugins.logs.show.raw_text import read_event
from snaglist.plugins.logs.show.searching import FIELD
from snaglist.plugins.logs.steps import STEPS
from snaglist.plugins.logs.tables import TABLES

if TYPE_CHECKING:
    import click

__all__ = [
    "MAX_BREADCRUMBS",
    "AccessLine",
    "Clock",
    "Delivery",
    "Dropped",
    "FileResult",
    "Ingestion",
    "Intake",
    "LineBatch",
    "Outcome",
    "Parser",
    "Pruner",
    "Pushed",
    "Rates",
    "Reader",
    "Reading",
    "Rules",
    "SenderKeys",
    "admit",
    "allowed_roots",
    "by_level",
    "compile_pattern",
    "discover",
    "exceptions_of",
    "find_dropped",
    "give_back",
    "holds_source",
    "import_file",
    "is_zone",
    "open_file",
    "read_file",
    "read_requests",
    "read_rest",
    "read_trace",
    "redacted_names",
    "sender_key",
    "structure_of",
]


@hookimpl
def describe() -> Description:
    """Say what this area is."""
    text = "Reads log files and shows where events come from"
    return Description("logs", "Logs", text, "core", "0.1.0", core=True, after=("issues",))


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Register the keys of `ingestion`, of the archive's retention, and the status access lines need."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register what is shown of sources, how files are read, and their maintenance."""
    for endpoint in (*ENDPOINTS, *MAINTENANCE):
        register(endpoint)


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Declare the memory of deletions."""
    for table in TABLES:
        register(table)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Offer the schema steps."""
    for name, step in STEPS:
        register(name, step)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Read single events back from their files or stored texts, and let issues be found by what they came from."""
    if kind == "search field":
        register(FIELD.name, FIELD)
    if kind == "occurrence_reader":
        register("logs", read_event)
        register("pushed", read_pushed)


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> None:
    """Keep the dictionaries of issues that go into another one."""
    target = change.details.get("target_id")
    if change.kind == "merge" and isinstance(target, int):
        move_dictionaries(call.db, change.issue_ids, target)


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Register the import of dropped and followed files, and the jobs of maintenance."""
    for job in JOBS:
        register(job)
    every = "ingestion.interval_seconds"
    register(Job(IMPORT, run_import, "files", every=every, due=due, local=True, rests=rests, watch=is_dropped))


@hookimpl
def register_commands(cli: "click.Group") -> None:
    """Add `import`, `sources`, `explain` and `demo`."""
    add_commands(cli)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer the sources, their raw lines, and maintenance."""
    return Assets("logs", resources.files("snaglist.plugins.logs") / "ui", "logs.js")
