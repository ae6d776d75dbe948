"""Storing what one or several requests delivered, in the open write transaction.

Each request is judged as if it were alone and before those behind it; the events of all are stored together.
"""

import secrets
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from snaglist.kernel import Call, ServiceError, internal_error
from snaglist.plugins.issues import (
    Event,
    EventSource,
    StoredBatch,
    find_or_create_module,
    known_event_ids,
    store_events,
)
from snaglist.plugins.logs.pushing.document import document_of, structure_of
from snaglist.plugins.logs.pushing.packing import Packer
from snaglist.plugins.logs.pushing.rates import Limits, Rates
from snaglist.plugins.logs.pushing.sources import count_pushed, pushed_source, pushed_text
from snaglist.plugins.logs.store import deletions
from snaglist.plugins.tags import assign_all

MAX_EVENTS = 1_000  # of one transaction: what `store_events` takes
ATTEMPTS = 5
# Microseconds since 2024 and a random tail: unique within a source, and in order, which indexes like.
_NUMBERS_FROM = 1_704_067_200_000_000
_TAIL_BITS = 12


@dataclass(frozen=True, slots=True)
class Pushed:
    """An event on its way in. `raised` is the exception class that was sent, `module` the name of a module.

    `structure`: what `structure_of` says of exceptions that came as data; without it they are read from the stack.
    """

    event: Event
    raised: str | None = None
    module: str | None = None
    structure: Sequence[Any] = ()


@dataclass(slots=True)
class Outcome:
    """What became of a request's events; `limited` holds the positions of those over the rate limit.

    `failed`: those that cannot be stored, by position, and why.
    """

    accepted: int = 0
    duplicates: int = 0
    limited: list[int] = field(default_factory=list)
    retry_after: int = 0
    failed: dict[int, Exception] = field(default_factory=dict)

    def include(self, other: "Outcome") -> None:
        """Add what became of other events of the request."""
        self.accepted += other.accepted
        self.duplicates += other.duplicates
        self.limited = sorted([*self.limited, *other.limited])
        self.retry_after = max(self.retry_after, other.retry_after)
        self.failed |= other.failed

    def unstored(self) -> dict[int, str]:
        """Return, by position, what to tell the sender of events that cannot be stored; logs the unforeseen."""
        unforeseen = [error for error in self.failed.values() if not isinstance(error, ServiceError)]
        told = internal_error(unforeseen[0], "an event is not stored") if unforeseen else None
        return {
            position: error.message if isinstance(error, ServiceError) else str(told)
            for position, error in self.failed.items()
        }


@dataclass(slots=True)
class Delivery:
    """One request's events: the good ones with their positions, the number of bad ones, the client's address.

    `admitted`: they passed the limits earlier, by `admit`.
    """

    events: Sequence[tuple[int, Pushed]]
    invalid: int
    address: str
    admitted: bool = False
    outcome: Outcome = field(default_factory=Outcome)
    failure: Exception | None = None
    done: bool = False


def store_deliveries(call: Call, rates: Rates, packer: Packer, deliveries: Sequence[Delivery]) -> None:
    """Store the events of requests, at most 1,000 together, and set the outcome of each request."""
    db = call.db
    limits = rates.limits(call, time.time(), (delivery.address for delivery in deliveries))
    # Only now: other senders are held up, so that an id that is unknown here stays unknown until the commit.
    known = _known_ids(db, deliveries)
    let_in: list[Pushed] = []
    for delivery in deliveries:
        let_in += _admit(delivery, known, limits)
    limits.write()
    _store(call, packer, let_in)
    rates.count_outcomes(db, call.now, {"accepted": len(let_in)} | _turned_away(deliveries))


def admit(call: Call, rates: Rates, delivery: Delivery) -> list[Pushed]:
    """Return the events of a request that are to be stored later, and set its outcome, in the open write transaction.

    They count for the limits from now on, and as accepted when they are stored.
    """
    limits = rates.limits(call, time.time(), [delivery.address])
    let_in = _admit(delivery, _known_ids(call.db, [delivery]), limits)
    limits.write()
    rates.count_outcomes(call.db, call.now, _turned_away([delivery]))
    return let_in


def give_back(call: Call, rates: Rates, address: str, events: int) -> None:
    """Take admitted events that are not to be stored after all out of the limits, in the open write transaction."""
    limits = rates.limits(call, time.time(), [address])
    limits.take(address, -events)
    limits.write()


def _turned_away(deliveries: Sequence[Delivery]) -> dict[str, int]:
    return {
        "duplicate": sum(delivery.outcome.duplicates for delivery in deliveries),
        "invalid": sum(delivery.invalid for delivery in deliveries),
        "rate_limited": sum(len(delivery.outcome.limited) for delivery in deliveries),
    }


def _admit(delivery: Delivery, known: set[str], limits: Limits) -> list[Pushed]:
    """Return the events of a request that are to be stored; their ids are known from then on."""
    outcome = delivery.outcome = Outcome(retry_after=limits.retry_after)
    new: list[tuple[int, Pushed]] = []
    again: list[tuple[int, str]] = []
    ids: set[str] = set()
    for position, pushed in delivery.events:
        event_id = pushed.event.event_id
        if event_id is not None and event_id in known:
            outcome.duplicates += 1
        elif event_id is not None and event_id in ids:
            again.append((position, event_id))
        else:
            new.append((position, pushed))
            if event_id is not None:
                ids.add(event_id)
    outcome.accepted = len(new) if delivery.admitted or not new else limits.take(delivery.address, len(new))
    let_in = [pushed for _, pushed in new[: outcome.accepted]]
    known.update(pushed.event.event_id for pushed in let_in if pushed.event.event_id is not None)
    outcome.limited = [position for position, _ in new[outcome.accepted :]]
    for position, event_id in again:
        if event_id in known:
            outcome.duplicates += 1
        else:  # the first one of its kind is over the limit
            outcome.limited.append(position)
    outcome.limited.sort()
    return let_in


def _known_ids(db: Connection, deliveries: Sequence[Delivery]) -> set[str]:
    wanted = {p.event.event_id for d in deliveries for _, p in d.events if p.event.event_id is not None}
    return known_event_ids(db, sorted(wanted)) | deletions.sent_and_deleted(db, sorted(wanted))


def _store(call: Call, packer: Packer, let_in: Sequence[Pushed]) -> None:
    by_channel: defaultdict[tuple[str, str], list[Pushed]] = defaultdict(list)
    for pushed in let_in:
        by_channel[pushed.module or "", pushed.event.channel].append(pushed)
    modules: dict[str, int | None] = {"": None}
    for wanted in sorted({module for module, _ in by_channel} - {""}):
        modules[wanted] = find_or_create_module(call, wanted)
    of_source: dict[int, tuple[EventSource, list[Pushed]]] = {}
    for (module, channel), some in sorted(by_channel.items()):  # two names may mean one module
        source = pushed_source(call, channel, modules[module])
        of_source.setdefault(source.id, (source, []))[1].extend(some)
    for _, (source, some) in sorted(of_source.items()):
        for batch, stored in _store_in(call, source, some):
            _keep_documents(call, packer, batch, stored)
            tags = _tags(batch)
            if tags:
                assign_all(call, tags, "ingest")
        count_pushed(call, source.id, len(some))


def _store_in(
    call: Call, source: EventSource, some: Sequence[Pushed]
) -> Iterator[tuple[StoredBatch, dict[int, Pushed]]]:
    """Store events of one source under numbers of their own, and give what was stored by number."""
    left = list(some)
    for _ in range(ATTEMPTS):
        numbered = dict(zip(_numbers(len(left)), left, strict=True))
        for number, pushed in numbered.items():
            event = pushed.event
            event.byte_start, event.byte_end = number, number + len(pushed_text(event).encode())
        batch = store_events(call, source, [pushed.event for pushed in left], unseen=True)
        stored = {one.event.byte_start: numbered[one.event.byte_start] for one in batch.stored}
        if stored:
            yield batch, stored
        if not batch.duplicates:  # what is not stored was left out by a plugin
            return
        # Ids are no reason (nobody else stores meanwhile): another process took the number in the same microsecond.
        left = [pushed for number, pushed in numbered.items() if number not in stored]
    raise RuntimeError("no free numbers for pushed events")


def _numbers(count: int) -> range:
    now = time.time_ns() // 1_000 - _NUMBERS_FROM
    first = (now << _TAIL_BITS) + secrets.randbits(_TAIL_BITS)
    return range(first, first + count)


def _keep_documents(call: Call, packer: Packer, batch: StoredBatch, stored: dict[int, Pushed]) -> None:
    documents = (  # one at a time: only what is packed is kept
        (one.occurrence_id, one.issue_id, _document(one.event, stored[one.event.byte_start]))
        for one in batch.stored
        if one.occurrence_id is not None
    )
    packer.add(call, documents, {issue_id: after for issue_id, (_, after) in batch.counts.items()})


def _document(event: Event, pushed: Pushed) -> bytes:
    # What plugins made of the exceptions, such as resolved places, is what is read back.
    return document_of(event, pushed.raised, structure_of(event.exceptions) if pushed.structure else ())


def _tags(batch: StoredBatch) -> dict[int, list[str]]:
    names: defaultdict[int, list[str]] = defaultdict(list)
    for one in batch.stored:
        if one.event.tags:
            names[one.issue_id] += one.event.tags
    return names
