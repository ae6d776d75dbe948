"""Releases: deploys, what was seen in which release, and source maps."""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

import click
from sqlalchemy import Table

from snaglist.kernel import Assets, Call, Description, Endpoint, SchemaStep, hookimpl
from snaglist.plugins.issues import Event, IssueChange, StoredBatch
from snaglist.plugins.releases import deploys, maps, ordering, seen, settings
from snaglist.plugins.releases.command import COMMANDS
from snaglist.plugins.releases.maps.library import is_installed
from snaglist.plugins.releases.steps import STEPS
from snaglist.plugins.releases.tables import TABLES
from snaglist.plugins.system import Job

__all__: list[str] = []


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Deploys, the releases of issues, and source maps for minified scripts"
    lacks = "" if is_installed() else maps.MISSING
    after = ("issues", "tags", "logs")
    return Description("releases", "Releases", text, "Insights", version("snaglist"), after=after, lacks=lacks)


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Register `deploys`, `release-settings`, `issue-releases` and `source-maps`."""
    return [endpoint for part in (deploys, settings, seen, maps) for endpoint in part.ENDPOINTS]


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the tables."""
    return TABLES


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
    """Offer the schema steps."""
    return STEPS


@hookimpl
def compare_releases(call: Call, one: str, other: str, environment: str) -> int | None:
    """Order releases, which decides when a fixed issue is back."""
    return ordering.compare(call, one, other, environment)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the job that reads what was stored while the area was off."""
    return [Job(seen.JOB, seen.run, unit="events")]


@hookimpl
def register_commands() -> Sequence[click.Command]:
    """Add `releases`."""
    return COMMANDS


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of deploys and maps, and the panel of an issue's releases."""
    return [Assets("releases", files("snaglist.plugins.releases") / "ui", "releases.js")]


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
