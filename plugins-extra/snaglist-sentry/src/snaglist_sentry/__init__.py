"""A snaglist plugin: takes what Sentry SDKs send, with a DSN for each application."""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files

from sqlalchemy import Table

from snaglist.kernel import (
    Assets,
    Call,
    Description,
    Endpoint,
    Option,
    Path,
    SchemaStep,
    StoredSecret,
    hookimpl,
    own,
    read,
    write,
)
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
def register_endpoints() -> Sequence[Endpoint]:
    """Register `sentry`, which SDKs reach by its paths, and `sentry-settings`."""
    schemas = files("snaglist_sentry") / "schemas"
    return [
        Endpoint(
            "sentry",
            post=own(handlers.Receiver().take, None, 200),
            schemas=schemas,
            body_limit="sentry.max_body_bytes",
            authenticate=KEYS.authenticate,
            cross_origin=HEADERS,
            select=select_application,
        ),
        Endpoint(
            "sentry-settings",
            get=read(handlers.get_settings, "settings.read"),
            post=write(handlers.post_settings, "settings.write"),
            schemas=schemas,
        ),
    ]


@hookimpl
def register_paths() -> Sequence[Path]:
    """Register the paths that SDKs make of a DSN."""
    return [Path(PATHS, api="sentry")]


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the tables of the rate limit."""
    return RATES.tables


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
    """Make the tables."""
    return [("s001", RATES.create_tables)]


@hookimpl
def register_settings() -> Sequence[Option]:
    """Register the keys of `sentry`."""
    return OPTIONS


@hookimpl
def stored_secrets(call: Call) -> Iterable[StoredSecret]:
    """Seal the key anew."""
    return KEYS.stored(call)


@hookimpl
def plugin_switched(call: Call, on: bool) -> None:
    """Make the key of an application when the plugin is first enabled there."""
    if on:
        KEYS.make_first(call)


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Show the DSN."""
    return [Assets("sentry", files("snaglist_sentry") / "ui", "sentry.js")]
