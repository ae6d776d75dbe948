"""GitLab: REST API v4, https://docs.gitlab.com/api/issues/.

Pages by number; the header `X-Next-Page` is empty on the last one. `state_event` closes and reopens.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

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
from snaglist.plugins.tracker.providers.walking import place
from snaglist.plugins.tracker.signatures import is_standard, seconds
from snaglist.plugins.tracker.texts import color, hidden, inside, iso, moment, parts, row, rows, token
from snaglist.plugins.tracker.web import Missing, Web

_ID = re.compile(r"([\w.-]+(?:/[\w.-]+)+)#([0-9]{1,18})", re.ASCII)
_PAGES = 5


class GitLab:
    """A project's issues."""

    def __init__(self, opening: Opening) -> None:
        self._base, self._project = opening.endpoint, quote(opening.wanted.project, safe="")
        # Personal, project and group access tokens may be sent as OAuth tokens are.
        self._web = Web(opening, {"Authorization": f"Bearer {opening.api_key}"})

    def viewer(self) -> Viewer:
        """GET /user."""
        user = row(self._web.get(f"{self._base}/user").data)
        names = parts(user, "username", "id", "name", "email")
        return Viewer(str(user["id"]), str(user.get("name") or ""), str(user.get("email") or ""), names)

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """GET /projects/:id/issues by ascending `updated_at`."""
        where = place(since, cursor)
        query = {"order_by": "updated_at", "sort": "asc", "per_page": size, "page": where.page(size)}
        got = self._list(query | ({"updated_after": iso(where.since)} if where.since else {}))
        listed = rows(got.data)
        last = moment(listed[-1]["updated_at"]) if listed else None
        more = bool(got.headers.get("x-next-page", "").strip())
        return Page([_item(one) for one in listed], where.after(size, last, more=more))

    def item(self, item_id: str) -> Item | None:
        """GET /projects/:id/issues/:issue_iid."""
        try:
            return _item(row(self._web.get(self._address(item_id)).data))
        except Missing:
            return None

    def create(self, draft: Draft) -> Item:
        """POST /projects/:id/issues."""
        body = {"title": draft.title[:255], "description": draft.description}
        return _item(row(self._web.send("POST", f"{self._base}/projects/{self._project}/issues", body).data))

    def find(self, draft: Draft, since: str) -> Item | None:
        """Look through what this user made lately."""
        query: dict[str, Any] = {"created_after": iso(since), "order_by": "created_at", "per_page": 100}
        for page in range(1, _PAGES + 1):
            got = self._list({**query, "page": page}, scope="created_by_me")
            for one in rows(got.data):
                if token(draft.mark) in (one.get("description") or ""):
                    return _item(one)
            if not got.headers.get("x-next-page", "").strip():
                break
        return None

    def comment(self, item: Item, note: Note) -> None:
        """POST /projects/:id/issues/:issue_iid/notes, after a look at the latest ones."""
        address = f"{self._address(item.id)}/notes"
        latest = urlencode({"order_by": "created_at", "sort": "desc", "per_page": 100})
        listed = rows(self._web.get(f"{address}?{latest}").data)
        if not any(hidden(note.mark) in (one.get("body") or "") for one in listed):
            self._web.send("POST", address, {"body": f"{note.text}\n\n{hidden(note.mark)}"})

    def move(self, item: Item, status: str, mark: str) -> Item:
        """PUT /projects/:id/issues/:issue_iid with `state_event`."""
        event = "close" if status in ("fixed", "wont_fix") else "reopen"
        return _item(row(self._web.send("PUT", self._address(item.id), {"state_event": event}).data))

    def _list(self, query: Mapping[str, Any], scope: str = "all") -> Any:
        text = urlencode({"scope": scope, "state": "all", "with_labels_details": "true", **query})
        return self._web.get(f"{self._base}/projects/{self._project}/issues?{text}")

    def _address(self, item_id: str) -> str:
        found = _ID.fullmatch(item_id)
        if not found:
            raise TrackerFailure("This is no issue of GitLab.")
        return f"{self._base}/projects/{quote(found[1], safe='')}/issues/{found[2]}"


def _item(found: Mapping[str, Any]) -> Item:
    full = str(inside(found, "references").get("full") or "")
    project = full.rpartition("#")[0]
    person = inside(found, "assignee")
    people = [one for one in found.get("assignees") or () if isinstance(one, Mapping)]
    # Details of labels come with lists only; elsewhere a label is its name.
    labels = [one if isinstance(one, Mapping) else {"name": one} for one in found.get("labels") or ()]
    person = person or (people[0] if people else {})
    return Item(
        id=full,
        identifier=full,
        title=str(found.get("title") or ""),
        description=str(found.get("description") or ""),
        url=str(found.get("web_url") or ""),
        state=str(found.get("state") or "opened")[:40],
        status="fixed" if found.get("state") == "closed" else "open",
        group=project,
        places=(project, str(found.get("project_id", ""))),
        labels=tuple(Label(str(one["name"]), color(one.get("color"))) for one in labels if one.get("name")),
        assignee=str(person["username"]) if person.get("username") else None,
        people=tuple(name for one in people for name in parts(one, "username", "id", "name", "email")),
        created_at=moment(found["created_at"]),
        updated_at=moment(found["updated_at"]),
    )


def _sent_at(delivery: Delivery, document: Mapping[str, Any]) -> float | None:
    return seconds(delivery.header("webhook-timestamp"))


def _concerns(document: Mapping[str, Any]) -> str | None:
    if document.get("object_kind") not in ("issue", "work_item"):
        return None
    project = inside(document, "project").get("path_with_namespace")
    found = f"{project}#{inside(document, 'object_attributes').get('iid')}"
    return found if _ID.fullmatch(found) else None


GITLAB = Provider(
    open=GitLab,
    concerns=_concerns,
    endpoint="https://gitlab.com/api/v4",
    default_path="/api/v4",
    project=re.compile(r"[0-9]+|[\w.-]+(/[\w.-]+)+", re.ASCII),
    project_form="group/project or a number",
    targets=targets(in_progress="open", wont_fix="fixed"),
    timed=True,
    signed=is_standard,
    sent_at=_sent_at,
    token_header="X-Gitlab-Token",
)
