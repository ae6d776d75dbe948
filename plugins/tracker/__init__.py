"""Tracker: items of an issue tracker as issues here, and statuses in step.

A plugin adds a tracker by the hook `register_trackers`.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, SchemaStep, hookimpl
from snaglist.plugins.issues import IssueChange, StoredBatch
from snaglist.plugins.system import Job, StoredSecret
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
    "Viewer", "Wanted", "Web", "contract", "targets",
]  # fmt: skip

# A write-back is not lost because the tracker was away for an hour or two.
OFTEN = 10


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Items of an issue tracker as issues here, and statuses in step"
    return Description("tracker", "Tracker", text, "Integration", version("snaglist"), after=("issues", "tags"))


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Register the settings, what is done with them, and the webhook."""
    return ENDPOINTS


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
    """Register the keys of `tracker`."""
    return OPTIONS


@hookimpl
def register_hookspecs() -> object:
    """Offer `register_trackers`."""
    return contract


@hookimpl
def register_trackers() -> Mapping[str, Provider]:
    """Register the built-in providers."""
    return BUILT_IN


@hookimpl
def check_added(hook: str, name: str, value: Any) -> None:
    """Look at providers."""
    contract.check_added(hook, name, value)


@hookimpl
def stored_secrets(call: Call) -> Iterable[StoredSecret]:
    """Give the secrets of the tracker."""
    return settings.stored(call)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register syncing, writing statuses out, and reading what webhooks are about."""
    return [
        Job(
            kinds.SYNC,
            syncing.run,
            unit="items",
            every="tracker.interval_minutes",
            due=syncing.due,
            rests=syncing.rests,
        ),
        Job(kinds.PUSH, pushing.run, unit="issues", max_attempts=OFTEN),
        Job(kinds.WEBHOOK, webhooks.run, unit="items", max_attempts=OFTEN),
    ]


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Tell the tracker about issues that came back."""
    changes.come_back(call, batch)


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> Mapping[str, Any] | None:
    """Queue the writing out of statuses; follow merges."""
    return changes.follow(call, change)


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of settings and what issues show of their items."""
    return [Assets("tracker", files("snaglist.plugins.tracker") / "ui", "tracker.js")]
