"""Releases: deploys, what was seen in which release, and source maps."""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

from snaglist.kernel import Assets, Description, hookimpl
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


register_endpoints = hookimpl(
    lambda: [endpoint for part in (deploys, settings, seen, maps) for endpoint in part.ENDPOINTS]
)
register_tables = hookimpl(lambda: TABLES)
register_steps = hookimpl(lambda: STEPS)
register_commands = hookimpl(lambda: COMMANDS)
compare_releases = hookimpl(ordering.compare)
events_storing = hookimpl(maps.resolve_storing)
stack_showing = hookimpl(maps.resolve_shown)
link_frames = hookimpl(seen.link_frames)
events_stored = hookimpl(seen.count_batch)
issue_changed = hookimpl(seen.follow)
plugin_switched = hookimpl(seen.switched)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the job that reads what was stored while the area was off."""
    return [Job(seen.JOB, seen.run, unit="events")]


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of deploys and maps, and the panel of an issue's releases."""
    return [Assets("releases", files("snaglist.plugins.releases") / "ui", "releases.js")]
