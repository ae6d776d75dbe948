"""`alert-channels`: the fields and secrets of channels."""

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from snaglist.kernel import Call, Conflict, Endpoint, Invalid, NotFound, clip, key, own, read, write
from snaglist.plugins.alerting.channels import sealing
from snaglist.plugins.alerting.channels.contract import ChannelType, Target, types
from snaglist.plugins.alerting.tables import channels
from snaglist.plugins.system import form_types, rows

UNKNOWN = "Unknown alert channel."
SIGNING_BYTES = 32


def list_channels(call: Call) -> Mapping[str, Any]:
    """List the channels by `key(name)`."""
    found = call.db.execute(select(channels)).all()
    shown = [show(row) for row in sorted(found, key=lambda row: (key(row.name), row.id))]
    return {"data": shown, "types": _types_shown(call)}


def create(call: Call) -> Mapping[str, Any]:
    """Check and store a new channel, outside a transaction, because hosts are looked at."""
    body = call.body
    kind = _type(call, body["type"])
    target = _target(call, kind, body["type"], body, {})
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
        target = _target(call, kind, before.type, body, stored)
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


def note_test(call: Call, channel_id: int, error: str | None) -> None:
    """Store how a test message fared: the channel is as well as that, and is not left alone any more when it is."""
    values: dict[str, Any] = {"last_status": "failed" if error else "sent", "last_error": error and clip(error, 500)}
    call.write(lambda db: rows.change(db, channels, channel_id, **values, **({} if error else {"retry_at": None})))


def show(row: Row[Any]) -> dict[str, Any]:
    """Return a channel as it is shown: nothing of its secrets but a hint."""
    names = ("id", "name", "type", "target_hint", "last_status", "last_error", "created_at", "updated_at")
    shown = {name: getattr(row, name) for name in names}
    return {**shown, "enabled": bool(row.enabled), "signed": row.signing is not None}


def _types_shown(call: Call) -> list[dict[str, Any]]:
    """Return the types for a form; one without a schema has its fields by their names."""
    known = types(call)
    shown = form_types(call.service, "channel", {name: kind.schemas for name, kind in known.items()})
    for one in shown:
        kind = known[one["name"]]
        one["schema"].setdefault("properties", {name: {"type": "string", "writeOnly": True} for name in kind.fields})
        one["schema"].setdefault("required", list(kind.fields))
        one["signed"] = kind.signed
        if unset := [name for name in kind.needs if not call.setting(name)]:
            one["title"] += f" (needs {', '.join(unset)})"
    return shown


def _type(call: Call, name: str) -> ChannelType:
    kind = types(call).get(name)
    if kind is None:
        raise Invalid(f"type: must be one of {', '.join(sorted(types(call)))}")
    return kind


def _target(call: Call, kind: ChannelType, name: str, body: Mapping[str, Any], stored: Target) -> dict[str, Any]:
    schema = call.service.schemas.find(kind.schemas, "definitions", "channel", name)
    target = {field: body.get(field, stored.get(field)) for field in kind.fields}
    optional = set(target) - set(schema.contents.get("required", kind.fields)) if schema else set()
    missing = [field for field, value in target.items() if not value and field not in optional]
    if missing:
        raise Invalid(f"{field}: is required" for field in missing)
    given = {field: value for field, value in target.items() if value is not None}
    checked, problems = schema.check(given) if schema else (given, [])
    if problems:
        raise Invalid(problems)
    return dict(checked)


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
