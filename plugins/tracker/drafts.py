"""What items and comments say: texts of logs in it are shown as they are, they name and format nobody and nothing."""

import re

from sqlalchemy import Row

from snaglist.kernel import Call, clip
from snaglist.plugins.issues import STATUS_WORDS
from snaglist.plugins.tags import tag_names
from snaglist.plugins.tracker import queries
from snaglist.plugins.tracker.contract import Draft
from snaglist.plugins.tracker.settings import Settings
from snaglist.plugins.tracker.storing import PRIORITIES
from snaglist.plugins.tracker.texts import token

MAX_TITLE, MAX_MESSAGE, MAX_STACK = 250, 10_000, 20_000
_TICKS = re.compile(r"`{3,}")
_WORDS = {**STATUS_WORDS, "reoccurred": "come back"}


def mark_of(settings: Settings, issue_id: int, *more: str) -> str:
    """Return what marks a thing of an issue: the same for all attempts, other for every installation."""
    return "-".join((settings.seed, str(issue_id), *more))


def draft_of(call: Call, settings: Settings, issue: Row[object]) -> Draft:
    """Return the item to make for an issue; needs an open transaction."""
    texts = queries.sample(call.db, issue.id)
    parts = []
    if texts is not None and texts.message:
        parts.append(_fenced(clip(texts.message, MAX_MESSAGE)))
    if texts is not None and texts.stack:
        parts.append(_fenced(clip(texts.stack, MAX_STACK)))
    url = link(call, issue.id)
    mark = mark_of(settings, issue.id)
    parts.append(f"snaglist issue {issue.id}{f': {url}' if url else ''}\n\n{token(mark)}")
    return Draft(
        mark=mark,
        title=clip(issue.title, MAX_TITLE),
        description="\n\n".join(parts),
        priority=PRIORITIES[issue.severity],
        status=issue.status,
        labels=tuple(tag_names(call.db, issue.id)),
        url=url,
    )


def comment_of(call: Call, issue_id: int, status: str, note: str | None, actor: str | None) -> str:
    """Return the text of a comment about a change of status."""
    url = link(call, issue_id)
    first = f"Status in snaglist: {_WORDS[status]}{f', set by {actor}' if actor else ''}."
    return "\n\n".join(part for part in (first, note or "", url) if part)


def link(call: Call, issue_id: int) -> str:
    """Return the address of an issue, "" when that of the service is not known."""
    base = str(call.setting("server.url")).rstrip("/")
    return f"{base}/?view=issue&id={issue_id}&app={call.application.id}" if base else ""


def _fenced(text: str) -> str:
    """Return a text as a code block of Markdown, whose fence is longer than any in it."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"
