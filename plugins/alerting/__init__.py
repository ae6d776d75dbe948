"""Alerting: messages about new, returning, frequent and missing events.

A plugin adds a type of channel by the hook `register_channel_types`.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, SchemaStep, hookimpl
from snaglist.plugins.alerting import channels, outbox, rules, trying
from snaglist.plugins.alerting.channels import ChannelType, Message, NotDelivered, Opening, Send, contract
from snaglist.plugins.alerting.evaluating import follow, job, look_at_batch
from snaglist.plugins.alerting.options import OPTIONS
from snaglist.plugins.alerting.outbox import delivering
from snaglist.plugins.alerting.steps import STEPS
from snaglist.plugins.alerting.tables import TABLES
from snaglist.plugins.alerting.types import BUILT_IN
from snaglist.plugins.issues import IssueChange, StoredBatch
from snaglist.plugins.system import Job, Metric, StoredSecret

__all__ = ["ChannelType", "Message", "NotDelivered", "Opening", "Send", "contract"]


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Messages about new, returning and frequent issues"
    return Description("alerting", "Alerting", text, "Notifications", version("snaglist"), after=("issues", "tags"))


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Register channels, rules, messages, and the trying of all that."""
    return [endpoint for area in (channels, rules, trying, outbox) for endpoint in area.ENDPOINTS]


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the tables."""
    return TABLES


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
    """Offer the schema steps."""
    return STEPS


@hookimpl
def register_settings() -> Sequence[Option]:
    """Register the keys of `alerts` and `smtp`."""
    return OPTIONS


@hookimpl
def register_hookspecs() -> object:
    """Offer `register_channel_types`."""
    return contract


@hookimpl
def register_channel_types() -> Mapping[str, ChannelType]:
    """Register the built-in channel types."""
    return BUILT_IN


@hookimpl
def check_added(hook: str, name: str, value: Any) -> None:
    """Look at types of channels."""
    contract.check_added(hook, name, value)


@hookimpl
def stored_secrets(call: Call) -> Iterable[StoredSecret]:
    """Give the secrets of the channels."""
    return channels.stored(call)


@hookimpl
def register_metrics() -> Mapping[str, Metric]:
    """Register the figures of the outbox."""
    return outbox.METRICS


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the sending of messages, and what is done without new events."""
    often = 1_000
    every, due, rests = "alerts.retry_seconds", delivering.due, delivering.rests
    return [
        Job(outbox.JOB, delivering.run, every=every, due=due, max_attempts=often, rests=rests),
        Job(job.JOB, job.run, every="alerts.interval_seconds", due=job.due, rests=job.rests),
    ]


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Ask the rules about what was stored."""
    look_at_batch(call, batch)


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> None:
    """Follow merged, unmerged and deleted issues."""
    follow(call, change)


@hookimpl
def plugin_switched(call: Call, on: bool) -> None:
    """Let all rules start anew: what came while the area was off alerts nobody."""
    if on:
        rules.start_all(call)


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of channels, rules and messages."""
    return [Assets("alerting", files("snaglist.plugins.alerting") / "ui", "alerting.js")]
