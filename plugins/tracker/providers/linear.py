"""Linear: GraphQL, https://linear.app/developers/graphql.

Lists are connections with `pageInfo`, here the latest change first; failures stand in `errors`, also with status 200,
and limits are status 400 with the code `RATELIMITED` (https://linear.app/developers/rate-limiting). Issues and comments
take an id that the client chose, a UUID of version 4, so that making one twice makes one.
"""

import json
from collections.abc import Mapping
from typing import Any

from snaglist.plugins.system import Answer
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
from snaglist.plugins.tracker.providers import linear_queries as graphql
from snaglist.plugins.tracker.signatures import is_hex_of, seconds
from snaglist.plugins.tracker.texts import color, inside, iso, moment, parts, row, rows, uuid_of
from snaglist.plugins.tracker.web import REJECTED, Missing, Web

_STATUSES = {"completed": "fixed", "canceled": "wont_fix", "duplicate": "wont_fix", "started": "in_progress"}
_TYPES = {
    "fixed": ("completed",),
    "wont_fix": ("canceled",),
    "in_progress": ("started",),
    "open": ("unstarted", "backlog", "triage"),
}
_ACTIONS = ("create", "update", "restore")


class Linear:
    """A workspace's issues."""

    def __init__(self, opening: Opening) -> None:
        self._endpoint, self._wanted = opening.endpoint, opening.wanted
        # Personal keys stand alone, OAuth tokens are bearers.
        key = opening.api_key
        self._web = Web(opening, {"Authorization": key if key.startswith("lin_api_") else f"Bearer {key}"})

    def viewer(self) -> Viewer:
        """Query `viewer`."""
        user = row(self._ask(graphql.VIEWER, {})["viewer"])
        names = parts(user, "email", "id", "name", "displayName")
        return Viewer(str(user["id"]), str(user.get("name") or ""), str(user.get("email") or ""), names)

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """Query `issues`, filtered there."""
        variables = {"first": size, "after": cursor, "filter": _filter(self._wanted, since)}
        found = row(self._ask(graphql.ISSUES, variables)["issues"])
        info = row(found.get("pageInfo"))
        items = [_item(one) for one in rows(found.get("nodes"))]
        return Page(items, info.get("endCursor") if info.get("hasNextPage") else None)

    def item(self, item_id: str) -> Item | None:
        """Query `issue`."""
        try:
            return _item(row(self._ask(graphql.ISSUE, {"id": item_id})["issue"]))
        except Missing:
            return None

    def create(self, draft: Draft) -> Item:
        """Mutation `issueCreate` with an id that the draft's mark gives."""
        if not self._wanted.team_key:
            raise TrackerFailure("team_key: set it, so that items can be made in that team", refused=True)
        teams = rows(inside(self._ask(graphql.TEAM, {"key": self._wanted.team_key}), "teams").get("nodes"))
        if not teams:
            raise TrackerFailure("team_key: the tracker knows no such team", refused=True)
        given = {"id": uuid_of(draft.mark), "teamId": teams[0]["id"], "title": draft.title[:255]}
        given |= {"description": draft.description, "priority": draft.priority}
        return _item(row(inside(self._ask(graphql.CREATE, {"input": given}), "issueCreate").get("issue")))

    def find(self, draft: Draft, since: str) -> Item | None:
        """Query `issue` by the id that the draft's mark gives."""
        return self.item(uuid_of(draft.mark))

    def comment(self, item: Item, note: Note) -> None:
        """Mutation `commentCreate` with an id that the note's mark gives."""
        given = {"id": uuid_of(note.mark), "issueId": item.id, "body": note.text}
        try:
            self._ask(graphql.COMMENT, {"input": given})
        except TrackerFailure as error:
            if not error.refused or not self._is_comment(given["id"]):
                raise

    def move(self, item: Item, status: str, mark: str) -> Item:
        """Mutation `issueUpdate` to the first state of the item's team that has the type."""
        team = row(self._ask(graphql.STATES, {"id": item.id})["issue"]).get("team")
        states = rows(inside(team, "states").get("nodes"))
        for kind in _TYPES[status]:
            fitting = sorted((one for one in states if one.get("type") == kind), key=lambda one: one.get("position", 0))
            if fitting:
                given = {"id": item.id, "input": {"stateId": fitting[0]["id"]}}
                return _item(row(inside(self._ask(graphql.UPDATE, given), "issueUpdate").get("issue")))
        raise TrackerFailure(f"The team has no state of the type {_TYPES[status][0]}.", refused=True)

    def _is_comment(self, comment_id: str) -> bool:
        try:
            return bool(self._ask(graphql.A_COMMENT, {"id": comment_id}).get("comment"))
        except Missing:
            return False

    def _ask(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        sent = {"query": query, "variables": variables}
        got = row(self._web.send("POST", self._endpoint, sent, limited=_limited, read_failures=True).data)
        if got.get("errors"):
            raise self._failure(rows(got["errors"])[0])
        return row(got.get("data"))

    def _failure(self, error: Mapping[str, Any]) -> TrackerFailure:
        told = inside(error, "extensions")
        said = str(told.get("userPresentableMessage") or error.get("message") or "it did not say why")
        if told.get("code") == "AUTHENTICATION_ERROR" or told.get("type") == "authentication error":
            return TrackerFailure(REJECTED)
        if str(error.get("message", "")).startswith("Entity not found"):
            return Missing("The tracker does not know it, or hides it from this key.")
        return self._web.refusal(said)


def _limited(answer: Answer) -> bool:
    if answer.status != 400:
        return False
    try:
        errors = json.loads(answer.body).get("errors") or ()
    except (ValueError, AttributeError, RecursionError):
        return False
    return any(inside(one, "extensions").get("code") == "RATELIMITED" for one in errors)


def _filter(wanted: Wanted, since: str | None) -> dict[str, Any]:
    """Return the IssueFilter of (labels or assignees) and team and project."""
    found: dict[str, Any] = {}
    if since:
        found["updatedAt"] = {"gte": iso(since)}
    if wanted.team_key:
        found["team"] = {"key": {"eq": wanted.team_key}}
    if wanted.project:
        found["project"] = {"name": {"eqIgnoreCase": wanted.project}}
    either: list[dict[str, Any]] = [{"labels": {"some": {"name": {"eqIgnoreCase": name}}}} for name in wanted.labels]
    for person in wanted.assignees:
        fields = ("email",) if "@" in person else ("displayName", "name")
        either += [{"assignee": {field: {"eqIgnoreCase": person}}} for field in fields]
    if wanted.assigned_to_me:
        either.append({"assignee": {"isMe": {"eq": True}}})
    return found | ({"or": either} if either else {})


def _item(found: Mapping[str, Any]) -> Item:
    team, project, person = (inside(found, name) for name in ("team", "project", "assignee"))
    state = str(inside(found, "state").get("type") or "")[:40]
    labels = rows(inside(found, "labels").get("nodes") or [])
    priority = found.get("priority")
    return Item(
        id=str(found["id"]),
        identifier=str(found["identifier"]),
        title=str(found.get("title") or ""),
        description=str(found.get("description") or ""),
        url=str(found.get("url") or ""),
        state=state,
        status=_STATUSES.get(state, "open"),
        group=" / ".join([*parts(team, "name"), *parts(project, "name")]),
        places=(*parts(team, "key", "id", "name"), *parts(project, "name", "id")),
        priority=int(priority) if isinstance(priority, int | float) and 0 <= priority <= 4 else 0,
        labels=tuple(Label(str(one["name"]), color(one.get("color"))) for one in labels if one.get("name")),
        assignee=next(iter(parts(person, "email", "displayName", "name")), None),
        people=parts(person, "id", "email", "displayName", "name"),
        created_at=moment(found["createdAt"]),
        updated_at=moment(found["updatedAt"]),
    )


def _signed(delivery: Delivery, secret: str) -> bool:
    return is_hex_of(delivery.header("Linear-Signature"), secret, delivery.body)


def _sent_at(delivery: Delivery, document: Mapping[str, Any]) -> float | None:
    sent = seconds(document.get("webhookTimestamp"))
    return None if sent is None else sent / 1000


def _concerns(document: Mapping[str, Any]) -> str | None:
    found = inside(document, "data").get("id")
    known = document.get("type") == "Issue" and document.get("action") in _ACTIONS
    return found if known and isinstance(found, str) and 0 < len(found) <= 200 else None


LINEAR = Provider(
    open=Linear,
    concerns=_concerns,
    endpoint="https://api.linear.app/graphql",
    default_path="/graphql",
    timed=True,
    signed=_signed,
    sent_at=_sent_at,
)
