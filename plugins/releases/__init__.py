"""Releases: deploys, what was seen in which release, and source maps (api.md §26-27)."""

from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Job, hookimpl
from snaglist.plugins.issues import Event, IssueChange, StoredBatch
from snaglist.plugins.releases import deploys, maps, ordering, seen, settings
from snaglist.plugins.releases.command import add_commands
from snaglist.plugins.releases.maps.library import is_installed
from snaglist.plugins.releases.steps import STEPS
from snaglist.plugins.releases.tables import TABLES

if TYPE_CHECKING:
    import click

__all__: list[str] = []


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Deploys, the releases of issues, and source maps for minified scripts"
    lacks = "" if is_installed() else maps.MISSING
    after = ("issues", "tags", "logs")
    return Description("releases", "Releases", text, "Insights", version("snaglist"), after=after, lacks=lacks)


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register `deploys`, `release-settings`, `issue-releases` and `source-maps`."""
    for part in (deploys, settings, seen, maps):
        for endpoint in part.ENDPOINTS:
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
    """Register the order of releases, which decides when a fixed issue is back."""
    if kind == "release_order":
        register("releases", ordering.compare)


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Register the job that reads what was stored while the area was off."""
    register(Job(seen.JOB, seen.run, unit="events"))


@hookimpl
def register_commands(cli: "click.Group") -> None:
    """Add `releases`."""
    add_commands(cli)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer the page of deploys and maps, and the panel of an issue's releases."""
    return Assets("releases", files("snaglist.plugins.releases") / "ui", "releases.js")


@hookimpl
def events_storing(call: Call, events: Sequence[Event]) -> Sequence[Event] | None:
    """Resolve places in minified scripts before events are grouped."""
    return maps.resolve_storing(call, events)


@hookimpl
def stack_showing(call: Call, event: Event) -> Event | None:
    """Resolve places whose map came after the event."""
    return maps.resolve_shown(call, event)


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Note the releases of what was stored."""
    seen.count_batch(call, batch)


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> None:
    """Follow merged and unmerged issues."""
    seen.follow(call, change)


@hookimpl
def plugin_switched(call: Call, on: bool) -> None:
    """Read what was stored while the area was off."""
    seen.switched(call, on)
