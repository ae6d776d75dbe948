"""When a rule fires for an issue: one function a trigger.

Each returns the time of the event that it fires for, None when it does not. It never fires for an event that is
not later than the one it fired for before, so that looking twice at an event changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import times
from snaglist.plugins.alerting.evaluating import minutes, queries
from snaglist.plugins.alerting.evaluating.minutes import SPIKE_MINUTES, Minutes, minute
from snaglist.plugins.alerting.evaluating.seen import SeenIssue, passing

BASELINE_HOURS = 23


def may_fire(rule: Row[Any], at: str, before: str | None) -> bool:
    """Tell whether a rule may fire for an event, given the time of the one it fired for last."""
    return before is None or (at > before and at >= times.add(before, seconds=60 * rule.cooldown_minutes))


def new_error(rule: Row[Any], seen: SeenIssue, issue: Row[Any], fired: str | None) -> str | None:
    """Once, when the issue has `min_count` events: for that event or the first later one that the rule is about.

    An issue that had as many before the rule started is not new.
    """
    if fired is not None or issue.origin != "ingested" or seen.after < rule.min_count:
        return None
    if seen.before >= rule.min_count and issue.created_at <= rule.started_at:
        return None
    return max(passing(rule, seen.events[max(0, rule.min_count - 1 - seen.before) :]), default=None)


def reoccurrence(rule: Row[Any], seen: SeenIssue, fired: str | None) -> str | None:
    """When the issue came back after a fix."""
    at = max(passing(rule, seen.events), default=None) if seen.returned else None
    return at if at is not None and may_fire(rule, at, fired) else None


def users(rule: Row[Any], seen: SeenIssue, issue: Row[Any], before: int, fired: str | None) -> str | None:
    """When as many users as `min_count` are affected: for that event or the first later one that the rule is about.

    `before`: how many there were. Once, unless their number fell meanwhile. An issue that had as many before the rule
    started is not new.
    """
    if issue.users < rule.min_count:
        return None
    if before >= rule.min_count and (fired is not None or issue.created_at <= rule.started_at):
        return None
    at = max(passing(rule, seen.events), default=None)
    return at if at is not None and may_fire(rule, at, fired) else None


def threshold(
    db: Connection, rule: Row[Any], seen: Mapping[int, SeenIssue], fired: Mapping[tuple[int, int], str]
) -> dict[int, str]:
    """When `min_count` events lie within the window that ends with one of the new ones."""
    ends = _ends(rule, seen, fired)
    counters = _counters(db, rule, ends, 60 * rule.window_minutes)
    found: dict[int, str] = {}
    for issue_id, moments in ends.items():
        last = fired.get((rule.id, issue_id))
        for end in moments:
            if may_fire(rule, end, last) and _reached(db, rule, issue_id, counters[issue_id], end):
                found[issue_id] = last = end
    return found


def spike(
    db: Connection, rule: Row[Any], seen: Mapping[int, SeenIssue], fired: Mapping[tuple[int, int], str]
) -> dict[int, str]:
    """When the last hour has far more events than the 23 hours before it have on average."""
    ends = _ends(rule, seen, fired)
    counters = _counters(db, rule, ends, 60 * SPIKE_MINUTES)
    found: dict[int, str] = {}
    for issue_id, moments in ends.items():
        last = fired.get((rule.id, issue_id))
        for end in moments:
            if not may_fire(rule, end, last):
                continue
            hour_ago, day_ago = times.add(minute(end), seconds=-3600), times.add(minute(end), seconds=-86_400)
            recent = counters[issue_id].between(times.add(hour_ago, seconds=60), minute(end))
            if recent < max(2, rule.min_count):
                continue
            earlier = counters[issue_id].between(times.add(day_ago, seconds=60), hour_ago)
            if rule.started_at > day_ago:
                # There are no counters from before the rule; a steady issue is none that spikes.
                earlier = max(earlier, queries.events_of_hours(db, issue_id, times.hour(day_ago), times.hour(hour_ago)))
            if recent >= rule.spike_factor * earlier / BASELINE_HOURS:
                found[issue_id] = last = end
    return found


def _ends(
    rule: Row[Any], seen: Mapping[int, SeenIssue], fired: Mapping[tuple[int, int], str]
) -> dict[int, Sequence[str]]:
    """Return for each issue the times that windows end at: the last event of each minute that has new ones."""
    ends: dict[int, Sequence[str]] = {}
    for issue_id, issue in seen.items():
        latest: dict[str, str] = {}
        for at in passing(rule, issue.events):
            latest[minute(at)] = max(at, latest.get(minute(at), ""))
        last = fired.get((rule.id, issue_id))
        moments = [at for _, at in sorted(latest.items()) if may_fire(rule, at, last)]
        if moments:
            ends[issue_id] = moments
    return ends


def _counters(db: Connection, rule: Row[Any], ends: Mapping[int, Sequence[str]], seconds: int) -> dict[int, Minutes]:
    if not ends:
        return {}
    first = times.add(min(moments[0] for moments in ends.values()), seconds=-seconds)
    last = max(moments[-1] for moments in ends.values())
    return minutes.of_issues(db, rule, ends.keys(), times.hour(first), last)


def _reached(db: Connection, rule: Row[Any], issue_id: int, counters: Minutes, end: str) -> bool:
    start = times.add(end, seconds=-60 * rule.window_minutes)
    whole = counters.between(times.add(minute(start), seconds=60), minute(end))
    if whole >= rule.min_count:
        return True
    # Of the minute in which the window begins only a part lies in it: there the events themselves are counted.
    partly = counters.between(minute(start), minute(start))
    if whole + partly < rule.min_count:
        return False
    stop = times.add(minute(start), seconds=59)
    return bool(whole + min(partly, queries.events_between(db, rule, issue_id, start, stop)) >= rule.min_count)
