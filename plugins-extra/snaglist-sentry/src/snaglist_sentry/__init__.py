"""A snaglist plugin: takes what Sentry SDKs send, with a DSN for each application."""

from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, Path, hookimpl, own, read, write
from snaglist_sentry import handlers
from snaglist_sentry.access import HEADERS, KEYS, PATHS, select_application
from snaglist_sentry.options import OPTIONS, RATES


@hookimpl
def describe() -> Description:
    """Describe the plugin."""
    text = "Takes what Sentry SDKs send: errors and messages, with a DSN for each application"
    after = ("issues", "tags", "logs")
    return Description("sentry", "Sentry SDKs", text, "Ingestion", version("snaglist-sentry"), after=after)


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register `sentry`, which SDKs reach by its paths, and `sentry-settings`."""
    schemas = files("snaglist_sentry") / "schemas"
    register(
        Endpoint(
            "sentry",
            post=own(handlers.Receiver().take, None, 200),
            schemas=schemas,
            body_limit="sentry.max_body_bytes",
            authenticate=KEYS.authenticate,
            cross_origin=HEADERS,
            select=select_application,
        )
    )
    register(
        Endpoint(
            "sentry-settings",
            get=read(handlers.get_settings, "settings.read"),
            post=write(handlers.post_settings, "settings.write"),
            schemas=schemas,
        )
    )


@hookimpl
def register_paths(register: Callable[[Path], None]) -> None:
    """Register the paths that SDKs make of a DSN."""
    register(Path(PATHS, api="sentry"))


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Declare the tables of the rate limit."""
    for table in RATES.tables:
        register(table)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Make the tables."""
    register("s001", RATES.create_tables)


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Register the keys of `sentry`."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Seal the key anew."""
    if kind == "sealed":
        register("sentry", KEYS.stored)


@hookimpl
def plugin_switched(call: Call, on: bool) -> None:
    """Make the key of an application when the plugin is first enabled there."""
    if on:
        KEYS.make_first(call)


@hookimpl
def dashboard_assets() -> Assets:
    """Show the DSN."""
    return Assets("sentry", files("snaglist_sentry") / "ui", "sentry.js")
