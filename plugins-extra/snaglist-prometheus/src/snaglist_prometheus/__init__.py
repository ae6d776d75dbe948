"""A snaglist plugin: figures for Prometheus at `?api=metrics`."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files

from sqlalchemy import Connection, PrimaryKeyConstraint, Table

from snaglist.kernel import Call, Description, Endpoint, SchemaStep, hookimpl, own
from snaglist.kernel.columns import number, text
from snaglist.kernel.ddl import create_table
from snaglist.plugins.issues import StoredBatch
from snaglist.plugins.system import Metric
from snaglist_prometheus import events
from snaglist_prometheus.exposing import Metrics
from snaglist_prometheus.requests import REQUESTS


@hookimpl
def describe() -> Description:
    """Describe the plugin."""
    said = "Shows requests, events, lag, jobs, outbox and disk to Prometheus"
    return Description("prometheus", "Prometheus", said, "Operation", version("snaglist-prometheus"), after=("issues",))


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Register `metrics`, for all applications at once."""
    schemas = files("snaglist_prometheus") / "schemas"
    return [
        Endpoint("metrics", get=own(Metrics().show, "metrics.read"), schemas=schemas, application=False),
    ]


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the counters."""
    return [events.TABLE]


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
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

    return [("s001", s001)]


@hookimpl
def request_answered(endpoint: str | None, method: str, status: int, started: float) -> None:
    """Count the requests of this process."""
    REQUESTS.observe(endpoint, method, status, started)


@hookimpl
def register_metrics() -> Mapping[str, Metric]:
    """Count events."""
    return {
        "events_total": events.read_counts,
        "event_lag_seconds_total": events.read_lag,
        "last_event_timestamp_seconds": events.read_newest,
    }


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Count the events of a batch, in its transaction."""
    if not batch.reread:
        events.count(call, batch)
