"""The system area: what an installation says about itself, and how its applications, plugins and jobs are steered.

It looks after what the kernel owns (registry, plugin states, the jobs table) and is built on the kernel alone.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

import click

from snaglist.kernel import Assets, Description, Endpoint, Option, hookimpl, own, read, write
from snaglist.kernel.faults import REMEDY
from snaglist.kernel.plugins import REGISTRATION, WHOLE
from snaglist.kernel.service import PART
from snaglist.plugins.system import commands, handlers, openapi, registrations
from snaglist.plugins.system.dumping import commands as _dumping  # noqa: F401 - adds its commands to the group `db`
from snaglist.plugins.system.jobs.figures import METRICS
from snaglist.plugins.system.jobs.leases import worker_alive
from snaglist.plugins.system.jobs.queue import Queue
from snaglist.plugins.system.jobs.worker import Worker
from snaglist.plugins.system.lookalikes import OPEN_CHECK, require_intended_key
from snaglist.plugins.system.outbound import (
    MAX_ANSWER,
    START_SECONDS,
    Address,
    Answer,
    GuardedChild,
    Refused,
    check_address,
    is_listed,
)
from snaglist.plugins.system.outbound.guard import guard_of
from snaglist.plugins.system.remedies import told
from snaglist.plugins.system.sealing import Sealing

__all__ = [
    "MAX_ANSWER", "OPEN_CHECK", "START_SECONDS", "Address", "Answer", "GuardedChild", "Refused", "Worker",
    "check_address", "is_listed", "worker_alive",
]  # fmt: skip

SERVER_OPTIONS = (
    Option("server.connection_limit", 500, "open at once; who waits longest idle gives way to others", 10, 100_000),
    Option("server.idle_timeout", 60, "seconds that a connection is kept between requests", 1, 86_400),
    Option("server.header_timeout", 30, "seconds that the head of a request may take to arrive", 1, 86_400),
    Option("server.body_timeout", 600, "seconds that the body of a request may take to arrive", 1, 86_400),
    Option("server.stall_timeout", 60, "seconds in which a client must take or send server.stall_bytes", 1, 86_400),
    Option("server.stall_bytes", 16_384, "less in server.stall_timeout seconds ends the connection", 1, 1_048_576),
)


@hookimpl
def describe() -> Description:
    """Name the area."""
    return Description("system", "System", "Applications, plugins, jobs and health", "Core", "0.1.0", core=True)


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Answer `health`, `applications`, `plugins`, `jobs` and `openapi`."""
    health = own(handlers.HealthProbe(), None)
    register(Endpoint("health", get=health, authenticate=handlers.open_to_all, application=False))
    register(
        Endpoint(
            "applications",
            get=own(handlers.list_applications, "applications.read"),
            post=own(handlers.create_application, "applications.write", 201),
            patch=own(handlers.rename_application, "applications.write"),
            delete=own(handlers.delete_application, "applications.write"),
            application=False,
        )
    )
    register(
        Endpoint(
            "plugins",
            get=read(handlers.list_plugins, "plugins.read"),
            post=write(handlers.switch_plugin, "plugins.manage"),
        )
    )
    register(Endpoint("jobs", get=read(handlers.show_jobs, "jobs.read"), post=write(handlers.change_job, "jobs.write")))
    register(Endpoint("openapi", get=read(openapi.document, None)))


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Say how much room the health asks for, and what a client may make the server wait for."""
    register(Option("health.min_free_bytes", 268_435_456, "free space below which health is degraded", 0))
    for option in SERVER_OPTIONS:
        register(option)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Lend the server, make parts of the service, look at keys and registrations, offer figures of jobs."""
    if kind == "server":
        from snaglist.plugins.system.server import serve  # waitress is only needed by who asks

        register("waitress", serve)
    elif kind == REMEDY:
        register("told", told)
    elif kind == PART:
        register("jobs", Queue)
        register("secrets", Sealing)
        register("outbound", guard_of)
    elif kind == OPEN_CHECK:
        register("key", require_intended_key)
    elif kind == REGISTRATION:
        register("shapes", registrations.check)
    elif kind == WHOLE:
        register("parts", registrations.look)
    elif kind == "metric":
        for name, figure in METRICS.items():
            register(name, figure)


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Add `serve`, `apps`, `plugins`, `plugin`, `jobs`, `db`, `key` and `doctor`."""
    commands.register(cli)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer applications, plugins, jobs and health."""
    return Assets("system", files("snaglist.plugins.system") / "ui", "system.js")
