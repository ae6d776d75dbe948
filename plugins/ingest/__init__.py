"""HTTP ingest: applications push events as they happen (api.md §25)."""

from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, Path, hookimpl, own, read, write
from snaglist.plugins.ingest import broker, handlers, keys, snippet
from snaglist.plugins.ingest.options import OPTIONS, RATES
from snaglist.plugins.ingest.steps import STEPS

__all__: list[str] = []

# What pages of other origins may send beside what they always may.
BROWSER_HEADERS = ("Authorization", "Content-Encoding", "Content-Type", keys.HEADER)


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Takes events that applications push over HTTP"
    after = ("issues", "tags", "logs")
    return Description("ingest", "HTTP ingest", text, "Ingestion", version("snaglist"), after=after)


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register `ingest` and `ingest-settings`."""
    register(
        Endpoint(
            "ingest",
            post=own(handlers.Receiver().post_events, None, 202),
            body_limit="ingest.max_body_bytes",
            authenticate=keys.KEYS.authenticate,
            cross_origin=BROWSER_HEADERS,
        )
    )
    register(
        Endpoint(
            "ingest-settings",
            get=read(handlers.get_settings, "settings.read"),
            post=write(handlers.post_settings, "settings.write"),
        )
    )


@hookimpl
def register_paths(register: Callable[[Path], None]) -> None:
    """Register the script that pages include to send their errors."""
    register(Path(snippet.PATTERN, snippet.show))


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Declare the tables."""
    for table in RATES.tables:
        register(table)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Offer the schema steps."""
    for name, step in STEPS:
        register(name, step)


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Register the keys of `ingest`."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Seal the key anew; store what the broker has, and say whether it answers."""
    if kind == "sealed":
        register("ingest", keys.KEYS.stored)
    elif kind == "beside_worker":
        register("broker", broker.store_waiting)
    elif kind == "health_check":
        register("broker", broker.Reach())


@hookimpl
def plugin_switched(call: Call, on: bool) -> None:
    """Make the key of an application when the area is first enabled there."""
    if on:
        keys.KEYS.make_first(call)


@hookimpl
def application_changed(call: Call, change: str) -> None:
    """Remove what the broker keeps of an application that goes."""
    if change == "removed":
        broker.remove(call)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer the page that tells how to send."""
    return Assets("ingest", files("snaglist.plugins.ingest") / "ui", "ingest.js")
