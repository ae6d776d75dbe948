"""Looking again at what could not be looked at when it was stored; asking twice about an event changes nothing."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from snaglist.plugins.alerting.evaluating import position, queries
from snaglist.plugins.alerting.evaluating.looking import look_again
from snaglist.plugins.alerting.evaluating.seen import SeenEvent, SeenIssue, oldest_alerting
from snaglist.plugins.system import JobCall

BATCH = 1_000


def catch_up(call: JobCall) -> int:
    """Ask the rules about everything from the position on; returns the number of events."""
    done = 0
    while number := call.write(lambda _: _next_batch(call)):
        done += number
        call.check_cancelled()
    return done


def _next_batch(call: JobCall) -> int:
    first = position.read(call, lock=True)
    if first is None:
        return 0
    rows = queries.occurrences_from(call.db, first, BATCH)
    if rows:
        look_again(call, _seen(call, rows))
    position.move(call, rows[-1].id + 1 if len(rows) == BATCH else None)
    return len(rows)


def _seen(call: JobCall, rows: Sequence[Row[Any]]) -> dict[int, SeenIssue]:
    oldest = oldest_alerting(call)
    issue_ids = {row.issue_id for row in rows}
    issues = queries.some_issues(call.db, issue_ids)
    later = queries.numbers_after(call.db, issue_ids, rows[-1].id)
    seen = {issue_id: SeenIssue(0) for issue_id in issues}
    for row in rows:
        if row.issue_id not in seen:
            continue
        issue, shown = seen[row.issue_id], issues[row.issue_id]
        event = SeenEvent(row.occurred_at, row.severity, row.environment, row.occurred_at < oldest, row.user_name)
        issue.events.append(event)
        back = shown.status == "reoccurred" and shown.fixed_at is not None and row.occurred_at > shown.fixed_at
        issue.returned = issue.returned or back
    later_users = queries.users_after(call.db, {row.issue_id for row in rows if row.user_name}, rows[-1].id)
    for issue_id, issue in seen.items():
        issue.later_users = later_users.get(issue_id, issue.later_users)
        number = issues[issue_id]._mapping["count"]
        issue.before = max(0, number - later[issue_id] - len(issue.events))
    return seen
