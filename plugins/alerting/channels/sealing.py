"""Secrets of channels: target and signing key, sealed for application, channel and field."""

import json
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.alerting.channels import queries
from snaglist.plugins.alerting.channels.contract import Target


def seal_target(call: Call, channel_id: int, target: Target) -> bytes:
    """Seal where a channel sends to; raises Unavailable when no key can be had."""
    return call.service.secrets.seal(call.application.id, _field(channel_id, "target"), json.dumps(dict(target)))


def open_target(call: Call, channel: Row[Any]) -> dict[str, Any]:
    """Return where a channel sends to; raises Unavailable when it cannot be opened."""
    text = call.service.secrets.open(call.application.id, _field(channel.id, "target"), channel.target)
    target: dict[str, Any] = json.loads(text)
    return target


def seal_signing(call: Call, channel_id: int, key: str) -> bytes | None:
    """Seal a signing key; None for an empty one."""
    if not key:
        return None
    return call.service.secrets.seal(call.application.id, _field(channel_id, "signing"), key)


def open_signing(call: Call, channel: Row[Any]) -> str:
    """Return the signing key, empty when there is none; raises Unavailable when it cannot be opened."""
    if channel.signing is None:
        return ""
    return call.service.secrets.open(call.application.id, _field(channel.id, "signing"), channel.signing)


def reseal(call: Call) -> None:
    """Seal everything with the first key, in the open transaction; what a lost key sealed stays as it is."""
    for row in queries.sealed_channels(call.db):
        changes: dict[str, bytes] = {}
        for name in ("target", "signing"):
            sealed = getattr(row, name)
            if sealed is not None:
                again = call.service.secrets.reseal(call.application.id, _field(row.id, name), sealed)
                changes |= {} if again is None else {name: again}
        if changes:
            queries.change_channel(call.db, row.id, **changes)


def _field(channel_id: int, name: str) -> str:
    return f"alert_channels.{channel_id}.{name}"
