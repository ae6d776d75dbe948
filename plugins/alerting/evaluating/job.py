"""The job that does what no event brings about: silence, the end of an hour, what failed, and tidying up."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, store, times
from snaglist.plugins.alerting.evaluating import heartbeat, minutes, position
from snaglist.plugins.alerting.evaluating.catching_up import catch_up
from snaglist.plugins.alerting.outbox import digest
from snaglist.plugins.alerting.outbox import queries as outbox_queries
from snaglist.plugins.alerting.rules import enabled_rules
from snaglist.plugins.system import JobCall

JOB = "alerts_evaluate"
FOLDED = "alerts.folded"  # up to which hour minutes are folded


def due(call: Call) -> Mapping[str, Any] | None:
    """Say whether there is anything to do."""
    db = call.db
    needed = (
        position.read(call) is not None
        or bool(heartbeat.overdue(call))
        or digest.is_pending(call)
        or minutes.oldest_unfolded(db, _folded(call), call.now) is not None
        or minutes.has_older(db, _minutes_until(call))
        or outbox_queries.has_older(db, _messages_until(call))
    )
    return {} if needed else None


def rests(call: Call) -> bool:
    """Tell whether no rule waits for silence and no digest for the end of its hour; tidying up can wait."""
    waiting = any(rule.trigger_type == "heartbeat" for rule in enabled_rules(call.db))
    return not waiting and not outbox_queries.has_newer(call.db, times.add(call.now, seconds=-2 * 3600))


def run(call: JobCall) -> Mapping[str, Any]:
    """Do all of it, each in a transaction of its own."""
    looked_at = catch_up(call)
    fired = call.write(lambda _: _fire_heartbeats(call))
    call.write(lambda _: digest.send_digests(call))
    while call.write(lambda _: _fold_an_hour(call)):
        call.check_cancelled()
    call.write(lambda _: _tidy(call))
    return {"events": looked_at, "heartbeats": fired}


def _fire_heartbeats(call: JobCall) -> int:
    late = heartbeat.overdue(call)
    for rule in late:
        heartbeat.fire(call, rule)
    return len(late)


def _fold_an_hour(call: JobCall) -> bool:
    hour = minutes.oldest_unfolded(call.db, _folded(call), call.now)
    if hour is not None:
        minutes.fold(call.db, hour)
        store.put_setting(call.db, FOLDED, times.add(hour, seconds=3600))
    return hour is not None


def _tidy(call: JobCall) -> None:
    minutes.prune(call.db, _minutes_until(call))
    outbox_queries.forget_older(call.db, _messages_until(call))


def _folded(call: Call) -> str:
    return str(store.get_setting(call.db, FOLDED, ""))


def _minutes_until(call: Call) -> str:
    """Return the time before which no window reaches."""
    windows = [rule.window_minutes for rule in enabled_rules(call.db) if rule.trigger_type == "threshold"]
    longest = max([minutes.SPIKE_MINUTES, *windows])
    age = 60 * call.setting("alerts.max_event_age_hours")
    return times.hour(times.add(call.now, seconds=-60 * (longest + age) - 3600))


def _messages_until(call: Call) -> str:
    return times.add(call.now, days=-call.setting("jobs.keep_days"))
