"""What a rule would have sent in the last days, worked out from the events that are stored.

The rule is taken as if it had been on all the time, nothing were snoozed, and each event had come by itself.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import Call, times
from snaglist.plugins.alerting.evaluating.triggers import BASELINE_HOURS, may_fire
from snaglist.plugins.alerting.rules import is_about
from snaglist.plugins.alerting.trying import queries

DAYS = 7
MAX_ITEMS = 100
MAX_ISSUES = 2_000
MAX_EVENTS = 50_000

Firing = dict[str, Any]


def would_have_fired(call: Call, rule: Row[Any]) -> tuple[list[Firing], bool]:
    """Return what a rule would have fired for, and whether everything was looked at."""
    since = times.add(call.now, days=-DAYS)
    if rule.trigger_type == "heartbeat":
        return _heartbeats(call, rule, since)
    needed = 1 if rule.trigger_type == "reoccurrence" else rule.min_count
    issues = queries.issues_since(call.db, rule, since, needed, MAX_ISSUES)
    left = MAX_EVENTS
    found: list[Firing] = []
    for number, issue in enumerate(issues, 1):
        moments, read = _ASKED[rule.trigger_type](call.db, rule, issue, since, left)
        shown = {"group_id": issue.id, "severity": issue.severity, "title": issue.title}
        found += [{"at": at, **shown, "count": issue._mapping["count"]} for at in moments]
        left -= read
        if left <= 0:
            return found, number == len(issues)
    return found, len(issues) < MAX_ISSUES


def _new_error(db: Connection, rule: Row[Any], issue: Row[Any], since: str, limit: int) -> tuple[list[str], int]:
    events = queries.stored_since(db, issue.id, since, limit)
    before = issue._mapping["count"] - len(events)
    if before >= rule.min_count:  # it was no news then
        return [], len(events)
    later = events[max(0, rule.min_count - 1 - before) :]
    passing = (at for at, severity, environment in later if is_about(rule, severity, environment))
    return [at for at in [next(passing, None)] if at is not None], len(events)


def _users(db: Connection, rule: Row[Any], issue: Row[Any], since: str, limit: int) -> tuple[list[str], int]:
    """By when each user who is still counted first came; forgotten ones are not."""
    reached = queries.when_users_reached(db, issue.id, rule.min_count)
    if reached is None or reached < since:
        return [], 0
    events = queries.events_of(db, rule, issue.id, reached, limit)
    return events[:1], len(events)


def _reoccurrence(db: Connection, rule: Row[Any], issue: Row[Any], since: str, limit: int) -> tuple[list[str], int]:
    if rule.severities and issue.severity not in rule.severities:
        return [], 0
    return list(_spaced(rule, queries.returns_since(db, issue.id, since))), 0


def _threshold(db: Connection, rule: Row[Any], issue: Row[Any], since: str, limit: int) -> tuple[list[str], int]:
    window = 60 * rule.window_minutes
    events = queries.events_of(db, rule, issue.id, times.add(since, seconds=-window), limit)

    def reached(place: int) -> bool:
        first = place - int(rule.min_count) + 1
        return first >= 0 and events[first] > times.add(events[place], seconds=-window)

    return list(_spaced(rule, [at for n, at in enumerate(events) if at >= since and reached(n)])), len(events)


def _spike(db: Connection, rule: Row[Any], issue: Row[Any], since: str, limit: int) -> tuple[list[str], int]:
    events = queries.events_of(db, rule, issue.id, times.add(since, days=-1), limit)

    def spikes(place: int) -> bool:
        at = events[place]
        hour_ago = bisect_right(events, times.add(at, seconds=-3600))
        day_ago = bisect_right(events, times.add(at, days=-1))
        recent = place + 1 - hour_ago
        baseline = (hour_ago - day_ago) / BASELINE_HOURS
        return bool(recent >= max(2, rule.min_count) and recent >= rule.spike_factor * baseline)

    found: list[str] = []
    for place, at in enumerate(events):
        if at >= since and may_fire(rule, at, found[-1] if found else None) and spikes(place):
            found.append(at)
    return found, len(events)


def _heartbeats(call: Call, rule: Row[Any], since: str) -> tuple[list[Firing], bool]:
    """Return the ends of silences; one that lasts still counts."""
    received = list(queries.received_since(call.db, rule, since, MAX_EVENTS))[::-1]
    title = f"No event for {rule.window_minutes} minutes"
    shown = {"group_id": None, "severity": None, "title": title, "count": 0}
    found = []
    for before, after in pairwise([*received, call.now]):
        late = times.add(before, seconds=60 * rule.window_minutes)
        if late <= after:
            found.append({"at": late, **shown})
    return found, len(received) < MAX_EVENTS


def _spaced(rule: Row[Any], moments: Sequence[str]) -> Iterator[str]:
    last: str | None = None
    for at in moments:
        if may_fire(rule, at, last):
            last = at
            yield at


_ASKED: dict[str, Callable[[Connection, Row[Any], Row[Any], str, int], tuple[list[str], int]]] = {
    "new_error": _new_error,
    "users": _users,
    "reoccurrence": _reoccurrence,
    "threshold": _threshold,
    "spike": _spike,
}
