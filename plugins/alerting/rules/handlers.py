"""`alert-rules`: the fields of rules, and from when on they count."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, update
from sqlalchemy import delete as remove

from snaglist.kernel import Call, Endpoint, Invalid, NotFound, read, write
from snaglist.plugins.alerting.rules import queries
from snaglist.plugins.alerting.tables import rules, state
from snaglist.plugins.issues import MAX_USERS, RANK, hold_module, stored_path
from snaglist.plugins.system import rows

UNKNOWN = "Unknown alert rule."
FIELDS = (
    "name", "channel_id", "trigger_type", "severities", "module_id", "environment", "tag_id", "source", "min_count",
    "spike_factor", "window_minutes", "cooldown_minutes", "enabled",
)  # fmt: skip
_JOINED = ("channel_name", "channel_type", "module_name", "module_slug", "tag_name")


def list_rules(call: Call) -> Mapping[str, Any]:
    """List the rules, the newest first."""
    return {"data": [show(row) for row in queries.all_rules(call.db)]}


def create(call: Call) -> Mapping[str, Any]:
    """Store a new rule; it starts now."""
    row = _checked(call, {name: call.body[name] for name in FIELDS})
    times = {"started_at": call.now, "created_at": call.now, "updated_at": call.now}
    return show(find(call.db, rows.add(call.db, rules, {**row, **times})))


def change(call: Call) -> Mapping[str, Any]:
    """Store new fields of a rule; those that are not given stay.

    A rule that is enabled again, or gets another trigger, starts anew. PUT and PATCH differ in their schemas: in what
    is required and what has a default.
    """
    before = rows.find(call.db, rules, call.body["id"], lock=True)
    if before is None:
        raise NotFound(UNKNOWN)
    row = _checked(call, {name: call.body.get(name, getattr(before, name)) for name in FIELDS})
    row["updated_at"] = call.now
    other_trigger = row["trigger_type"] != before.trigger_type
    if other_trigger:
        call.db.execute(remove(state).where(state.c.rule_id == before.id))  # what it fired for
        row |= {"last_event_at": None, "last_triggered_at": None}
    if other_trigger or (row["enabled"] and not before.enabled):
        row["started_at"] = call.now
    rows.change(call.db, rules, before.id, **row)
    return show(find(call.db, before.id))


def delete(call: Call) -> Mapping[str, Any]:
    """Delete a rule, and by its key what it fired for; its messages stay."""
    if not rows.remove(call.db, rules, call.body["id"]):
        raise NotFound(UNKNOWN)
    return {"id": call.body["id"], "deleted": True}


def find(db: Connection, rule_id: int) -> Row[Any]:
    """Return a rule as it is shown or raise NotFound."""
    row = queries.one_rule(db, rule_id)
    if row is None:
        raise NotFound(UNKNOWN)
    return row


def start_all(call: Call) -> None:
    """Let every rule start now."""
    call.db.execute(update(rules).values(started_at=call.now, last_event_at=None))


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
    if row["trigger_type"] == "users" and row["min_count"] > MAX_USERS:
        problems.append(f"min_count: at most {MAX_USERS} with trigger_type users, no more are told apart")
    if problems:
        raise Invalid(problems)
    source = None if row["source"] is None else stored_path(call, row["source"])  # as the paths it is looked for in
    return {**row, "source": source, "severities": sorted(set(row["severities"]), key=RANK.__getitem__)}


ENDPOINTS = (
    Endpoint(
        "alert-rules",
        get=read(list_rules, "alerts.read"),
        post=write(create, "settings.write", 201),
        put=write(change, "settings.write"),
        patch=write(change, "settings.write"),
        delete=write(delete, "settings.write"),
    ),
)
