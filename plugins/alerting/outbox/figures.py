"""Figures of the outbox, for whoever shows them."""

from collections.abc import Iterable

from snaglist.kernel import Call, times
from snaglist.plugins.alerting.outbox import queries

Figures = Iterable[tuple[dict[str, str], float]]
PLUGIN = "alerting"


def read_waiting(call: Call) -> Figures:
    """Messages that wait to be sent, by status; nothing while alerting is off."""
    if not call.enabled(PLUGIN):
        return []
    return [({"status": status}, float(number)) for status, number in queries.waiting(call.db).items()]


def read_wait(call: Call) -> Figures:
    """Seconds since the oldest message that waits was made; 0 when none waits, nothing while alerting is off."""
    if not call.enabled(PLUGIN):
        return []
    oldest = queries.oldest_waiting(call.db)
    waited = (times.read(call.now) - times.read(oldest)).total_seconds() if oldest else 0.0
    return [({}, max(0.0, waited))]


METRICS = {"outbox_messages": read_waiting, "outbox_wait_seconds": read_wait}
