"""GitLab: REST API v4, https://docs.gitlab.com/api/issues/.

Pages by number; the header `X-Next-Page` is empty on the last one. `state_event` closes and reopens. Personal, project
and group access tokens may be sent as OAuth tokens are.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from snaglist.plugins.tracker.contract import Delivery, Item, Note, Provider, targets
from snaglist.plugins.tracker.providers.forge import Forge, labels_of, people_of
from snaglist.plugins.tracker.signatures import is_standard, seconds
from snaglist.plugins.tracker.texts import inside, iso, moment, parts
from snaglist.plugins.tracker.web import Got

_ID = re.compile(r"([\w.-]+(?:/[\w.-]+)+)#([0-9]{1,18})", re.ASCII)
_ALL = {"state": "all", "with_labels_details": "true"}


class GitLab(Forge):
    """A project's issues: /projects/:id/issues."""

    vendor, id_form, login, text, comments = "GitLab", _ID, "username", "description", "/notes"
    by_change, since = {"scope": "all", **_ALL, "order_by": "updated_at", "sort": "asc"}, "updated_after"

    def issues(self, project: str) -> str:
        """Return the address of a project's issues."""
        return f"{self._base}/projects/{quote(project, safe='')}/issues"

    def has_next(self, got: Got) -> bool:
        """Read the header `X-Next-Page`."""
        return bool(got.headers.get("x-next-page", "").strip())

    def of_mine(self, since: str) -> Mapping[str, str]:
        """Return the query for what this user made lately."""
        return {"scope": "created_by_me", **_ALL, "created_after": iso(since), "order_by": "created_at"}

    def latest(self, note: Note) -> Mapping[str, str]:
        """Return the query for the newest notes."""
        return {"order_by": "created_at", "sort": "desc"}

    def move(self, item: Item, status: str, mark: str) -> Item:
        """PUT /projects/:id/issues/:issue_iid with `state_event`."""
        event = "close" if status in ("fixed", "wont_fix") else "reopen"
        return self.sent("PUT", self._address(item.id), {"state_event": event})

    def read(self, found: Mapping[str, Any]) -> Item:
        """Return an issue as an item."""
        full = str(inside(found, "references").get("full") or "")
        project, people = full.rpartition("#")[0], people_of(found)
        person = inside(found, "assignee") or (people[0] if people else {})
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
            labels=labels_of(found),
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
