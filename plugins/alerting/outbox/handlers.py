"""HTTP in, HTTP out: `alert-events`."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Endpoint, read
from snaglist.plugins.alerting.outbox import queries
from snaglist.plugins.alerting.tables import outbox
from snaglist.plugins.system import rows


def list_events(call: Call) -> Mapping[str, Any]:
    """List messages, the newest first."""
    wanted = [outbox.c.rule_id == call.query["rule_id"]] if "rule_id" in call.query else []
    page, meta = rows.page(call, queries.shown_messages(), outbox, *wanted)
    return {"data": [_show(row) for row in page], "meta": meta}


def _show(row: Row[Any]) -> dict[str, Any]:
    names = (
        "id", "rule_id", "rule_name", "channel_id", "channel_name", "trigger_type", "status", "attempts", "detail",
        "created_at", "finished_at",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names}


ENDPOINTS = (Endpoint("alert-events", get=read(list_events, "alerts.read")),)
