"""From the lines of an import to sums per hour, in the same transaction, each line once."""

from collections.abc import Mapping

from snaglist.kernel import Call, times
from snaglist.plugins.access_analytics import queries
from snaglist.plugins.access_analytics.clients import client_finder
from snaglist.plugins.access_analytics.tally import Key, Sums, Tally, sums_of
from snaglist.plugins.issues import Event
from snaglist.plugins.logs import AccessLine, LineBatch

ACCESS = "access"
HOURS_KEPT_DAYS = 7

Counted = dict[str, dict[Key, Sums]]  # by hour


def count_lines(call: Call, batch: LineBatch) -> None:
    """Add the requests of a batch to what is kept of its source.

    A line counts when it begins behind those counted before, so that reading again never doubles it. The last line
    of a file may still grow: it is kept apart until that is settled, and replaced when it comes again.
    """
    source_id = batch.source.id
    if batch.joined is not None:
        _join(call, source_id, batch.joined)
        return
    if batch.first:
        queries.forget(call.db, source_id)
    of_requests = batch.log_type == ACCESS
    position = queries.position(call.db, source_id)
    if position is None and not (of_requests or any(isinstance(event.access, AccessLine) for event in batch.events)):
        return
    new = [event for event in batch.events if position is None or event.byte_start >= position]
    if not new:
        return
    still_open = new.pop() if new[-1].provisional else None
    counted = _count(call, new, of_requests)
    if position is not None:
        before = queries.take_out(call.db, -source_id)
        if (new[0] if new else still_open).byte_start != position:  # type: ignore[union-attr]
            merge(counted, before)
    queries.add(call.db, source_id, counted)
    if still_open is not None:
        queries.add(call.db, -source_id, _count(call, [still_open], of_requests))
    end = still_open.byte_start if still_open is not None else new[-1].byte_end
    queries.keep_position(call.db, source_id, end)


def _join(call: Call, source_id: int, other: int) -> None:
    """Give a source what was counted of another one."""
    position = queries.position(call.db, other)
    if position is None:
        return
    for sign in (1, -1):
        queries.add(call.db, sign * source_id, queries.take_out(call.db, sign * other))
    queries.forget(call.db, other)
    queries.keep_position(call.db, source_id, position)


def _count(call: Call, events: list[Event], of_requests: bool) -> Counted:
    find = client_finder(call.setting("access.trusted_proxies"))
    tally = Tally(find, networks=call.setting("access.networks"))
    first_hour = folded_before(call.now)
    for event in events:
        hour = times.hour(event.occurred_at)
        if hour < first_hour:
            hour = day_of(hour)
        line = event.access
        if isinstance(line, AccessLine):
            tally.add(
                hour, line.method, line.path, line.status, line.size, line.referrer, line.agent, line.client,
                line.forwarded, line.duration_ms, line.host,
            )  # fmt: skip
        elif of_requests:
            tally.add_not_understood(hour)
    return {hour: sums_of(parts) for hour, parts in tally.take().items()}


def merge(target: Counted, more: Mapping[str, Mapping[Key, Sums]]) -> None:
    """Add sums to others."""
    for hour, found in more.items():
        into = target.setdefault(hour, {})
        for key, sums in found.items():
            into.setdefault(key, Sums()).add(sums)


def folded_before(now: str) -> str:
    """Return the time before which only sums of days are kept."""
    return day_of(times.add(now, days=-HOURS_KEPT_DAYS))


def day_of(hour: str) -> str:
    """Return the first hour of the day of a time."""
    return hour[:10] + " 00:00:00"
