"""Connectors: log files that stay where they are, on this machine, behind SSH, or in any file system of fsspec.

A plugin adds a type by the hook `register_connectors`.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import click
from sqlalchemy import Column, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, SchemaStep, hookimpl
from snaglist.plugins.connectors import contract, sealing, syncing
from snaglist.plugins.connectors.commands import COMMANDS
from snaglist.plugins.connectors.contract import (
    ConnectorType,
    Opening,
    ReadAt,
    Remote,
    RemoteFailure,
    RemoteFile,
)
from snaglist.plugins.connectors.handlers import ENDPOINTS
from snaglist.plugins.connectors.options import OPTIONS
from snaglist.plugins.connectors.steps import STEPS
from snaglist.plugins.connectors.tables import TABLES, connectors
from snaglist.plugins.connectors.types import BUILT_IN
from snaglist.plugins.system import Job, StoredSecret

__all__ = ["ConnectorType", "Opening", "ReadAt", "Remote", "RemoteFailure", "RemoteFile", "contract"]


@hookimpl
def describe() -> Description:
    """Say what this area is."""
    text = "Reads log files of other folders and machines"
    return Description(
        "connectors", "Connectors", text, "core", version("snaglist"), core=True, after=("issues", "logs")
    )


@hookimpl
def register_settings() -> Sequence[Option]:
    """Register the keys of `sync` and `ssh`, and the retention of mirrors."""
    return OPTIONS


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Register `connectors` and what is done with them."""
    return ENDPOINTS


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
    """Offer `register_connectors`."""
    return contract


@hookimpl
def register_connectors() -> Mapping[str, ConnectorType]:
    """Register the built-in connector types."""
    return BUILT_IN


@hookimpl
def check_added(hook: str, name: str, value: Any) -> None:
    """Look at types of connectors."""
    contract.check_added(hook, name, value)


@hookimpl
def stored_secrets(call: Call) -> Iterable[StoredSecret]:
    """Give the secrets of the connectors."""
    return sealing.stored(call)


@hookimpl
def register_module_references() -> Sequence[Column[Any]]:
    """Tell that connectors refer to modules."""
    return [connectors.c.module_id]


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the sync."""
    every, due, rests = "sync.interval_seconds", syncing.due, syncing.rests
    return [Job(syncing.JOB, syncing.run, unit="files", every=every, due=due, local=True, rests=rests)]


@hookimpl
def register_commands() -> Sequence[click.Command]:
    """Add `sync`."""
    return COMMANDS


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer connectors and their runs."""
    return [Assets("connectors", files("snaglist.plugins.connectors") / "ui", "connectors.js")]
