"""What GitHub and GitLab have in common: issues of a project, pages by number, texts in Markdown."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from re import Pattern
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlencode

from snaglist.plugins.tracker.contract import Draft, Item, Label, Note, Opening, Page, TrackerFailure, Viewer
from snaglist.plugins.tracker.texts import color, hidden, iso, moment, parts, row, rows, token
from snaglist.plugins.tracker.web import Got, Missing, Web

_PAGES = 5  # that are looked through for something of ours


class Place(NamedTuple):
    """From which time on, and how many items of that list are known.

    An item that changes during the walk moves to the end of the list and lets the others move up, so that a page by
    number alone would skip one. Therefore the next page begins at the time of the last item seen, and numbers only
    tell items of one second apart. What is given twice does no harm.
    """

    since: str | None
    offset: int = 0

    def page(self, size: int) -> int:
        """Return the number of the page, counted from 1, that holds the next item; known ones may stand before it."""
        return self.offset // size + 1

    def after(self, size: int, last: str | None, *, more: bool) -> Any:
        """Return the cursor behind a page whose last item changed at a time; None when there is no more."""
        if not more or last is None:
            return None
        if self.since is None or last > self.since:
            return [last, 0]
        return [self.since, self.page(size) * size]


class Forge(ABC):
    """A project's issues.

    `id_form` finds project and number in an item's id. `login` and `text` are fields of a user and of an issue,
    `comments` is the path behind an issue. `by_change` is the query for all issues by the time of their last change,
    `since` the name of its lower bound.
    """

    vendor: ClassVar[str]
    id_form: ClassVar[Pattern[str]]
    login: ClassVar[str]
    text: ClassVar[str]
    comments: ClassVar[str]
    by_change: ClassVar[Mapping[str, str]]
    since: ClassVar[str]

    def __init__(self, opening: Opening, headers: Mapping[str, str] | None = None) -> None:
        self._base, self._project = opening.endpoint, opening.wanted.project
        self._web = Web(opening, {**(headers or {}), "Authorization": f"Bearer {opening.api_key}"})

    @abstractmethod
    def issues(self, project: str) -> str:
        """Return the address of a project's issues."""

    @abstractmethod
    def has_next(self, got: Got) -> bool:
        """Tell whether a list has more pages."""

    @abstractmethod
    def of_mine(self, since: str) -> Mapping[str, str]:
        """Return the query for what this user made lately."""

    @abstractmethod
    def latest(self, note: Note) -> Mapping[str, str]:
        """Return the query for the comments among which a note may be."""

    @abstractmethod
    def read(self, found: Mapping[str, Any]) -> Item | None:
        """Return an issue as it is listed as an item; None for what is none."""

    def viewer(self) -> Viewer:
        """GET /user."""
        user = row(self._web.get(f"{self._base}/user").data)
        names = parts(user, self.login, "id", "name", "email")
        return Viewer(str(user["id"]), str(user.get("name") or user[self.login]), str(user.get("email") or ""), names)

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """GET the issues by ascending time of the last change."""
        where = Place(*cursor) if cursor else Place(since)
        query = {**self.by_change, "per_page": size, "page": where.page(size)}
        got = self._list(self.issues(self._project), query | ({self.since: iso(where.since)} if where.since else {}))
        listed = rows(got.data)
        last = moment(listed[-1]["updated_at"]) if listed else None
        items = [item for one in listed if (item := self.read(one))]
        return Page(items, where.after(size, last, more=self.has_next(got)))

    def item(self, item_id: str) -> Item | None:
        """GET an issue."""
        try:
            return self.read(row(self._web.get(self._address(item_id)).data))
        except Missing:
            return None

    def create(self, draft: Draft) -> Item:
        """POST an issue."""
        return self.sent("POST", self.issues(self._project), {"title": draft.title, self.text: draft.description})

    def find(self, draft: Draft, since: str) -> Item | None:
        """Look through what this user made lately: searches lag behind, lists do not."""
        made = self._pages(self.issues(self._project), self.of_mine(since))
        ours = (self.read(one) for one in made if token(draft.mark) in (one.get(self.text) or ""))
        return next(filter(None, ours), None)  # what quotes an issue may be none

    def comment(self, item: Item, note: Note) -> None:
        """POST a comment, after a look at the latest ones."""
        address = f"{self._address(item.id)}{self.comments}"
        said = (one.get("body") or "" for one in self._pages(address, self.latest(note)))
        if not any(hidden(note.mark) in text for text in said):
            self._web.send("POST", address, {"body": f"{note.text}\n\n{hidden(note.mark)}"})

    def sent(self, method: str, address: str, body: Mapping[str, Any]) -> Item:
        """Send a change of an issue; returns it as it is then."""
        item = self.read(row(self._web.send(method, address, body).data))
        if item is None:
            raise TrackerFailure(f"This is no issue of {self.vendor}.")
        return item

    def _pages(self, address: str, query: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        for page in range(1, _PAGES + 1):
            got = self._list(address, {**query, "per_page": 100, "page": page})
            yield from rows(got.data)
            if not self.has_next(got):
                return

    def _list(self, address: str, query: Mapping[str, Any]) -> Got:
        return self._web.get(f"{address}?{urlencode(query)}")

    def _address(self, item_id: str) -> str:
        found = self.id_form.fullmatch(item_id)
        if not found:
            raise TrackerFailure(f"This is no issue of {self.vendor}.")
        return f"{self.issues(found[1])}/{found[2]}"


def labels_of(found: Mapping[str, Any]) -> tuple[Label, ...]:
    """Return the labels of an issue; where the answer holds no details, a label is its name."""
    given = [one if isinstance(one, Mapping) else {"name": one} for one in found.get("labels") or ()]
    return tuple(Label(str(one["name"]), color(one.get("color"))) for one in given if one.get("name"))


def people_of(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return who an issue is assigned to."""
    return [one for one in found.get("assignees") or () if isinstance(one, Mapping)]
