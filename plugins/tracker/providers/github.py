"""GitHub: REST API 2022-11-28, https://docs.github.com/en/rest/issues/issues.

Pages are linked by the header `Link`; pull requests are issues there, told by `pull_request`; closed issues say why in
`state_reason`. Limits: 403 or 429 with `Retry-After` or `x-ratelimit-*`.
"""

import re
from collections.abc import Mapping
from typing import Any

from snaglist.plugins.tracker.contract import Delivery, Item, Note, Opening, Provider, targets
from snaglist.plugins.tracker.providers.forge import Forge, labels_of, people_of
from snaglist.plugins.tracker.signatures import is_prefixed
from snaglist.plugins.tracker.texts import inside, iso, moment, parts
from snaglist.plugins.tracker.web import Got

_ID = re.compile(r"([\w.-]+/[\w.-]+)#([0-9]{1,18})", re.ASCII)
_REASONS = {"fixed": "completed", "wont_fix": "not_planned"}
_NEXT = re.compile(r'rel="?next"?')
_ACTIONS = ("opened", "edited", "closed", "reopened", "assigned", "unassigned", "labeled", "unlabeled", "transferred")


class GitHub(Forge):
    """A repository's issues: /repos/{owner}/{repo}/issues."""

    vendor, id_form, login, text, comments = "GitHub", _ID, "login", "body", "/comments"
    by_change, since = {"state": "all", "sort": "updated", "direction": "asc"}, "since"

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"})

    def issues(self, project: str) -> str:
        """Return the address of a repository's issues."""
        return f"{self._base}/repos/{project}/issues"

    def has_next(self, got: Got) -> bool:
        """Read the header `Link`."""
        return bool(_NEXT.search(got.headers.get("link", "")))

    def of_mine(self, since: str) -> Mapping[str, str]:
        """Return the query for what this user made lately."""
        creator = self.viewer().names[0]
        return {"creator": creator, "state": "all", "since": iso(since), "sort": "created", "direction": "desc"}

    def latest(self, note: Note) -> Mapping[str, str]:
        """Return the query for the comments since a note may have been written."""
        return {"since": iso(note.since)}

    def move(self, item: Item, status: str, mark: str) -> Item:
        """PATCH /repos/{owner}/{repo}/issues/{number}."""
        reason = _REASONS.get(status)
        body = {"state": "closed", "state_reason": reason} if reason else {"state": "open"}
        return self.sent("PATCH", self._address(item.id), body)

    def read(self, found: Mapping[str, Any]) -> Item | None:
        """Return an issue as an item, None for a pull request."""
        if "pull_request" in found:
            return None
        repository = "/".join(str(found.get("repository_url", "")).rstrip("/").split("/")[-2:])
        closed, reason = found.get("state") == "closed", found.get("state_reason")
        dropped = reason in ("not_planned", "duplicate")
        person = inside(found, "assignee")
        return Item(
            id=f"{repository}#{found['number']}",
            identifier=f"{repository}#{found['number']}",
            title=str(found.get("title") or ""),
            description=str(found.get("body") or ""),
            url=str(found.get("html_url") or ""),
            state=f"closed:{reason or 'completed'}" if closed else "open",
            status=("wont_fix" if dropped else "fixed") if closed else "open",
            group=repository,
            places=(repository,),
            labels=labels_of(found),
            assignee=str(person["login"]) if person.get("login") else None,
            people=tuple(name for one in people_of(found) for name in parts(one, "login", "id", "email")),
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
