"""A snaglist plugin: takes logs over OTLP/HTTP, as protobuf or JSON."""

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
    SchemaStep,
    StoredSecret,
    hookimpl,
    own,
    read,
    write,
)
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
def register_endpoints() -> Sequence[Endpoint]:
    """Register `otlp-logs` and `otlp-settings`."""
    schemas = files("snaglist_otlp") / "schemas"
    return [
        Endpoint(
            "otlp-logs",
            post=own(handlers.Receiver().take, None, 200),
            schemas=schemas,
            body_limit="otlp.max_body_bytes",
            authenticate=KEYS.authenticate,
            cross_origin=CROSS_ORIGIN,
        ),
        Endpoint(
            "otlp-settings",
            get=read(handlers.get_settings, "settings.read"),
            post=write(handlers.post_settings, "settings.write"),
            schemas=schemas,
        ),
    ]


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
    """Register the keys of `otlp`."""
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
    """Show how to send."""
    return [Assets("otlp", files("snaglist_otlp") / "ui", "otlp.js")]
