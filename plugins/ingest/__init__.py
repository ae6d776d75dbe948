"""HTTP ingest: applications push events as they happen."""

import threading
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files

from sqlalchemy import Table

from snaglist.kernel import (
    Assets,
    Call,
    Description,
    Endpoint,
    Installation,
    Option,
    Path,
    SchemaStep,
    StoredSecret,
    hookimpl,
    own,
    read,
    write,
)
from snaglist.plugins.ingest import broker, handlers, keys, snippet
from snaglist.plugins.ingest.options import OPTIONS, RATES
from snaglist.plugins.ingest.steps import STEPS
from snaglist.plugins.system import HealthCheck

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
def register_endpoints() -> Sequence[Endpoint]:
    """Register `ingest` and `ingest-settings`."""
    return [
        Endpoint(
            "ingest",
            post=own(handlers.Receiver().post_events, None, 202),
            body_limit="ingest.max_body_bytes",
            authenticate=keys.KEYS.authenticate,
            cross_origin=BROWSER_HEADERS,
        ),
        Endpoint(
            "ingest-settings",
            get=read(handlers.get_settings, "settings.read"),
            post=write(handlers.post_settings, "settings.write"),
        ),
    ]


@hookimpl
def register_paths() -> Sequence[Path]:
    """Register the script that pages include to send their errors."""
    return [Path(snippet.PATTERN, snippet.show)]


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the tables."""
    return RATES.tables


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
    """Offer the schema steps."""
    return STEPS


@hookimpl
def register_settings() -> Sequence[Option]:
    """Register the keys of `ingest`."""
    return OPTIONS


@hookimpl
def stored_secrets(call: Call) -> Iterable[StoredSecret]:
    """Give the sealed key."""
    return keys.KEYS.stored(call)


@hookimpl
def run_beside_worker(service: Installation, stop: threading.Event) -> None:
    """Store what the broker has."""
    broker.store_waiting(service, stop)


@hookimpl
def health_checks() -> Sequence[HealthCheck]:
    """Say whether the broker answers."""
    reach = broker.Reach()
    return [HealthCheck("broker", reach.check, broker.Reach.hint, broker.Reach.asked)]


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
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page that tells how to send."""
    return [Assets("ingest", files("snaglist.plugins.ingest") / "ui", "ingest.js")]
