"""Making items for issues. That one is made is noted before, so that a repeated job looks for it first."""

from snaglist.kernel import times
from snaglist.plugins.system import JobCall
from snaglist.plugins.tracker import queries
from snaglist.plugins.tracker.contract import Draft, Tracker
from snaglist.plugins.tracker.drafts import draft_of
from snaglist.plugins.tracker.settings import Settings
from snaglist.plugins.tracker.storing import NotLinkable, link_item

SKEW_SECONDS = 120


def create(call: JobCall, settings: Settings, tracker: Tracker, issue_id: int) -> str:
    """Make an item for an issue and link it; returns what people call it. One that is linked stays as it is."""
    known, draft, begun_at = call.write(lambda _: _begin(call, settings, issue_id))
    if draft is None:
        return known
    item = tracker.find(draft, times.add(begun_at, seconds=-SKEW_SECONDS)) if begun_at else None
    item = item or tracker.create(draft)
    call.write(lambda _: link_item(call, settings, issue_id, item, actor=call.args.get("actor")))
    return item.identifier


def _begin(call: JobCall, settings: Settings, issue_id: int) -> tuple[str, Draft | None, str]:
    issue = queries.issues_of(call.db, [issue_id]).get(issue_id)
    link = queries.linked(call.db, [issue_id]).get(issue_id)
    if issue is None:
        raise NotLinkable("The issue was deleted or merged meanwhile.")
    if link is not None and link.provider == settings.provider:
        return str(issue.external_id or link.external_id), None, ""
    if link is not None:
        raise NotLinkable(f"The issue is linked to {link.provider} already.")
    begun_at = queries.begin(call.db, issue_id, settings.provider, times.now())
    return "", draft_of(call, settings, issue), begun_at or ""
