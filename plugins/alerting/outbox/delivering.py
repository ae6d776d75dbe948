"""The job that sends: each channel by itself, so that one that hangs keeps no other waiting.

A message is sent at least once: what a killed job had claimed is taken up again under the same delivery id.
"""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import Call, times
from snaglist.plugins.alerting.channels import Message, NotDelivered, Send, opened
from snaglist.plugins.alerting.outbox import queries
from snaglist.plugins.alerting.outbox.messages import amount, complete
from snaglist.plugins.alerting.outbox.queueing import CHANNEL_DISABLED
from snaglist.plugins.alerting.tables import channels, outbox
from snaglist.plugins.system import JobCall, rows

MAX_ATTEMPTS = 10
LONGEST_WAIT = 3600
AT_ONCE = 8  # channels
CLAIMED = 50  # messages
CLAIM_SECONDS = 600
# A slow channel holds a job no longer than this; the rest of its messages waits for the next one.
ROUND_SECONDS = 15.0


def due(call: Call) -> Mapping[str, Any] | None:
    """Say whether there is something to send: a repetition whose time has come, or what no job was left for."""
    return {} if queries.is_due(call.db, call.now) else None


def rests(call: Call) -> bool:
    """Tell whether no message waits, be it for a later time."""
    return not any(queries.waiting(call.db).values())


def run(call: JobCall) -> Mapping[str, Any]:
    """Send what is due."""
    started = time.monotonic()
    with call.transaction() as db:
        queries.release(db, call.job_id, times.now())
    outcomes: dict[str, int] = defaultdict(int)
    while time.monotonic() - started < ROUND_SECONDS and (claimed := call.write(lambda db: _claim(db, call.job_id))):
        call.check_cancelled()
        by_channel: dict[int | None, list[Row[Any]]] = defaultdict(list)
        for message in claimed:
            by_channel[message.channel_id].append(message)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for statuses in pool.map(lambda group: _deliver(call, *group), by_channel.items()):
                for status in statuses:
                    outcomes[status] += 1
    return dict(outcomes)


def _claim(db: Connection, job_id: int) -> Sequence[Row[Any]]:
    now = times.now()
    return queries.claim(db, now, times.add(now, seconds=CLAIM_SECONDS), job_id, CLAIMED)


def _deliver(job: JobCall, channel_id: int | None, messages: Sequence[Row[Any]]) -> list[str]:
    """Send messages of one channel, in a thread of its own; returns what became of them."""
    call = job.service.call(job.application, actor=None)
    channel = None if channel_id is None else call.read(lambda db: rows.find(db, channels, channel_id))
    if channel is None or not channel.enabled:
        reason = "the channel was deleted" if channel is None else CHANNEL_DISABLED
        return [_finish(call, message, "suppressed", reason) for message in messages]
    started = time.monotonic()
    statuses: list[str] = []
    waiting = list(messages)
    try:
        with opened(call, channel) as send:
            while waiting and time.monotonic() - started < ROUND_SECONDS:
                status, answered = _send(call, send, channel, waiting[0])
                statuses.append(status)
                del waiting[0]
                if not answered:
                    break
    except NotDelivered as error:  # of opening it
        statuses.append(_failed(call, channel, waiting.pop(0), error))
    if waiting:
        ids = [message.id for message in waiting]
        call.write(lambda db: queries.release_some(db, ids, times.now()))
    return statuses


def _send(call: Call, send: Send, channel: Row[Any], message: Row[Any]) -> tuple[str, bool]:
    """Send one message; returns its new status and whether the channel said anything at all."""
    document = complete(message.payload, message.delivery_id, times.now())
    try:
        send(Message(message.delivery_id, document))
    except NotDelivered as error:
        return _failed(call, channel, message, error), error.answered
    return _finish(call, message, "sent", None, channel), True


def _failed(call: Call, channel: Row[Any], message: Row[Any], error: NotDelivered) -> str:
    """Note a failed attempt, and when the next one is to be."""
    attempts = message.attempts + 1
    now = times.now()
    detail = error.message[:500]
    wait = min(call.setting("alerts.retry_seconds") * 2 ** (attempts - 1), LONGEST_WAIT)
    again = times.add(now, seconds=wait)
    values: dict[str, Any] = {"attempts": attempts, "detail": detail, "job_id": None}
    if attempts < MAX_ATTEMPTS:
        values |= {"status": "retrying", "next_attempt_at": again}
    else:
        values |= {"status": "failed", "finished_at": now}

    state = {"last_status": "failed", "last_error": detail, "retry_at": None if error.answered else again}
    _note(call, message, values, channel, state)
    return str(values["status"])


def _finish(call: Call, message: Row[Any], status: str, detail: str | None, channel: Row[Any] | None = None) -> str:
    """Note the end of a message; without a channel nothing was sent."""
    values: dict[str, Any] = {"status": status, "finished_at": times.now(), "job_id": None}
    if channel is not None:
        values |= {"attempts": message.attempts + 1, "detail": _size(message.payload)}
    else:
        values["detail"] = detail

    _note(call, message, values, channel, {"last_status": "sent", "last_error": None, "retry_at": None})
    return status


def _note(
    call: Call, message: Row[Any], values: Mapping[str, Any], channel: Row[Any] | None, state: Mapping[str, Any]
) -> None:
    """Write what became of a message, and the state of the channel that it was tried on."""

    def note(db: Connection) -> None:
        rows.change(db, outbox, message.id, **values)
        if channel is not None:
            rows.change(db, channels, channel.id, **state)

    call.write(note)


def _size(document: Mapping[str, Any]) -> str:
    number = len(document["items"]) + document["more"]
    return amount(number, "issue") if number else str(document["summary"])[:500]
