"""Jira Cloud: REST API v3, https://developer.atlassian.com/cloud/jira/platform/rest/v3/.

Lists by JQL at `/search/jql`, with `nextPageToken` (missing on the last page) and `isLast`; texts are documents (ADF);
a status changes by one of the transitions that the workflow allows now.
"""

import base64
import re
from collections.abc import Mapping
from math import ceil
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
    Wanted,
)
from snaglist.plugins.tracker.providers.documents import from_text, to_text
from snaglist.plugins.tracker.signatures import is_prefixed
from snaglist.plugins.tracker.texts import inside, moment, parts, row, rows, token
from snaglist.plugins.tracker.web import Missing, Web

FIELDS = ["summary", "description", "status", "resolution", "priority", "labels", "assignee", "created", "updated",
          "project"]  # fmt: skip
_CATEGORIES = {"fixed": "done", "wont_fix": "done", "in_progress": "indeterminate", "open": "new"}
_PRIORITIES = {"blocker": 1, "critical": 1, "highest": 1, "urgent": 1, "high": 2, "major": 2, "medium": 3, "normal": 3,
               "low": 4, "lowest": 4, "minor": 4, "trivial": 4}  # fmt: skip
_WONT = re.compile(r"\bwon['’]?t\b", re.IGNORECASE)
_ACCOUNT = re.compile(r"(?:[0-9]{1,8}:)?[0-9A-Za-z-]{20,}", re.ASCII)
_ID = re.compile(r"[0-9]{1,18}", re.ASCII)
_FOUND, _PAGES = 100, 5


class Jira:
    """A project's issues."""

    def __init__(self, opening: Opening) -> None:
        self._site, self._wanted = opening.endpoint, opening.wanted
        self._base = f"{opening.endpoint}/rest/api/3"
        pair = base64.b64encode(f"{opening.account}:{opening.api_key}".encode()).decode()
        self._web = Web(opening, {"Authorization": f"Basic {pair}" if opening.account else f"Bearer {opening.api_key}"})

    def viewer(self) -> Viewer:
        """GET /myself."""
        user = row(self._web.get(f"{self._base}/myself").data)
        names = parts(user, "accountId", "emailAddress", "displayName")
        email = str(user.get("emailAddress") or "")
        return Viewer(str(user["accountId"]), str(user.get("displayName") or ""), email, names)

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """POST /search/jql; the token of a page belongs to the query that it came with."""
        query, place = cursor or [_jql(self._wanted, since), None]
        found = self._search(query, size, place)
        following = found.get("nextPageToken")
        done = found.get("isLast") is True or not following
        return Page([self._item(one) for one in rows(found.get("issues"))], None if done else [query, following])

    def item(self, item_id: str) -> Item | None:
        """GET /issue/{issueIdOrKey}."""
        try:
            return self._item(row(self._web.get(f"{self._issue(item_id)}?fields={','.join(FIELDS)}").data))
        except Missing:
            return None

    def create(self, draft: Draft) -> Item:
        """POST /issue, as a bug where the project has that type."""
        fields: dict[str, Any] = {
            "project": {"key": self._wanted.project},
            "issuetype": {"id": self._type()},
            "summary": " ".join(draft.title.split())[:255],
            "description": from_text(draft.description),
        }
        made = row(self._web.send("POST", f"{self._base}/issue", {"fields": fields}).data)
        item = self.item(str(made["id"]))
        if item is None:
            raise TrackerFailure("The tracker made an issue that it does not show.")
        return item

    def find(self, draft: Draft, since: str) -> Item | None:
        """Look through what this user made lately; the search may lag some seconds behind."""
        age = _minutes(since)
        query = f'project = {_quoted(self._wanted.project)} AND creator = currentUser() AND created >= "-{age}m"'
        following = None
        for _ in range(_PAGES):
            found = self._search(query, _FOUND, following)
            for one in rows(found.get("issues")):
                if token(draft.mark) in to_text(inside(one, "fields").get("description")):
                    return self._item(one)
            following = found.get("nextPageToken")
            if not following:
                break
        return None

    def comment(self, item: Item, note: Note) -> None:
        """POST /issue/{issueIdOrKey}/comment, after a look at the latest ones."""
        address = f"{self._issue(item.id)}/comment"
        found = row(self._web.get(f"{address}?orderBy=-created&maxResults=100").data)
        if not any(token(note.mark) in to_text(one.get("body")) for one in rows(found.get("comments"))):
            self._web.send("POST", address, {"body": from_text(f"{note.text}\n{token(note.mark)}")})

    def move(self, item: Item, status: str, mark: str) -> Item:
        """POST /issue/{issueIdOrKey}/transitions, with the resolution where the transition asks for one."""
        address = f"{self._issue(item.id)}/transitions"
        offered = rows(row(self._web.get(f"{address}?expand=transitions.fields").data).get("transitions"))
        transition = _transition(offered, status)
        if transition is None:
            names = ", ".join(str(one.get("name")) for one in offered) or "none"
            raise TrackerFailure(f"No transition leads to {_CATEGORIES[status]} from here; there are: {names}.",
                                 refused=True)  # fmt: skip
        body: dict[str, Any] = {"transition": {"id": transition["id"]}}
        if resolution := _resolution(transition, status):
            body["fields"] = {"resolution": {"name": resolution}}
        self._web.send("POST", address, body)
        moved = self.item(item.id)
        if moved is None:
            raise TrackerFailure("The tracker does not show the issue any more.")
        return moved

    def _search(self, query: str, size: int, following: Any) -> Mapping[str, Any]:
        body = {"jql": query, "fields": FIELDS, "maxResults": size} | (
            {"nextPageToken": following} if following else {}
        )
        return row(self._web.send("POST", f"{self._base}/search/jql", body).data)

    def _type(self) -> str:
        address = f"{self._base}/issue/createmeta/{self._wanted.project}/issuetypes"
        kinds = [one for one in rows(row(self._web.get(address).data).get("issueTypes")) if not one.get("subtask")]
        for name in ("Bug", "Task"):
            for one in kinds:
                if one.get("name") == name:
                    return str(one["id"])
        if not kinds:
            raise TrackerFailure("The project has no type of issue that this key may make.", refused=True)
        return str(kinds[0]["id"])

    def _issue(self, item_id: str) -> str:
        if not _ID.fullmatch(item_id):
            raise TrackerFailure("This is no issue of Jira.")
        return f"{self._base}/issue/{item_id}"

    def _item(self, found: Mapping[str, Any]) -> Item:
        fields = inside(found, "fields")
        project, person = inside(fields, "project"), inside(fields, "assignee")
        category = str(inside(inside(fields, "status"), "statusCategory").get("key") or "new")[:20]
        wont = category == "done" and bool(_WONT.search(str(inside(fields, "resolution").get("name") or "")))
        statuses = {"done": "wont_fix" if wont else "fixed", "indeterminate": "in_progress"}
        return Item(
            id=str(found["id"]),
            identifier=str(found["key"]),
            title=str(fields.get("summary") or ""),
            description=to_text(fields.get("description")),
            url=f"{self._site}/browse/{found['key']}",
            state=f"{category}:wont" if wont else category,
            status=statuses.get(category, "open"),
            group=str(project.get("name") or project.get("key") or ""),
            places=parts(project, "key", "id", "name"),
            priority=_PRIORITIES.get(str(inside(fields, "priority").get("name") or "").lower(), 0),
            labels=tuple(Label(str(name)) for name in fields.get("labels") or ()),
            assignee=next(iter(parts(person, "emailAddress", "displayName")), None),
            people=parts(person, "accountId", "emailAddress", "displayName"),
            created_at=moment(fields["created"]),
            updated_at=moment(fields["updated"]),
        )


def _jql(wanted: Wanted, since: str | None) -> str:
    """Return the query of what is wanted, or of more where JQL cannot tell people: it knows them by account id only."""
    found = [f"project = {_quoted(wanted.project)}"]
    if all(_ACCOUNT.fullmatch(person) for person in wanted.assignees):
        either = [f"labels in ({', '.join(map(_quoted, wanted.labels))})"] if wanted.labels else []
        people = [*map(_quoted, wanted.assignees), *(["currentUser()"] if wanted.assigned_to_me else [])]
        either += [f"assignee in ({', '.join(people)})"] if people else []
        # Labels are told apart by case in places, so they are asked for as they are spelled in the settings.
        found += [f"({' OR '.join(either)})"] if either else []
    if since:
        # Times in JQL are read in the zone of the key's owner, so the age is given.
        found.append(f'updated >= "-{_minutes(since)}m"')
    return " AND ".join(found) + " ORDER BY updated ASC, key ASC"


def _minutes(since: str) -> int:
    age = (times.read(times.now()) - times.read(since)).total_seconds()
    return max(1, ceil(age / 60) + 1)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _transition(offered: list[Mapping[str, Any]], status: str) -> Mapping[str, Any] | None:
    fitting = [
        one
        for one in offered
        if inside(inside(one, "to"), "statusCategory").get("key") == _CATEGORIES[status]
    ]  # fmt: skip

    def fits(one: Mapping[str, Any]) -> bool:
        named = f"{one.get('name')} {inside(one, 'to').get('name')}"
        return bool(_WONT.search(named)) == (status == "wont_fix")

    return next((one for one in fitting if fits(one)), fitting[0] if fitting else None)


def _resolution(transition: Mapping[str, Any], status: str) -> str | None:
    """Return the resolution to give: one that says won't or not, as the status has it; None when none is asked for."""
    field = inside(inside(transition, "fields"), "resolution")
    names = [str(one.get("name")) for one in field.get("allowedValues") or () if isinstance(one, Mapping)]
    fitting = [name for name in names if bool(_WONT.search(name)) == (status == "wont_fix")]
    preferred = [name for name in fitting if name in ("Done", "Fixed")]
    return next(iter([*preferred, *fitting, *names]), None)


def _signed(delivery: Delivery, secret: str) -> bool:
    return is_prefixed(delivery.header("X-Hub-Signature"), secret, delivery.body)


def _concerns(document: Mapping[str, Any]) -> str | None:
    found = inside(document, "issue").get("id")
    known = document.get("webhookEvent") in ("jira:issue_created", "jira:issue_updated")
    return str(found) if known and _ID.fullmatch(str(found)) else None


JIRA = Provider(
    open=Jira,
    concerns=_concerns,
    project=re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII),
    project_form="a project key such as SHOP",
    signed=_signed,
)
