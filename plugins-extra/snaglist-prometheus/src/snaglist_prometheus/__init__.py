"""A snaglist plugin: figures for Prometheus at `?api=metrics`."""

from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, PrimaryKeyConstraint, Table

from snaglist.kernel import Call, Description, Endpoint, hookimpl, own
from snaglist.kernel.columns import number, text
from snaglist.kernel.ddl import create_table
from snaglist.plugins.issues import StoredBatch
from snaglist_prometheus import events
from snaglist_prometheus.exposing import Metrics
from snaglist_prometheus.requests import REQUESTS


@hookimpl
def describe() -> Description:
    """Describe the plugin."""
    said = "Shows requests, events, lag, jobs, outbox and disk to Prometheus"
    return Description("prometheus", "Prometheus", said, "Operation", version("snaglist-prometheus"), after=("issues",))


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register `metrics`, for all applications at once."""
    schemas = files("snaglist_prometheus") / "schemas"
    register(Endpoint("metrics", get=own(Metrics().show, "metrics.read"), schemas=schemas, application=False))


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Declare the counters."""
    register(events.TABLE)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Make the table."""

    def s001(db: Connection) -> None:
        create_table(
            db,
            "prometheus_events",
            text("severity", 20),
            number("shard"),
            number("count"),
            number("lag"),
            number("newest"),
            PrimaryKeyConstraint("severity", "shard"),
        )

    register("s001", s001)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Count the requests of this process; count events."""
    if kind == "request_observer":
        register("prometheus", REQUESTS.observe)
    elif kind == "metric":
        register("events_total", events.read_counts)
        register("event_lag_seconds_total", events.read_lag)
        register("last_event_timestamp_seconds", events.read_newest)


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Count the events of a batch, in its transaction."""
    if not batch.reread:
        events.count(call, batch)
