"""`alert-channels`: the fields and secrets of channels."""

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from snaglist.kernel import Call, Conflict, Endpoint, Invalid, NotFound, key, own, read, write
from snaglist.plugins.alerting.channels import sealing
from snaglist.plugins.alerting.channels.contract import ChannelType, Target, types
from snaglist.plugins.alerting.tables import channels
from snaglist.plugins.system import rows

UNKNOWN = "Unknown alert channel."
SIGNING_BYTES = 32


def list_channels(call: Call) -> Mapping[str, Any]:
    """List the channels by `key(name)`."""
    found = call.db.execute(select(channels)).all()
    return {"data": [show(row) for row in sorted(found, key=lambda row: (key(row.name), row.id))]}


def create(call: Call) -> Mapping[str, Any]:
    """Check and store a new channel, outside a transaction, because hosts are looked at."""
    body = call.body
    kind = _type(call, body["type"])
    target = _target(kind, body, {})
    hint = kind.check(call, target)
    signing = (body.get("secret") or secrets.token_urlsafe(SIGNING_BYTES)) if kind.signed else ""
    call.service.secrets.prepare()
    row = {"name": body["name"], "type": body["type"], "enabled": body["enabled"], "target_hint": hint}

    def store(db: Connection) -> dict[str, Any]:
        channel_id = rows.add(db, channels, {**row, "created_at": call.now, "updated_at": call.now})
        sealed = {
            "target": sealing.seal_target(call, channel_id, target),
            "signing": sealing.seal_signing(call, channel_id, signing),
        }
        rows.change(db, channels, channel_id, **sealed)
        return show(find(db, channel_id))

    shown = call.write(store)
    return {**shown, "secret": signing} if signing and not body.get("secret") else shown


def change(call: Call) -> Mapping[str, Any]:
    """Check and store new fields of a channel; those of the target and the key that are not given stay.

    PUT and PATCH differ in their schemas: in what is required and what has a default.
    """
    body = call.body
    before = call.read(lambda db: find(db, body["id"]))
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

    def store(db: Connection) -> dict[str, Any]:
        now = find(db, before.id, lock=True)
        if (now.target, now.signing) != (before.target, before.signing):
            raise Conflict("The channel was changed meanwhile; try again.")
        rows.change(db, channels, before.id, **row, updated_at=call.now)
        return show(find(db, before.id))

    return call.write(store)


def delete(call: Call) -> Mapping[str, Any]:
    """Delete a channel, and by their keys its rules; its messages stay without it."""
    if not rows.remove(call.db, channels, call.body["id"]):
        raise NotFound(UNKNOWN)
    return {"id": call.body["id"], "deleted": True}


def find(db: Connection, channel_id: int, *, lock: bool = False) -> Row[Any]:
    """Return the row of a channel or raise NotFound."""
    row = rows.find(db, channels, channel_id, lock=lock)
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


ENDPOINTS = (
    Endpoint(
        "alert-channels",
        get=read(list_channels, "alerts.read"),
        post=own(create, "settings.write", 201),
        put=own(change, "settings.write"),
        patch=own(change, "settings.write"),
        delete=write(delete, "settings.write"),
    ),
)
