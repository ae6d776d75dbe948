"""Putting messages into the outbox, in the transaction of what caused them."""

import uuid
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, times
from snaglist.plugins.alerting.outbox import queries
from snaglist.plugins.alerting.tables import outbox, rules
from snaglist.plugins.system import rows

JOB = "alerts_deliver"
OVER_LIMIT = "over the limit of messages an hour"
CHANNEL_DISABLED = "the channel is disabled"


def queue(call: Call, rule: Row[Any], document: Mapping[str, Any], detail: str) -> None:
    """Queue a message of a rule; over the limit of the hour, or for a disabled channel, it is kept but not sent.

    `rule` is a row of `enabled_rules`; `detail` is shown in the list of messages.
    """
    rows.change(call.db, rules, rule.id, last_triggered_at=call.now)
    reason = None
    if not rule.channel_enabled:
        reason = CHANNEL_DISABLED
    elif queries.counted_since(call.db, times.hour(call.now)) >= call.setting("alerts.max_per_hour"):
        reason = OVER_LIMIT
    _add(call, document, rule_id=rule.id, channel_id=rule.channel_id, reason=reason, detail=detail)


def queue_digest(call: Call, channel_id: int, document: Mapping[str, Any]) -> None:
    """Queue what tells of the messages that were held back."""
    _add(call, document, rule_id=None, channel_id=channel_id, reason=None, detail=str(document["summary"])[:500])


def _add(call: Call, document: Mapping[str, Any], *, reason: str | None, detail: str, **ids: int | None) -> None:
    row = {
        **ids,
        "delivery_id": str(uuid.uuid4()),
        "trigger_type": document["trigger"],
        "payload": dict(document),
        "status": "suppressed" if reason else "queued",
        "attempts": 0,
        "next_attempt_at": call.now,
        "detail": reason or detail,
        "created_at": call.now,
        "finished_at": call.now if reason else None,
    }
    rows.add(call.db, outbox, row)
    if not reason:
        call.enqueue(JOB)
