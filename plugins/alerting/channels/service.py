"""Rules of channels: their fields and secrets."""

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Conflict, Invalid, NotFound, key
from snaglist.plugins.alerting.channels import queries, sealing
from snaglist.plugins.alerting.channels.contract import ChannelType, Target, types

UNKNOWN = "Unknown alert channel."
SIGNING_BYTES = 32


def list_channels(call: Call) -> list[dict[str, Any]]:
    """Return all channels by `key(name)`."""
    rows = sorted(queries.all_channels(call.db), key=lambda row: (key(row.name), row.id))
    return [show(row) for row in rows]


def create(call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
    """Check and store a new channel, outside a transaction, because hosts are looked at."""
    kind = _type(call, body["type"])
    target = _target(kind, body, {})
    hint = kind.check(call, target)
    signing = (body.get("secret") or secrets.token_urlsafe(SIGNING_BYTES)) if kind.signed else ""
    call.service.secrets.prepare()
    row = {"name": body["name"], "type": body["type"], "enabled": body["enabled"], "target_hint": hint}

    def store() -> dict[str, Any]:
        with call.transaction() as db:
            channel_id = queries.add_channel(db, {**row, "created_at": call.now, "updated_at": call.now})
            sealed = sealing.seal_target(call, channel_id, target)
            queries.change_channel(
                db, channel_id, target=sealed, signing=sealing.seal_signing(call, channel_id, signing)
            )
            return show(find(call, channel_id))

    shown = call.repeat(store)
    return {**shown, "secret": signing} if signing and not body.get("secret") else shown


def change(call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
    """Check and store new fields of a channel; those of the target and the key that are not given stay."""
    with call.transaction(write=False):
        before = find(call, body["id"])
    if body.get("type", before.type) != before.type:
        raise Invalid("type: cannot change")
    kind = _type(call, before.type)
    row: dict[str, Any] = {name: body[name] for name in ("name", "enabled") if name in body}
    given = {name for name in kind.fields if name in body}
    if given:
        # With all of them given nothing stored is needed: so a channel whose key was lost can be repaired.
        stored = {} if given == set(kind.fields) else sealing.open_target(call, before)
        target = _target(kind, body, stored)
        row["target_hint"] = kind.check(call, target)
        row["target"] = sealing.seal_target(call, before.id, target)
        row["retry_at"] = None
    if kind.signed and "secret" in body:
        row["signing"] = sealing.seal_signing(call, before.id, body["secret"])

    def store() -> dict[str, Any]:
        with call.transaction() as db:
            now = queries.lock_channel(db, before.id)
            if now is None:
                raise NotFound(UNKNOWN)
            if (now.target, now.signing) != (before.target, before.signing):
                raise Conflict("The channel was changed meanwhile; try again.")
            queries.change_channel(db, before.id, **row, updated_at=call.now)
            return show(find(call, before.id))

    return call.repeat(store)


def delete(call: Call, channel_id: int) -> None:
    """Delete a channel with its rules."""
    if not queries.remove_channel(call.db, channel_id):
        raise NotFound(UNKNOWN)


def find(call: Call, channel_id: int) -> Row[Any]:
    """Return the row of a channel or raise NotFound."""
    row = queries.one_channel(call.db, channel_id)
    if row is None:
        raise NotFound(UNKNOWN)
    return row


def show(row: Row[Any]) -> dict[str, Any]:
    """Return a channel as it is shown: nothing of its secrets but a hint."""
    names = ("id", "name", "type", "target_hint", "last_status", "last_error", "created_at", "updated_at")
    shown = {name: getattr(row, name) for name in names}
    return {**shown, "enabled": bool(row.enabled), "signed": row.signing is not None}


def _type(call: Call, name: str) -> ChannelType:
    kind = types(call).get(name)
    if kind is None:
        raise Invalid(f"type: must be one of {', '.join(sorted(types(call)))}")
    return kind


def _target(kind: ChannelType, body: Mapping[str, Any], stored: Target) -> dict[str, Any]:
    target = {name: body.get(name, stored.get(name)) for name in kind.fields}
    missing = [name for name, value in target.items() if not value]
    if missing:
        raise Invalid(f"{name}: is required" for name in missing)
    return target
