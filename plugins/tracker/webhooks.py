"""Webhooks: who may send them, and what becomes of them."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from time import time
from typing import Any

from sqlalchemy import Connection, delete, insert
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import BadRequest, Call, Invalid, Reply, Unauthorized, Unavailable, times
from snaglist.kernel.bodies import parse_json
from snaglist.plugins.system import JobCall
from snaglist.plugins.tracker import settings as stored
from snaglist.plugins.tracker.contract import Delivery, Item, TrackerFailure, Viewer
from snaglist.plugins.tracker.kinds import WEBHOOK
from snaglist.plugins.tracker.providers.generic import read_item
from snaglist.plugins.tracker.settings import Settings
from snaglist.plugins.tracker.signatures import is_genuine
from snaglist.plugins.tracker.storing import is_wanted, store
from snaglist.plugins.tracker.tables import deliveries
from snaglist.plugins.tracker.texts import cleaned

KEPT_DAYS = 7
_REFUSED = "The webhook's signature is missing, wrong or too old."


def authenticate(call: Call) -> None:
    """Raise Unauthorized unless the raw body is signed with the secret of its application, and not too old."""
    body = call.read_body()  # first: what is too long or packed is refused whoever sends it
    if call.selected is not None:
        settings = call.remembered(stored.SETTING, stored.load)
        if settings.enabled and _is_genuine(call, settings, body):
            return
    raise Unauthorized(_REFUSED, headers={"WWW-Authenticate": "Bearer"})


def _is_genuine(call: Call, settings: Settings, body: bytes) -> bool:
    try:
        kind = stored.provider(call, settings)
    except TrackerFailure:
        return False
    delivery = Delivery(partial(_header, call), body)
    allow_token = call.setting("tracker.allow_gitlab_token")
    secrets = stored.webhook_secrets(call, settings)
    return any([is_genuine(kind, delivery, one, time(), allow_token=allow_token) for one in secrets])


def _header(call: Call, name: str) -> str:
    return str(call.environ.get(f"HTTP_{name.upper().replace('-', '_')}", "")).strip()


def receive(call: Call) -> Reply:
    """Queue a job for the item that a delivery is about, unless it is of another kind or came before."""
    body = call.read_body()
    try:
        document = cleaned(parse_json(body))
    except ValueError as error:
        raise BadRequest(f"The body {error}.") from error
    if not isinstance(document, dict):
        raise Invalid("body: must be an object")
    settings = call.read(stored.load)
    try:
        kind = stored.provider(call, settings)
        item_id = kind.concerns(document)
        if item_id is not None and not kind.reads:
            read_item(document)
    except TrackerFailure as error:
        raise Invalid(error.message) from error
    if item_id is None:
        return _answer("ignored")
    args = {"provider": settings.provider, "item": item_id, "document": None if kind.reads else document}
    digest = hashlib.sha256(body).hexdigest()

    def queue(db: Connection) -> int:
        db.execute(delete(deliveries).where(deliveries.c.received_at < times.add(call.now, days=-KEPT_DAYS)))
        db.execute(insert(deliveries).values(digest=digest, received_at=call.now))
        return call.enqueue(WEBHOOK, args)

    try:
        return _answer("queued", call.write(queue, durable=True))
    except IntegrityError:
        return _answer("duplicate")


def _answer(status: str, job_id: int | None = None) -> Reply:
    return Reply({"ok": True, "status": status, "job_id": job_id}, 200 if job_id is None else 202)


def run(call: JobCall) -> Mapping[str, Any]:
    """Job: read an item again (a generic one is in the arguments) and store it."""
    settings = call.read(stored.load)
    if not settings.enabled or settings.provider != call.args["provider"]:
        return {"ok": False, "error": "The tracker was switched off or changed meanwhile."}
    try:
        item, viewer = _read(call, settings)
    except TrackerFailure as error:
        raise (Unavailable(error.message) if error.passing else error) from error
    if item is None:
        return {"ok": True, "gone": True}
    all_ = call.args["document"] is not None
    return {"ok": True, **asdict(call.write(lambda _: store(call, settings, [item], viewer, all_=all_)))}


def _read(call: JobCall, settings: Settings) -> tuple[Item | None, Viewer | None]:
    """Return the item of a delivery, None when it is gone, and whose key it is where that decides what is kept."""
    if call.args["document"] is not None:
        return read_item(call.args["document"]), None
    tracker = stored.open_tracker(call, settings)
    item = tracker.item(call.args["item"])
    asks = item is not None and settings.assigned_to_me and not is_wanted(item, settings.wanted, None)
    return item, tracker.viewer() if asks else None
