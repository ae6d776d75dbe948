"""Connectors: log files that stay where they are, on this machine, behind SSH, or in any file system of fsspec.

A plugin adds a type with `register_types("connector", register)`: `register(name, ConnectorType(...))`.
"""

from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Description, Endpoint, Job, Option, hookimpl
from snaglist.plugins.connectors import sealing, syncing
from snaglist.plugins.connectors.commands import add_commands
from snaglist.plugins.connectors.contract import (
    KIND,
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

if TYPE_CHECKING:
    import click

__all__ = ["ConnectorType", "Opening", "ReadAt", "Remote", "RemoteFailure", "RemoteFile"]


@hookimpl
def describe() -> Description:
    """Say what this area is."""
    text = "Reads log files of other folders and machines"
    return Description(
        "connectors", "Connectors", text, "core", version("snaglist"), core=True, after=("issues", "logs")
    )


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Register the keys of `sync` and `ssh`, and the retention of mirrors."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register `connectors` and what is done with them."""
    for endpoint in ENDPOINTS:
        register(endpoint)


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Declare the tables."""
    for table in TABLES:
        register(table)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Offer the schema steps."""
    for name, step in STEPS:
        register(name, step)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Register the built-in connector types, the secrets kept here, and what refers to a module."""
    if kind == KIND:
        for name, made in BUILT_IN.items():
            register(name, made)
    elif kind == "sealed":
        register("connectors", sealing.stored)
    elif kind == "module_reference":
        register("connectors", connectors.c.module_id)


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Register the sync."""
    every, due, rests = "sync.interval_seconds", syncing.due, syncing.rests
    register(Job(syncing.JOB, syncing.run, unit="files", every=every, due=due, local=True, rests=rests))


@hookimpl
def register_commands(cli: "click.Group") -> None:
    """Add `sync`."""
    add_commands(cli)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer connectors and their runs."""
    return Assets("connectors", files("snaglist.plugins.connectors") / "ui", "connectors.js")
