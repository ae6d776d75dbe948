"""What happened, by issue: what rules are asked about."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Row

from snaglist.kernel import Call, times
from snaglist.plugins.alerting.rules import is_about
from snaglist.plugins.issues import StoredBatch, clean

ENVIRONMENT_LENGTH = 100
USER_LENGTH = 200


class SeenEvent(NamedTuple):
    """An event as rules see it. `silent`: too old to alert anybody, or covered by a snooze."""

    occurred_at: str
    severity: str
    environment: str
    silent: bool
    user: str | None = None


@dataclass(slots=True)
class SeenIssue:
    """The new events of an issue in the order of their storing; its number of events was `before`.

    `later_users`: how many events of users came later, where these are looked at again.
    """

    before: int
    events: list[SeenEvent] = field(default_factory=list)
    returned: bool = False
    later_users: Counter[str] = field(default_factory=Counter)

    @property
    def after(self) -> int:
        """The number of events with the new ones."""
        return self.before + len(self.events)


def oldest_alerting(call: Call) -> str:
    """Return the time before which events alert nobody."""
    hours = call.setting("alerts.max_event_age_hours")
    return times.add(call.now, seconds=-3600 * hours) if hours else ""


def of_batch(call: Call, batch: StoredBatch) -> dict[int, SeenIssue]:
    """Return what a stored batch brought."""
    oldest = oldest_alerting(call)
    seen: dict[int, SeenIssue] = {}
    for stored in batch.stored:
        issue = seen.get(stored.issue_id)
        if issue is None:
            returned = stored.issue_id in batch.reoccurred_issues
            issue = seen[stored.issue_id] = SeenIssue(batch.counts[stored.issue_id][0], returned=returned)
        event = stored.event
        silent = len(issue.events) < batch.silent.get(stored.issue_id, 0) or event.occurred_at < oldest
        environment = clean(event.environment[:ENVIRONMENT_LENGTH])
        user = clean(event.user[:USER_LENGTH]) if event.user else None
        issue.events.append(SeenEvent(event.occurred_at, event.severity, environment, silent, user))
    return seen


def silence(seen: SeenIssue) -> None:
    """Make all events of an issue silent."""
    seen.events = [event._replace(silent=True) for event in seen.events]


def passing(rule: Row[Any], events: Sequence[SeenEvent]) -> list[str]:
    """Return the times of the events that a rule is about."""
    return [
        event.occurred_at for event in events if not event.silent and is_about(rule, event.severity, event.environment)
    ]
