"""The system area: what an installation says about itself, and how its applications, plugins and jobs are steered.

It looks after what the kernel owns (registry, plugin states), runs background work, and is built on the kernel alone.
"""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from snaglist.kernel import Assets, Description, Endpoint, Option, hookimpl, own, read, write
from snaglist.kernel.service import Service
from snaglist.plugins.system import commands, details, handlers, hookspecs, openapi, registrations, rows
from snaglist.plugins.system.bulk import insert_rows, qualified
from snaglist.plugins.system.command_line import COMMAND_LINE, Session, cli, command, confirmed, group, table
from snaglist.plugins.system.dumping import commands as _dumping  # noqa: F401 - adds its commands to the group `db`
from snaglist.plugins.system.folders import entries_below
from snaglist.plugins.system.forms import form_types
from snaglist.plugins.system.hookspecs import Figure, HealthCheck, Metric, Problem, StoredSecret, decoded
from snaglist.plugins.system.jobs.figures import METRICS
from snaglist.plugins.system.jobs.job import Cancelled, Job, JobCall, LeaseLost, job_reply, job_state
from snaglist.plugins.system.jobs.leases import worker_alive
from snaglist.plugins.system.jobs.queue import Queue
from snaglist.plugins.system.jobs.tables import jobs as jobs_table
from snaglist.plugins.system.jobs.worker import Worker
from snaglist.plugins.system.lookalikes import require_intended_key
from snaglist.plugins.system.outbound import (
    MAX_ANSWER,
    START_SECONDS,
    Address,
    Answer,
    GuardedChild,
    Refused,
    carried_addresses,
    check_address,
    is_listed,
)
from snaglist.plugins.system.outbound.guard import guard_of
from snaglist.plugins.system.remedies import told
from snaglist.plugins.system.sealing import Sealing, without_secrets

__all__ = [
    "COMMAND_LINE", "MAX_ANSWER", "START_SECONDS", "Address", "Answer", "Cancelled", "Figure", "GuardedChild",
    "HealthCheck", "Job", "JobCall", "LeaseLost", "Metric", "Problem", "Refused", "Session", "StoredSecret", "Worker",
    "carried_addresses", "check_address", "cli", "command", "confirmed", "decoded", "entries_below", "form_types",
    "group", "hookspecs", "insert_rows", "is_listed", "job_reply", "job_state", "jobs_table", "qualified",
    "require_intended_key", "rows", "serve", "table", "told", "without_secrets", "worker_alive",
]  # fmt: skip

OPTIONS = (
    Option("health.min_free_bytes", 268_435_456, "free space below which health is degraded", 0),
    Option("server.connection_limit", 500, "open at once; who waits longest idle gives way to others", 10, 100_000),
    Option("server.idle_timeout", 60, "seconds that a connection is kept between requests", 1, 86_400),
    Option("server.header_timeout", 30, "seconds that the head of a request may take to arrive", 1, 86_400),
    Option("server.body_timeout", 600, "seconds that the body of a request may take to arrive", 1, 86_400),
    Option("server.stall_timeout", 60, "seconds in which a client must take or send server.stall_bytes", 1, 86_400),
    Option("server.stall_bytes", 16_384, "less in server.stall_timeout seconds ends the connection", 1, 1_048_576),
)


def serve(service: Service, host: str, port: int, **options: Any) -> None:
    """Serve until a signal; see `server.serve`. waitress is only needed by who asks."""
    from snaglist.plugins.system.server import serve as run

    run(service, host, port, **options)


@hookimpl
def describe() -> Description:
    """Name the area."""
    return Description(
        "system", "System", "Applications, plugins, jobs and health", "Core", version("snaglist"), core=True
    )


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Answer `health`, `health-details`, `applications`, `plugins`, `jobs` and `openapi`."""
    health = own(handlers.health, None)
    return [
        Endpoint("health-details", get=own(details.show, "jobs.read"), etag=True),
        Endpoint("health", get=health, authenticate=handlers.open_to_all, application=False, etag=True),
        Endpoint(
            "applications",
            get=own(handlers.list_applications, "applications.read"),
            post=own(handlers.create_application, "applications.write", 201),
            patch=own(handlers.rename_application, "applications.write"),
            delete=own(handlers.delete_application, "applications.write"),
            application=False,
        ),
        Endpoint(
            "plugins",
            get=read(handlers.list_plugins, "plugins.read"),
            post=write(handlers.switch_plugin, "plugins.manage"),
        ),
        Endpoint("jobs", get=read(handlers.show_jobs, "jobs.read"), post=write(handlers.change_job, "jobs.write")),
        Endpoint("openapi", get=read(openapi.document, None)),
    ]


register_settings = hookimpl(lambda: OPTIONS)
register_hookspecs = hookimpl(lambda: hookspecs)
register_metrics = hookimpl(lambda: METRICS)
register_commands = hookimpl(lambda: commands.COMMANDS)
service_parts = hookimpl(lambda: {"jobs": Queue, "secrets": Sealing, "outbound": guard_of})
check_added = hookimpl(registrations.check)
check_plugin = hookimpl(registrations.look)


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer applications, plugins, jobs and health."""
    return [Assets("system", files("snaglist.plugins.system") / "ui", "system.js")]
