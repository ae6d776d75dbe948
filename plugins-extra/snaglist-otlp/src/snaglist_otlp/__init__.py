"""A snaglist plugin: takes logs over OTLP/HTTP, as protobuf or JSON."""

from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, hookimpl, own, read, write
from snaglist_otlp import handlers
from snaglist_otlp.access import CROSS_ORIGIN, KEYS
from snaglist_otlp.options import OPTIONS, RATES


@hookimpl
def describe() -> Description:
    """Describe the plugin."""
    text = "Takes logs from OpenTelemetry SDKs and collectors over OTLP/HTTP"
    after = ("issues", "tags", "logs")
    return Description("otlp", "OTLP logs", text, "Ingestion", version("snaglist-otlp"), after=after)


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register `otlp-logs` and `otlp-settings`."""
    schemas = files("snaglist_otlp") / "schemas"
    register(
        Endpoint(
            "otlp-logs",
            post=own(handlers.Receiver().take, None, 200),
            schemas=schemas,
            body_limit="otlp.max_body_bytes",
            authenticate=KEYS.authenticate,
            cross_origin=CROSS_ORIGIN,
        )
    )
    register(
        Endpoint(
            "otlp-settings",
            get=read(handlers.get_settings, "settings.read"),
            post=write(handlers.post_settings, "settings.write"),
            schemas=schemas,
        )
    )


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
    """Register the keys of `otlp`."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Seal the key anew."""
    if kind == "sealed":
        register("otlp", KEYS.stored)


@hookimpl
def plugin_switched(call: Call, on: bool) -> None:
    """Make the key of an application when the plugin is first enabled there."""
    if on:
        KEYS.make_first(call)


@hookimpl
def dashboard_assets() -> Assets:
    """Show how to send."""
    return Assets("otlp", files("snaglist_otlp") / "ui", "otlp.js")
