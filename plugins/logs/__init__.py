"""Logs: parsers, the import of files and what is shown of sources."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources  # `files` is a module of this package
from importlib.metadata import version
from typing import Any

import click
from sqlalchemy import Column, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, SchemaStep, hookimpl
from snaglist.plugins.issues import Event, IssueChange, SearchField, Sources
from snaglist.plugins.logs import hookspecs, stored
from snaglist.plugins.logs.collect.connectors import Dropped, find_dropped, holds_source, read_file, read_rest
from snaglist.plugins.logs.collect.discovery import compile_pattern, discover
from snaglist.plugins.logs.collect.drop_folder import due, is_dropped, rests, run_import
from snaglist.plugins.logs.collect.in_place import allowed_roots
from snaglist.plugins.logs.commands import COMMANDS
from snaglist.plugins.logs.grep.command import COMMANDS as GREP_COMMANDS
from snaglist.plugins.logs.grep.handlers import ENDPOINTS as GREP
from snaglist.plugins.logs.handlers import ENDPOINTS, IMPORT, latest_files, reading_warnings
from snaglist.plugins.logs.ingestion import Ingestion, is_zone
from snaglist.plugins.logs.maintain.handlers import ENDPOINTS as MAINTENANCE
from snaglist.plugins.logs.maintain.handlers import JOBS
from snaglist.plugins.logs.options import OPTIONS
from snaglist.plugins.logs.own_formats.commands import COMMANDS as FORMAT_COMMANDS
from snaglist.plugins.logs.own_formats.handlers import ENDPOINTS as FORMATS
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
from snaglist.plugins.logs.show import health
from snaglist.plugins.logs.show.raw_text import read_event
from snaglist.plugins.logs.show.searching import FIELD
from snaglist.plugins.logs.steps import STEPS
from snaglist.plugins.logs.store.queries import forget_connector, take_off
from snaglist.plugins.logs.tables import TABLES, sources
from snaglist.plugins.logs.uploading.handlers import ENDPOINTS as UPLOADS
from snaglist.plugins.logs.uploading.handlers import JOBS as UPLOADING
from snaglist.plugins.system import Job

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
    "forget_connector",
    "give_back",
    "holds_source",
    "hookspecs",
    "import_file",
    "is_zone",
    "open_file",
    "read_file",
    "read_requests",
    "read_rest",
    "read_trace",
    "redacted_names",
    "sender_key",
    "stored",
    "structure_of",
]


@hookimpl
def describe() -> Description:
    """Say what this area is."""
    text = "Reads log files and shows where events come from"
    return Description("logs", "Logs", text, "core", version("snaglist"), core=True, after=("issues",))


@hookimpl
def register_settings() -> Sequence[Option]:
    """Register the keys of `ingestion`, of the archive's retention, and the status access lines need."""
    return OPTIONS


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Register what is shown of sources, how files are read, and their maintenance."""
    return (*ENDPOINTS, *GREP, *FORMATS, *MAINTENANCE, *UPLOADS)


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the tables."""
    return TABLES


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
    """Offer the schema steps."""
    return STEPS


@hookimpl
def register_hookspecs() -> object:
    """Offer `register_parsers` and `lines_read`."""
    return hookspecs


@hookimpl
def check_added(hook: str, value: Any) -> None:
    """Look at parsers."""
    hookspecs.check_added(hook, value)


health_details = hookimpl(health.details)


@hookimpl
def doctor_warnings(call: Call) -> Iterable[str]:
    """Name the logs of the last days in which no time or no level is known."""
    return reading_warnings(call)


@hookimpl
def read_occurrence(call: Call, occurrence_id: int) -> Event | None:
    """Read single events back from their files or stored texts, for whoever shows or groups them again."""
    return read_event(call, occurrence_id) or read_pushed(call, occurrence_id)


@hookimpl
def register_sources() -> Mapping[str, Sources]:
    """Tell what events came from."""
    return {"sources": Sources(sources, take_off, latest_files)}


@hookimpl
def register_module_references() -> Sequence[Column[Any]]:
    """Tell that sources refer to modules."""
    return [sources.c.module_id]


@hookimpl
def register_search_fields() -> Sequence[SearchField]:
    """Let issues be found by what they came from."""
    return [FIELD]


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> None:
    """Keep the dictionaries of issues that go into another one."""
    target = change.details.get("target_id")
    if change.kind == "merge" and isinstance(target, int):
        move_dictionaries(call.db, change.issue_ids, target)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the import of dropped, uploaded and followed files, and the jobs of maintenance."""
    every = "ingestion.interval_seconds"
    return [
        *JOBS,
        *UPLOADING,
        Job(IMPORT, run_import, "files", every=every, due=due, local=True, rests=rests, watch=is_dropped),
    ]


@hookimpl
def register_commands() -> Sequence[click.Command]:
    """Add `import`, `sources`, `formats`, `grep`, `explain` and `demo`."""
    return (*COMMANDS, *FORMAT_COMMANDS, *GREP_COMMANDS)


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the sources, their raw lines, and maintenance."""
    return [Assets("logs", resources.files("snaglist.plugins.logs") / "ui", "logs.js")]
