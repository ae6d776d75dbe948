"""HTTP in, HTTP out: `alert-events`."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Endpoint, paging, read
from snaglist.plugins.alerting.outbox import queries


def list_events(call: Call) -> Mapping[str, Any]:
    """List messages, the newest first."""
    page, limit = call.query["page"], call.query["limit"]
    total, rows = queries.page_of_messages(call.db, call.query.get("rule_id"), page, limit)
    return {"data": [_show(row) for row in rows], "meta": paging.meta(total, page, limit)}


def _show(row: Row[Any]) -> dict[str, Any]:
    names = (
        "id", "rule_id", "rule_name", "channel_id", "channel_name", "trigger_type", "status", "attempts", "detail",
        "created_at", "finished_at",
    )  # fmt: skip
    return {name: getattr(row, name) for name in names}


ENDPOINTS = (Endpoint("alert-events", get=read(list_events, "alerts.read")),)
