"""Access analytics: what web servers were asked, from the access logs that are read anyway (api.md §29)."""

from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Job, Option, hookimpl, read
from snaglist.plugins.access_analytics import folding, handlers
from snaglist.plugins.access_analytics.command import add_commands
from snaglist.plugins.access_analytics.extra import MISSING, is_installed
from snaglist.plugins.access_analytics.options import OPTIONS
from snaglist.plugins.access_analytics.steps import STEPS
from snaglist.plugins.access_analytics.storing import count_lines
from snaglist.plugins.access_analytics.tables import TABLES
from snaglist.plugins.logs import LineBatch

if TYPE_CHECKING:
    import click

__all__: list[str] = []


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Counts the requests of access logs: pages, visitors, statuses, response times"
    after = ("issues", "tags", "logs")
    lacks = "" if is_installed() else MISSING
    return Description(
        "access_analytics", "Access analytics", text, "Insights", version("snaglist"), after=after, lacks=lacks
    )


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register `access-analytics`."""
    register(Endpoint("access-analytics", get=read(handlers.get_report, "analytics.read")))


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
def register_settings(register: Callable[[Option], None]) -> None:
    """Register the keys of `access`."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Register the job that sums old hours up to days; without the extra, what is queued waits."""
    if is_installed():
        register(Job(folding.JOB, folding.run, unit="days", every="access.fold_seconds", due=folding.due))


@hookimpl
def register_commands(cli: "click.Group") -> None:
    """Add `access`."""
    add_commands(cli)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer the page of the report."""
    return Assets("access_analytics", files("snaglist.plugins.access_analytics") / "ui", "access_analytics.js")


@hookimpl
def lines_read(call: Call, batch: LineBatch) -> None:
    """Count the requests that an import reads; without the extra they go uncounted."""
    if is_installed():
        count_lines(call, batch)
