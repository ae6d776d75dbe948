"""HTTP ingest: applications push events as they happen."""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from importlib.resources import files

from snaglist.kernel import Assets, Call, Description, Endpoint, Path, hookimpl, own, read, write
from snaglist.plugins.ingest import broker, handlers, health, keys, snippet
from snaglist.plugins.ingest.options import OPTIONS, RATES
from snaglist.plugins.ingest.steps import STEPS
from snaglist.plugins.system import HealthCheck, StoredSecret

__all__: list[str] = []

# What pages of other origins may send beside what they always may.
BROWSER_HEADERS = ("Authorization", "Content-Encoding", "Content-Type", keys.HEADER)


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Receives events that applications send over HTTP"
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
            etag=True,
        ),
    ]


register_paths = hookimpl(lambda: [Path(snippet.PATTERN, snippet.show)])
register_tables = hookimpl(lambda: RATES.tables)
register_steps = hookimpl(lambda: STEPS)
register_settings = hookimpl(lambda: OPTIONS)
run_beside_worker = hookimpl(broker.store_waiting)


@hookimpl
def stored_secrets(call: Call) -> Iterable[StoredSecret]:
    """Give the sealed key."""
    return keys.KEYS.stored(call)


@hookimpl
def health_checks() -> Sequence[HealthCheck]:
    """Say whether the broker answers."""
    reach = broker.Reach()
    return [HealthCheck("broker", reach.check, broker.Reach.hint, broker.Reach.asked)]


health_details = hookimpl(health.details)


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
