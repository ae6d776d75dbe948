"""What a message says."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from sqlalchemy import Row

from snaglist.kernel import Call

SHOWN = 5


def document(call: Call, trigger: str, rule: str, summary: str, issues: Sequence[Row[Any]] = ()) -> dict[str, Any]:
    """Return the JSON of a message without `delivery` and `sent_at`, which belong to the sending."""
    return {
        "trigger": trigger,
        "rule": rule,
        "application": call.application.id,
        "summary": summary,
        "items": [_item(call, issue) for issue in issues[:SHOWN]],
        "more": max(0, len(issues) - SHOWN),
        "url": _base(call),
    }


def summary(rule: Row[Any], number: int) -> str:
    """Say in a line what happened to so many issues."""
    some = amount(number, "issue")
    match rule.trigger_type:
        case "new_error":
            return some.replace(" ", " new ", 1)
        case "reoccurrence":
            return f"{some} came back after a fix"
        case "users":
            return f"{some} with {amount(rule.min_count, 'user')} or more"
        case "spike":
            return f"{some} with a spike in events"
    return f"{some} with {amount(rule.min_count, 'event')} or more within {amount(rule.window_minutes, 'minute')}"


def amount(number: int, what: str) -> str:
    """Say how many of something there are."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def complete(document: Mapping[str, Any], delivery: str, sent_at: str) -> dict[str, Any]:
    """Return a message as it is sent, in the order of the contract."""
    head = {"delivery": delivery, "trigger": document["trigger"], "rule": document["rule"]}
    middle = {"application": document["application"], "summary": document["summary"], "sent_at": sent_at}
    return {**head, **middle, "items": document["items"], "more": document["more"], "url": document["url"]}


def _item(call: Call, issue: Row[Any]) -> dict[str, Any]:
    query = urlencode({"view": "issue", "id": issue.id, "app": call.application.id})
    names = ("id", "severity", "title", "count", "environment")
    shown = {name: issue._mapping[name] for name in names}
    return {**shown, "url": f"{_base(call)}/?{query}" if _base(call) else f"?{query}"}


def _base(call: Call) -> str:
    return str(call.setting("server.url")).rstrip("/")
