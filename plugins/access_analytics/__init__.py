"""Access analytics: what web servers were asked, from the access logs that are read anyway."""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

from snaglist.kernel import Assets, Call, Description, Endpoint, hookimpl, read
from snaglist.plugins.access_analytics import folding, handlers
from snaglist.plugins.access_analytics.command import COMMANDS
from snaglist.plugins.access_analytics.extra import MISSING, is_installed
from snaglist.plugins.access_analytics.options import OPTIONS
from snaglist.plugins.access_analytics.steps import STEPS
from snaglist.plugins.access_analytics.storing import count_lines
from snaglist.plugins.access_analytics.tables import TABLES
from snaglist.plugins.logs import LineBatch
from snaglist.plugins.system import Job

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


register_endpoints = hookimpl(lambda: [Endpoint("access-analytics", get=read(handlers.get_report, "analytics.read"))])
register_tables = hookimpl(lambda: TABLES)
register_steps = hookimpl(lambda: STEPS)
register_settings = hookimpl(lambda: OPTIONS)
register_commands = hookimpl(lambda: COMMANDS)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the job that sums old hours up to days; without the extra, what is queued waits."""
    if not is_installed():
        return []
    return [Job(folding.JOB, folding.run, unit="days", every="access.fold_seconds", due=folding.due)]


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of the report."""
    return [Assets("access_analytics", files("snaglist.plugins.access_analytics") / "ui", "access_analytics.js")]


@hookimpl
def lines_read(call: Call, batch: LineBatch) -> None:
    """Count the requests that an import reads; without the extra they go uncounted."""
    if is_installed():
        count_lines(call, batch)
