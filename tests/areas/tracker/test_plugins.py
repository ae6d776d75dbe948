"""A tracker that a plugin adds, by the hook `register_trackers`."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from snaglist.plugins.tracker import Draft, Item, Note, Opening, Page, Provider, Viewer

NOW = "2026-01-02 08:00:00"


class Board:
    """A tracker in memory."""

    items: dict[str, Item] = {}  # noqa: RUF012

    def __init__(self, opening: Opening) -> None:
        assert opening.endpoint == "https://board.example/api" and opening.api_key == "a-key"

    def viewer(self) -> Viewer:
        return Viewer("1", "Ana", "")

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        return Page(list(self.items.values()))

    def item(self, item_id: str) -> Item | None:
        return self.items.get(item_id)

    def create(self, draft: Draft) -> Item:
        made = Item(draft.mark, "B-9", draft.title, "open", "open", NOW, NOW)
        self.items[made.id] = made
        return made

    def find(self, draft: Draft, since: str) -> Item | None:
        return self.items.get(draft.mark)

    def comment(self, item: Item, note: Note) -> None:
        pass

    def move(self, item: Item, status: str, mark: str) -> Item:
        self.items[item.id] = replace(item, state=status, status=status)
        return self.items[item.id]


BOARD = Provider(Board, lambda document: document.get("card"), endpoint="https://board.example/api")


def test_a_provider_of_a_plugin(site_with: Callable[..., Any]) -> None:
    site = site_with("github", settings=False)
    added = site.service.plugins.find("tracker").added["register_trackers"]
    added.append(("board", BOARD))
    Board.items = {"7": Item("7", "B-7", "Refund fails", "open", "open", NOW, NOW, places=("Ops",))}
    given = {"provider": "board", "team_key": "ops", "api_key": "a-key", "enabled": True, "status_writeback": True}
    assert site.client.put("tracker-settings", given).status == 200
    assert site.client.post("tracker-test").json["viewer"] == {"id": "1", "name": "Ana", "email": ""}
    assert site.sync()["created"] == 1
    (issue,) = site.issues()
    assert (issue["external_source"], issue["external_id"]) == ("board", "B-7")
    site.set_status(issue["id"], "fixed")
    site.run_jobs()
    assert Board.items["7"].status == "fixed"
    made = site.store("Disk is full")
    assert site.sync("create", ids=[made])["results"][0]["external_id"] == "B-9"
    added.pop()
    assert site.client.post("tracker-test").json["message"] == "The provider board is not installed."
