"""The generic provider: one signed JSON form, out and in, for trackers of your own."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from snaglist.kernel import times
from snaglist.plugins.tracker.contract import (
    Delivery,
    Draft,
    Item,
    Label,
    Note,
    Opening,
    Page,
    Provider,
    TrackerFailure,
    Viewer,
    targets,
)
from snaglist.plugins.tracker.signatures import HEADER, is_common, sign
from snaglist.plugins.tracker.texts import EARLIEST, parts, uuid_of
from snaglist.plugins.tracker.web import Web, encode

MAX_LABELS = 50
STATUSES = ("open", "in_progress", "fixed", "wont_fix", "reoccurred")


class Generic:
    """An endpoint that gets what happens here; what happens there comes by webhook."""

    def __init__(self, opening: Opening) -> None:
        self._endpoint, self._secret = opening.endpoint, opening.webhook_secret
        key = {"Authorization": f"Bearer {opening.api_key}"} if opening.api_key else {}
        self._web = Web(opening, key)

    def viewer(self) -> Viewer | None:
        """Send an event `test`."""
        self._post({"event": "test", "sent_at": times.now()}, str(uuid.uuid4()))
        return None

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """Refuse: there is nothing to read from."""
        raise TrackerFailure("The generic provider cannot be pulled from.", refused=True)

    def item(self, item_id: str) -> Item | None:
        """Return None: there is nothing to read from."""
        return None

    def create(self, draft: Draft) -> Item:
        """Send an event `issue`; the endpoint may answer with an `id` and `url` of its own."""
        now = times.now()
        item = Item(
            id=draft.mark,
            identifier=draft.mark,
            title=draft.title,
            description=draft.description,
            url=draft.url,
            state=draft.status,
            status=draft.status,
            priority=draft.priority,
            labels=tuple(Label(name) for name in draft.labels),
            created_at=now,
            updated_at=now,
        )
        answer = self._post(_document(item), uuid_of(draft.mark))
        named = str(answer.get("id") or "")[:200] if isinstance(answer, Mapping) else ""
        url = str(answer.get("url") or "") if isinstance(answer, Mapping) else ""
        return replace(item, id=named or item.id, identifier=named or item.identifier, url=url)

    def find(self, draft: Draft, since: str) -> Item | None:
        """Return None: the delivery id is that of the attempt before, by which the endpoint knows it."""
        return None

    def comment(self, item: Item, note: Note) -> None:
        """Send an event `comment`."""
        self._post({**_document(item), "event": "comment", "comment": note.text}, uuid_of(f"{note.mark}.comment"))

    def move(self, item: Item, status: str, mark: str) -> Item:
        """Send an event `issue`."""
        moved = replace(item, state=status, status=status)
        self._post(_document(moved), uuid_of(mark))
        return moved

    def _post(self, document: Mapping[str, Any], delivery: str) -> Any:
        body = encode(document)
        headers = {HEADER: f"sha256={sign(self._secret, body)}", "X-Service-Delivery": delivery}
        try:
            return self._web.send("POST", self._endpoint, body, headers=headers).data
        except TrackerFailure as error:
            if isinstance(error.__cause__, json.JSONDecodeError):  # it was taken; what is said about it is optional
                return None
            raise


def read_item(document: Mapping[str, Any]) -> Item:
    """Return the item of a webhook's body; raises TrackerFailure with what is wrong."""
    title, status = document.get("title"), document.get("status", "open")
    if not isinstance(title, str) or not title.strip():
        raise TrackerFailure("title: must be a text that is not blank", refused=True)
    if status not in STATUSES:
        raise TrackerFailure(f"status: must be one of {', '.join(STATUSES)}", refused=True)
    priority, labels = document.get("priority"), document.get("labels") or []
    if not isinstance(labels, list) or not all(isinstance(name, str) for name in labels):
        raise TrackerFailure("labels: must be a list of texts", refused=True)
    if len(labels) > MAX_LABELS:
        raise TrackerFailure(f"labels: must be at most {MAX_LABELS} texts", refused=True)
    sent = _time(document, "sent_at", times.now())
    person = document.get("assignee")
    updated = _time(document, "updated_at", sent)
    return Item(
        id=str(document["id"]),
        identifier=str(document["id"]),
        title=title,
        description=str(document.get("description") or ""),
        url=str(document.get("url") or ""),
        state=status,
        status=status,
        priority=priority if isinstance(priority, int) and 0 <= priority <= 4 else 0,
        labels=tuple(Label(name) for name in labels),
        assignee=person if isinstance(person, str) and person else None,
        people=parts(document, "assignee"),
        created_at=_time(document, "created_at", updated),
        updated_at=updated,
    )


def _time(document: Mapping[str, Any], name: str, default: str) -> str:
    value = document.get(name)
    if value is None:
        return default
    try:
        return max(times.parse(str(value)), EARLIEST)
    except (ValueError, OverflowError) as error:
        raise TrackerFailure(f"{name}: must be a time like 2026-01-03 09:00:00", refused=True) from error


def _document(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "event": "issue",
        "title": item.title,
        "description": item.description,
        "status": item.status,
        "url": item.url,
        "priority": item.priority,
        "labels": [label.name for label in item.labels],
        "assignee": item.assignee,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
        "sent_at": times.now(),
    }


def _sent_at(delivery: Delivery, document: Mapping[str, Any]) -> float | None:
    sent = document.get("sent_at")
    try:
        return times.read(times.parse(sent)).timestamp() if isinstance(sent, str) else None
    except (ValueError, OverflowError):
        return None


def _concerns(document: Mapping[str, Any]) -> str | None:
    found = document.get("id")
    known = document.get("event", "issue") == "issue" and isinstance(found, str)
    return found if known and isinstance(found, str) and len(found.strip()) > 0 and len(found) <= 200 else None


GENERIC = Provider(
    open=Generic,
    concerns=_concerns,
    targets=targets(reoccurred="reoccurred"),
    reads=False,
    timed=True,
    signed=is_common,
    sent_at=_sent_at,
)
