"""Alerting: messages about new, returning, frequent and missing events (api.md §24).

A plugin adds a type of channel with `register_types("alert channel type", register)`:
`register(name, ChannelType(...))`.
"""

from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Job, Option, hookimpl
from snaglist.plugins.alerting import channels, outbox, rules, trying
from snaglist.plugins.alerting.channels import ChannelType, Message, NotDelivered, Opening, Send
from snaglist.plugins.alerting.evaluating import follow, job, look_at_batch
from snaglist.plugins.alerting.options import OPTIONS
from snaglist.plugins.alerting.outbox import delivering
from snaglist.plugins.alerting.steps import STEPS
from snaglist.plugins.alerting.tables import TABLES
from snaglist.plugins.alerting.types import BUILT_IN
from snaglist.plugins.issues import IssueChange, StoredBatch

__all__ = ["ChannelType", "Message", "NotDelivered", "Opening", "Send"]


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Messages about new, returning and frequent issues"
    return Description("alerting", "Alerting", text, "Notifications", version("snaglist"), after=("issues", "tags"))


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register channels, rules, messages, and the trying of all that."""
    for area in (channels, rules, trying, outbox):
        for endpoint in area.ENDPOINTS:
            register(endpoint)


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Declare the tables."""
    for table in TABLES:
        register(table)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Offer the schema steps."""
    for name, step in STEPS:
        register(name, step)


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Register the keys of `alerts` and `smtp`."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Register the built-in channel types, the secrets kept here and the figures of the outbox."""
    if kind == channels.KIND:
        for name, made in BUILT_IN.items():
            register(name, made)
    elif kind == "sealed":
        register("alerting", channels.stored)
    elif kind == "metric":
        for name, figure in outbox.METRICS.items():
            register(name, figure)


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Register the sending of messages, and what is done without new events."""
    # Messages count their own attempts: a job that dies with its server is always taken up again.
    often = 1_000
    every, due, rests = "alerts.retry_seconds", delivering.due, delivering.rests
    register(Job(outbox.JOB, delivering.run, every=every, due=due, max_attempts=often, rests=rests))
    register(Job(job.JOB, job.run, every="alerts.interval_seconds", due=job.due, rests=job.rests))


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
def dashboard_assets() -> Assets:
    """Offer the page of channels, rules and messages."""
    return Assets("alerting", files("snaglist.plugins.alerting") / "ui", "alerting.js")
