"""One message per channel at the end of an hour about those that were over its limit."""

from collections import defaultdict
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, store, times
from snaglist.plugins.alerting.outbox import queries
from snaglist.plugins.alerting.outbox.messages import document
from snaglist.plugins.alerting.outbox.queueing import OVER_LIMIT, queue_digest

SETTING = "alerts.digested"  # up to which hour


def is_pending(call: Call) -> bool:
    """Tell whether an hour ended that a digest may be needed for."""
    return _since(call) < times.hour(call.now) and bool(_held_back(call))


def send_digests(call: Call) -> None:
    """Queue the digests of the hours that ended, in the open write transaction."""
    until = times.hour(call.now)
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for row in _held_back(call):
        found[row.channel_id].append((row.rule_name or "deleted rules", row.number))
    for channel_id, rules in sorted(found.items()):
        total = sum(number for _, number in rules)
        listed = ", ".join(f"{name} ({number})" for name, number in rules[:5])
        rest = f" and {len(rules) - 5} more rules" if len(rules) > 5 else ""
        word = "message was" if total == 1 else "messages were"
        text = f"{total} more {word} held back since {_since(call)} UTC: {listed}{rest}"
        queue_digest(call, channel_id, document(call, "digest", "", text))
    store.put_setting(call.db, SETTING, until)


def _since(call: Call) -> str:
    """Return the end of the last hour that was dealt with; at most a day is made up for."""
    earliest = times.hour(times.add(call.now, days=-1))
    return max(str(store.get_setting(call.db, SETTING, "")), earliest)


def _held_back(call: Call) -> list[Row[Any]]:
    return list(queries.held_back(call.db, _since(call), times.hour(call.now), OVER_LIMIT))
