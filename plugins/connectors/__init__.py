"""Connectors: log files that stay where they are, on this machine, behind SSH, or in any file system of fsspec.

A plugin adds a type by the hook `register_connectors`.
"""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

from snaglist.kernel import Assets, Description, hookimpl
from snaglist.plugins.connectors import contract, health, sealing, syncing
from snaglist.plugins.connectors.commands import COMMANDS
from snaglist.plugins.connectors.contract import ConnectorType, Opening, ReadAt, Remote, RemoteFailure, RemoteFile
from snaglist.plugins.connectors.handlers import ENDPOINTS
from snaglist.plugins.connectors.options import OPTIONS
from snaglist.plugins.connectors.steps import STEPS
from snaglist.plugins.connectors.tables import TABLES, connectors
from snaglist.plugins.connectors.types import BUILT_IN
from snaglist.plugins.system import Job

__all__ = ["ConnectorType", "Opening", "ReadAt", "Remote", "RemoteFailure", "RemoteFile", "contract"]


@hookimpl
def describe() -> Description:
    """Say what this area is."""
    text = "Reads log files of other folders and machines"
    return Description(
        "connectors", "Connectors", text, "core", version("snaglist"), core=True, after=("issues", "logs")
    )


register_settings = hookimpl(lambda: OPTIONS)
register_endpoints = hookimpl(lambda: ENDPOINTS)
register_tables = hookimpl(lambda: TABLES)
register_steps = hookimpl(lambda: STEPS)
register_hookspecs = hookimpl(lambda: contract)
register_connectors = hookimpl(lambda: BUILT_IN)
register_module_references = hookimpl(lambda: [connectors.c.module_id])
register_commands = hookimpl(lambda: COMMANDS)
check_added = hookimpl(contract.check_added)
health_details = hookimpl(health.details)
stored_secrets = hookimpl(sealing.stored)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the sync."""
    every, due, rests = "sync.interval_seconds", syncing.due, syncing.rests
    return [Job(syncing.JOB, syncing.run, unit="files", every=every, due=due, local=True, rests=rests)]


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer connectors and their runs."""
    return [Assets("connectors", files("snaglist.plugins.connectors") / "ui", "connectors.js")]
