"""A tracker provider that only sends: each item, comment and move is posted as JSON to the tracker's address."""

import json
from collections.abc import Mapping
from typing import Any

from snaglist.kernel import BadGateway
from snaglist.plugins.tracker import Draft, Item, Note, Opening, Page, Provider, TrackerFailure, Viewer


class Posting:
    """Speaks to the tracker; never called in a transaction."""

    def __init__(self, opening: Opening) -> None:
        self._opening = opening

    def viewer(self) -> Viewer | None:
        """Return whose key it is: this tracker does not say."""
        return None

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """Return changed items: there is nothing to read here."""
        return Page([])

    def item(self, item_id: str) -> Item | None:
        """Return an item: there is nothing to read here."""
        return None

    def create(self, draft: Draft) -> Item:
        """Make an item; `mark` is the same for all attempts, so the other side can tell a repeated one."""
        self._post({"mark": draft.mark, "title": draft.title, "text": draft.description, "url": draft.url})
        now = self._opening.call.now
        return Item(draft.mark, draft.mark[:8], draft.title, draft.status, draft.status, now, now, url=draft.url)

    def find(self, draft: Draft, since: str) -> Item | None:
        """Return what an earlier attempt made: the other side tells by `mark`."""
        return None

    def comment(self, item: Item, note: Note) -> None:
        """Write a comment."""
        self._post({"item": item.id, "mark": note.mark, "comment": note.text})

    def move(self, item: Item, status: str, mark: str) -> Item:
        """Move an item to the state that fits a status."""
        self._post({"item": item.id, "mark": mark, "status": status})
        return item

    def _post(self, document: Mapping[str, Any]) -> None:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._opening.api_key}"}
        outbound = self._opening.call.service.outbound
        try:
            answer = outbound.request(
                "POST", self._opening.endpoint, headers=headers, body=json.dumps(document).encode()
            )
        except BadGateway as error:
            raise TrackerFailure(error.message, passing=True) from error
        if answer.status >= 300:
            raise TrackerFailure(f"HTTP {answer.status}", passing=answer.status >= 500, refused=answer.status < 500)


def concerns(document: Mapping[str, Any]) -> str | None:
    """Return the id of the item that a webhook is about."""
    item = document.get("item")
    return item if isinstance(item, str) else None


PROVIDER = Provider(Posting, concerns, reads=False)
