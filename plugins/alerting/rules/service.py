"""Rules of alert rules: their fields, and from when on they count."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Invalid, NotFound
from snaglist.plugins.alerting.rules import queries
from snaglist.plugins.issues import RANK, hold_module, stored_path

UNKNOWN = "Unknown alert rule."
FIELDS = (
    "name", "channel_id", "trigger_type", "severities", "module_id", "environment", "tag_id", "source", "min_count",
    "spike_factor", "window_minutes", "cooldown_minutes", "enabled",
)  # fmt: skip
_JOINED = ("channel_name", "channel_type", "module_name", "module_slug", "tag_name")


def list_rules(call: Call) -> list[dict[str, Any]]:
    """Return all rules, the newest first."""
    return [show(row) for row in queries.all_rules(call.db)]


def find(call: Call, rule_id: int) -> Row[Any]:
    """Return the row of a rule or raise NotFound."""
    row = queries.one_rule(call.db, rule_id)
    if row is None:
        raise NotFound(UNKNOWN)
    return row


def create(call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
    """Store a new rule; it starts now."""
    row = _checked(call, {name: body[name] for name in FIELDS})
    times = {"started_at": call.now, "created_at": call.now, "updated_at": call.now}
    return show(find(call, queries.add_rule(call.db, {**row, **times})))


def change(call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
    """Store new fields of a rule; those that are not given stay.

    A rule that is enabled again, or gets another trigger, starts anew.
    """
    before = queries.lock_rule(call.db, body["id"])
    if before is None:
        raise NotFound(UNKNOWN)
    row = _checked(call, {name: body.get(name, getattr(before, name)) for name in FIELDS})
    row["updated_at"] = call.now
    other_trigger = row["trigger_type"] != before.trigger_type
    if other_trigger:
        queries.forget_fired(call.db, before.id)
        row |= {"last_event_at": None, "last_triggered_at": None}
    if other_trigger or (row["enabled"] and not before.enabled):
        row["started_at"] = call.now
    queries.change_rule(call.db, before.id, **row)
    return show(find(call, before.id))


def delete(call: Call, rule_id: int) -> None:
    """Delete a rule."""
    if not queries.remove_rule(call.db, rule_id):
        raise NotFound(UNKNOWN)


def start_all(call: Call) -> None:
    """Let every rule start now."""
    queries.change_rules(call.db, started_at=call.now, last_event_at=None)


def show(row: Row[Any]) -> dict[str, Any]:
    """Return a rule as it is shown."""
    names = ("id", *FIELDS, *_JOINED, "last_triggered_at", "created_at", "updated_at")
    return {**{name: getattr(row, name) for name in names}, "enabled": bool(row.enabled)}


def _checked(call: Call, row: dict[str, Any]) -> dict[str, Any]:
    problems = []
    if not queries.channel_exists(call.db, row["channel_id"]):
        problems.append("channel_id: there is no such channel")
    if row["module_id"] is not None and not hold_module(call.db, row["module_id"]):
        problems.append("module_id: there is no such module")
    if row["tag_id"] is not None and not queries.tag_exists(call.db, row["tag_id"]):
        problems.append("tag_id: there is no such tag")
    if row["source"] is not None and row["trigger_type"] != "heartbeat":
        problems.append("source: only with trigger_type heartbeat")
    if problems:
        raise Invalid(problems)
    source = None if row["source"] is None else stored_path(call, row["source"])  # as the paths it is looked for in
    return {**row, "source": source, "severities": sorted(set(row["severities"]), key=RANK.__getitem__)}
