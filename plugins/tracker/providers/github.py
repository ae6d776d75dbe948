"""GitHub: REST API 2022-11-28, https://docs.github.com/en/rest/issues/issues.

Pages are linked by the header `Link`; pull requests are issues there, told by `pull_request`; closed issues say why in
`state_reason`. Limits: 403 or 429 with `Retry-After` or `x-ratelimit-*`.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

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
from snaglist.plugins.tracker.signatures import is_prefixed
from snaglist.plugins.tracker.texts import color, hidden, inside, iso, moment, parts, row, rows, token
from snaglist.plugins.tracker.web import Missing, Web

_ID = re.compile(r"([\w.-]+/[\w.-]+)#([0-9]{1,18})", re.ASCII)
_REASONS = {"fixed": "completed", "wont_fix": "not_planned"}
_NEXT = re.compile(r'rel="?next"?')
_PAGES = 5  # that are looked through for something of ours
_ACTIONS = ("opened", "edited", "closed", "reopened", "assigned", "unassigned", "labeled", "unlabeled", "transferred")


class GitHub:
    """A repository's issues."""

    def __init__(self, opening: Opening) -> None:
        self._base, self._project = opening.endpoint, opening.wanted.project
        accept = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        self._web = Web(opening, {**accept, "Authorization": f"Bearer {opening.api_key}"})

    def viewer(self) -> Viewer:
        """GET /user."""
        user = row(self._web.get(f"{self._base}/user").data)
        names = parts(user, "login", "id", "name", "email")
        return Viewer(str(user["id"]), str(user.get("name") or user["login"]), str(user.get("email") or ""), names)

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """GET /repos/{owner}/{repo}/issues by ascending `updated`."""
        where = place(since, cursor)
        query = {"state": "all", "sort": "updated", "direction": "asc", "per_page": size, "page": where.page(size)}
        got = self._web.get(self._issues(query | ({"since": iso(where.since)} if where.since else {})))
        listed = rows(got.data)
        last = moment(listed[-1]["updated_at"]) if listed else None
        more = bool(_NEXT.search(got.headers.get("link", "")))
        items = [_item(one) for one in listed if "pull_request" not in one]
        return Page(items, where.after(size, last, more=more))

    def item(self, item_id: str) -> Item | None:
        """GET /repos/{owner}/{repo}/issues/{number}."""
        try:
            found = row(self._web.get(self._address(item_id)).data)
        except Missing:
            return None
        return None if "pull_request" in found else _item(found)

    def create(self, draft: Draft) -> Item:
        """POST /repos/{owner}/{repo}/issues."""
        body = {"title": draft.title, "body": draft.description}
        return _item(row(self._web.send("POST", self._issues(), body).data))

    def find(self, draft: Draft, since: str) -> Item | None:
        """Look through what this user made lately: the search of GitHub lags behind, this list does not."""
        mine = {"creator": self.viewer().names[0], "state": "all", "since": iso(since)}
        mine |= {"sort": "created", "direction": "desc", "per_page": "100"}
        for page in range(1, _PAGES + 1):
            listed = rows(self._web.get(self._issues({**mine, "page": page})).data)
            for one in listed:
                if token(draft.mark) in (one.get("body") or ""):
                    return _item(one)
            if len(listed) < 100:
                break
        return None

    def comment(self, item: Item, note: Note) -> None:
        """POST /repos/{owner}/{repo}/issues/{number}/comments, after a look at the latest ones."""
        address = f"{self._address(item.id)}/comments"
        for page in range(1, _PAGES + 1):
            query = urlencode({"since": iso(note.since), "per_page": 100, "page": page})
            listed = rows(self._web.get(f"{address}?{query}").data)
            if any(hidden(note.mark) in (one.get("body") or "") for one in listed):
                return
            if len(listed) < 100:
                break
        self._web.send("POST", address, {"body": f"{note.text}\n\n{hidden(note.mark)}"})

    def move(self, item: Item, status: str, mark: str) -> Item:
        """PATCH /repos/{owner}/{repo}/issues/{number}."""
        reason = _REASONS.get(status)
        body = {"state": "closed", "state_reason": reason} if reason else {"state": "open"}
        return _item(row(self._web.send("PATCH", self._address(item.id), body).data))

    def _issues(self, query: Mapping[str, Any] | None = None) -> str:
        address = f"{self._base}/repos/{self._project}/issues"
        return f"{address}?{urlencode(query)}" if query else address

    def _address(self, item_id: str) -> str:
        found = _ID.fullmatch(item_id)
        if not found:
            raise TrackerFailure("This is no issue of GitHub.")
        return f"{self._base}/repos/{found[1]}/issues/{found[2]}"


def _item(found: Mapping[str, Any]) -> Item:
    repository = "/".join(str(found.get("repository_url", "")).rstrip("/").split("/")[-2:])
    closed = found.get("state") == "closed"
    reason = found.get("state_reason")
    dropped = reason in ("not_planned", "duplicate")
    state = f"closed:{reason or 'completed'}" if closed else "open"
    person = inside(found, "assignee")
    people = [one for one in found.get("assignees") or () if isinstance(one, Mapping)]
    # A label is an object, or in old answers its name.
    labels = [one if isinstance(one, Mapping) else {"name": one} for one in found.get("labels") or ()]
    return Item(
        id=f"{repository}#{found['number']}",
        identifier=f"{repository}#{found['number']}",
        title=str(found.get("title") or ""),
        description=str(found.get("body") or ""),
        url=str(found.get("html_url") or ""),
        state=state,
        status=("wont_fix" if dropped else "fixed") if closed else "open",
        group=repository,
        places=(repository,),
        labels=tuple(Label(str(one["name"]), color(one.get("color"))) for one in labels if one.get("name")),
        assignee=str(person["login"]) if person.get("login") else None,
        people=tuple(name for one in people for name in parts(one, "login", "id", "email")),
        created_at=moment(found["created_at"]),
        updated_at=moment(found["updated_at"]),
    )


def _signed(delivery: Delivery, secret: str) -> bool:
    return is_prefixed(delivery.header("X-Hub-Signature-256"), secret, delivery.body)


def _concerns(document: Mapping[str, Any]) -> str | None:
    """An event `issues`: what an event is stands in an unsigned header, so the body has to tell."""
    issue, repository = inside(document, "issue"), inside(document, "repository").get("full_name")
    known = document.get("action") in _ACTIONS and "comment" not in document and "pull_request" not in issue
    found = f"{repository}#{issue.get('number')}"
    return found if known and _ID.fullmatch(found) else None


GITHUB = Provider(
    open=GitHub,
    concerns=_concerns,
    endpoint="https://api.github.com",
    project=re.compile(r"[\w.-]+/[\w.-]+", re.ASCII),
    project_form="owner/repository",
    targets=targets(in_progress="open"),
    signed=_signed,
)
