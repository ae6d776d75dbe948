"""Alerting: messages about new, reoccurring, frequent and missing events.

A plugin adds a type of channel by the hook `register_channel_types`.
"""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

from snaglist.kernel import Assets, Call, Description, hookimpl
from snaglist.plugins.alerting import channels, outbox, rules, trying
from snaglist.plugins.alerting.channels import ChannelType, Message, NotDelivered, Opening, Send, contract, health
from snaglist.plugins.alerting.evaluating import changes, job, looking
from snaglist.plugins.alerting.options import OPTIONS
from snaglist.plugins.alerting.outbox import delivering
from snaglist.plugins.alerting.steps import STEPS
from snaglist.plugins.alerting.tables import TABLES
from snaglist.plugins.alerting.types import BUILT_IN
from snaglist.plugins.system import Job

__all__ = ["ChannelType", "Message", "NotDelivered", "Opening", "Send", "contract"]


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Messages about new, reoccurring and frequent issues"
    return Description("alerting", "Alerting", text, "Notifications", version("snaglist"), after=("issues", "tags"))


register_endpoints = hookimpl(
    lambda: [endpoint for part in (channels, rules, trying, outbox) for endpoint in part.ENDPOINTS]
)
register_tables = hookimpl(lambda: TABLES)
register_steps = hookimpl(lambda: STEPS)
register_settings = hookimpl(lambda: OPTIONS)
register_hookspecs = hookimpl(lambda: contract)
register_channel_types = hookimpl(lambda: BUILT_IN)
register_metrics = hookimpl(lambda: outbox.METRICS)
check_added = hookimpl(contract.check_added)
health_details = hookimpl(health.details)
stored_secrets = hookimpl(channels.stored)
events_stored = hookimpl(looking.look_at_batch)
issue_changed = hookimpl(changes.follow)


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
def plugin_switched(call: Call, on: bool) -> None:
    """Let all rules start anew: what came while the area was off alerts nobody."""
    if on:
        rules.start_all(call)


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of channels, rules and messages."""
    return [Assets("alerting", files("snaglist.plugins.alerting") / "ui", "alerting.js")]
