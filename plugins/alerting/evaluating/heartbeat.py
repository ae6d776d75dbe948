"""The trigger that fires when nothing comes any more."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, times
from snaglist.plugins.alerting import outbox
from snaglist.plugins.alerting.evaluating.seen import SeenEvent, passing
from snaglist.plugins.alerting.rules import enabled_rules
from snaglist.plugins.alerting.tables import rules as table
from snaglist.plugins.issues import StoredBatch
from snaglist.plugins.system import rows


def note_events(call: Call, rules: Sequence[Row[Any]], batch: StoredBatch) -> None:
    """Remember for each heartbeat that an event came; how old the event itself is does not matter."""
    for rule in rules:
        if (rule.last_event_at or "") < call.now and _concerns(rule, batch):
            rows.change(call.db, table, rule.id, last_event_at=call.now)


def overdue(call: Call) -> list[Row[Any]]:
    """Return the rules that have waited too long and did not say so yet."""
    found = []
    for rule in enabled_rules(call.db):
        if rule.trigger_type == "heartbeat":
            since = max(rule.started_at, rule.last_event_at or "")
            late = times.add(since, seconds=60 * rule.window_minutes) <= call.now
            if late and (rule.last_triggered_at or "") < since:
                found.append(rule)
    return found


def fire(call: Call, rule: Row[Any]) -> None:
    """Queue the message that nothing came."""
    origin = f" from {rule.source}" if rule.source is not None else ""
    text = f"No event{origin} for {outbox.amount(rule.window_minutes, 'minute')}"
    outbox.queue(call, rule, outbox.document(call, rule.trigger_type, rule.name, text), text[:500])


def _concerns(rule: Row[Any], batch: StoredBatch) -> bool:
    if rule.module_id not in (None, batch.source.module_id):
        return False
    in_path = rule.source is None or rule.source in batch.source.path
    events = [
        SeenEvent(stored.event.occurred_at, stored.event.severity, stored.event.environment, False)
        for stored in batch.stored
        if in_path or stored.event.channel == rule.source
    ]
    return bool(passing(rule, events))
