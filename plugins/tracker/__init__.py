"""Tracker: items of an issue tracker as issues here, and statuses in step (api.md §28).

A plugin adds a tracker with `register_types("tracker provider", register)`: `register(name, Provider(...))`.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Job, Option, hookimpl
from snaglist.plugins.issues import IssueChange, StoredBatch
from snaglist.plugins.tracker import changes, contract, kinds, pushing, settings, syncing, webhooks
from snaglist.plugins.tracker.contract import (
    Delivery,
    Draft,
    Item,
    Label,
    Note,
    Opening,
    Page,
    Provider,
    Tracker,
    TrackerFailure,
    Viewer,
    Wanted,
    targets,
)
from snaglist.plugins.tracker.handlers import ENDPOINTS
from snaglist.plugins.tracker.options import OPTIONS
from snaglist.plugins.tracker.providers import BUILT_IN
from snaglist.plugins.tracker.steps import STEPS
from snaglist.plugins.tracker.tables import TABLES
from snaglist.plugins.tracker.web import Web

__all__ = [
    "Delivery", "Draft", "Item", "Label", "Note", "Opening", "Page", "Provider", "Tracker", "TrackerFailure",
    "Viewer", "Wanted", "Web", "targets",
]  # fmt: skip

# A write-back is not lost because the tracker was away for an hour or two.
OFTEN = 10


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Items of an issue tracker as issues here, and statuses in step"
    return Description("tracker", "Tracker", text, "Integration", version("snaglist"), after=("issues", "tags"))


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Register the settings, what is done with them, and the webhook."""
    for endpoint in ENDPOINTS:
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
    """Register the keys of `tracker`."""
    for option in OPTIONS:
        register(option)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Register the built-in providers and the secrets kept here."""
    if kind == contract.KIND:
        for name, provider in BUILT_IN.items():
            register(name, provider)
    elif kind == "sealed":
        register("tracker", settings.stored)


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Register syncing, writing statuses out, and reading what webhooks are about."""
    # Looked at more often than it is due: whether the minutes are over is for `due` to say.
    register(
        Job(
            kinds.SYNC,
            syncing.run,
            unit="items",
            every="tracker.interval_minutes",
            due=syncing.due,
            rests=syncing.rests,
        )
    )
    register(Job(kinds.PUSH, pushing.run, unit="issues", max_attempts=OFTEN))
    register(Job(kinds.WEBHOOK, webhooks.run, unit="items", max_attempts=OFTEN))


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Tell the tracker about issues that came back."""
    changes.come_back(call, batch)


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> Mapping[str, Any] | None:
    """Queue the writing out of statuses; follow merges."""
    return changes.follow(call, change)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer the page of settings and what issues show of their items."""
    return Assets("tracker", files("snaglist.plugins.tracker") / "ui", "tracker.js")
