"""What `snaglist forget-user` does and says."""

import time
from collections.abc import Mapping
from typing import Any

from snaglist.plugins.logs.maintain.handlers import FORGETTING
from snaglist.plugins.system import Session, job_state, table

PHRASE = FORGETTING
POLL_SECONDS = 0.5


def preview(session: Session, user: str) -> dict[str, Any]:
    """Return what would go."""
    found: dict[str, Any] = session.request("user-events-preview", user=user)
    return found


def forget(session: Session, user: str) -> dict[str, Any]:
    """Forget somebody here, or wait for the worker that does."""
    answer = session.request("forget-user", "POST", {"user": user, "confirmation": PHRASE})
    call = session.call()
    while True:
        session.open().jobs.run_queued(call.application)
        reply = job_state(call, answer["job_id"])
        if reply.status == 200:
            return dict(reply.body)
        time.sleep(POLL_SECONDS)


def shown(found: Mapping[str, Any]) -> str:
    """Return the preview as text."""
    if not found["events"]:
        return "No stored event names this user."
    rows = [[one["id"], one["events"], one["first_seen"], one["last_seen"], one["title"]] for one in found["by_issue"]]
    lines = [
        f"{_number(found['events'], 'event')} in {_number(found['issues'], 'issue')},"
        f" {found['first_seen']} to {found['last_seen']}:",
        table(["issue", "events", "first", "last", "title"], rows),
    ]
    if found["issues_left_out"]:
        lines.append(f"and {found['issues_left_out']} more")
    return "\n".join(lines)


def done(result: Mapping[str, Any]) -> str:
    """Return the result as text."""
    lines = [f"{_number(result['deleted']['occurrences'], 'event')} deleted; the issues keep their counts"]
    if result["files"]:
        lines.append("These files still have lines of them, and are not changed:")
        lines += [f"  {file['path']} ({file['events']})" for file in result["files"]]
    if result["files_left_out"]:
        lines.append(f"  and {result['files_left_out']} more")
    return "\n".join(lines)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
