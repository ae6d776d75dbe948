"""HTTP in, HTTP out: `alert-test`."""

import uuid
from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, own, times
from snaglist.plugins.alerting import outbox, rules
from snaglist.plugins.alerting.channels import Message, NotDelivered, opened
from snaglist.plugins.alerting.channels.handlers import find as find_channel
from snaglist.plugins.alerting.channels.handlers import note_test
from snaglist.plugins.alerting.outbox.messages import complete
from snaglist.plugins.alerting.trying.history import DAYS, MAX_ITEMS, would_have_fired


def try_out(call: Call) -> Mapping[str, Any]:
    """Send a test message now, or tell what a rule would have sent."""
    return _try_channel(call, call.body["id"]) if "id" in call.body else _try_rule(call, call.body["rule_id"])


def _try_channel(call: Call, channel_id: int) -> Mapping[str, Any]:
    channel = call.read(lambda db: find_channel(db, channel_id))
    document = outbox.document(call, "test", "", f"Test message of snaglist to the channel {channel.name}")
    delivery = str(uuid.uuid4())
    try:
        with opened(call, channel) as send:
            send(Message(delivery, complete(document, delivery, times.now())))
    except NotDelivered as error:
        note_test(call, channel_id, error.message)
        return {"ok": False, "detail": error.message}
    note_test(call, channel_id, None)
    return {"ok": True, "detail": "delivered"}


def _try_rule(call: Call, rule_id: int) -> Mapping[str, Any]:
    with call.transaction(write=False) as db:
        rule = rules.find(db, rule_id)
        firings, complete_ = would_have_fired(call, rule)
    items = sorted(firings, key=lambda firing: (firing["at"], firing["group_id"] or 0), reverse=True)
    return {
        "rule_id": rule_id,
        "window_days": DAYS,
        "would_fire": len(items),
        "items": items[:MAX_ITEMS],
        "truncated": len(items) > MAX_ITEMS or not complete_,
    }


ENDPOINTS = (Endpoint("alert-test", post=own(try_out, "settings.write")),)
