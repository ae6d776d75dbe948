"""Secrets of channels: target and signing key, sealed for application, channel and field."""

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Row, select

from snaglist.kernel import Call
from snaglist.plugins.alerting.channels.contract import Target
from snaglist.plugins.alerting.tables import channels
from snaglist.plugins.system import StoredSecret, rows


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


def stored(call: Call) -> Iterator[StoredSecret]:
    """Give targets and signing keys of all channels, in the open transaction."""
    for row in call.db.execute(select(channels.c.id, channels.c.name, channels.c.target, channels.c.signing)).all():
        for name, shown in (("target", "target"), ("signing", "signing key")):
            sealed = getattr(row, name)
            if sealed is None:
                continue

            def replace(again: bytes, channel_id: int = row.id, name: str = name) -> None:
                rows.change(call.db, channels, channel_id, **{name: again})

            yield StoredSecret(_field(row.id, name), f'{shown} of the alert channel "{row.name}"', sealed, replace)


def _field(channel_id: int, name: str) -> str:
    return f"alert_channels.{channel_id}.{name}"
