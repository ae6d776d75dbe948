"""Tracker: items of an issue tracker as issues here, and statuses in step.

A plugin adds a tracker by the hook `register_trackers`.
"""

from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files

from snaglist.kernel import Assets, Description, hookimpl
from snaglist.plugins.system import Job
from snaglist.plugins.tracker import changes, contract, health, kinds, pushing, settings, syncing, webhooks
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
    text = "Sync issues and statuses with your tracker"
    return Description("tracker", "Tracker", text, "Integration", version("snaglist"), after=("issues", "tags"))


register_endpoints = hookimpl(lambda: ENDPOINTS)
register_tables = hookimpl(lambda: TABLES)
register_steps = hookimpl(lambda: STEPS)
register_settings = hookimpl(lambda: OPTIONS)
register_hookspecs = hookimpl(lambda: contract)
register_trackers = hookimpl(lambda: BUILT_IN)
check_added = hookimpl(contract.check_added)
health_details = hookimpl(health.details)
stored_secrets = hookimpl(settings.stored)
events_stored = hookimpl(changes.come_back)
issue_changed = hookimpl(changes.follow)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register syncing, writing statuses out, and reading what webhooks are about."""
    every, due, rests = "tracker.interval_minutes", syncing.due, syncing.rests
    return [
        Job(kinds.SYNC, syncing.run, unit="items", every=every, due=due, rests=rests),
        Job(kinds.PUSH, pushing.run, unit="issues", max_attempts=OFTEN),
        Job(kinds.WEBHOOK, webhooks.run, unit="items", max_attempts=OFTEN),
    ]


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of settings and what issues show of their items."""
    return [Assets("tracker", files("snaglist.plugins.tracker") / "ui", "tracker.js")]
