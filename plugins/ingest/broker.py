"""The rules of a broker between senders and storage (`ingest.broker`).

A request is judged and counted against the limits as ever, handed over to the stream of its application, and answered
when the stream has it, in as many messages as it takes. Beside each worker somebody takes batches from there, stores
them, and only then acknowledges: what was stored already when a batch comes again, or a request of which only the first
messages arrived is repeated, is known by the ids of its events. So each event has one.
"""

import json
import logging
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import zstandard

from snaglist.kernel import Application, Call, Installation, ServiceError, TooLarge, Unavailable, digest, internal_error
from snaglist.plugins.ingest.checking import MAX_PREVIEW
from snaglist.plugins.ingest.options import RATES
from snaglist.plugins.ingest.wire import Broken, Wire
from snaglist.plugins.issues import Event
from snaglist.plugins.logs import Delivery, Intake, Outcome, Pushed, admit, exceptions_of, give_back

if TYPE_CHECKING:
    from nats.aio.msg import Msg

log = logging.getLogger("snaglist")

BATCHES = 100  # taken at once: compressed, and none larger than a message
EVENTS = 1_000  # unpacked at once, but for a single batch
POLL_SECONDS = 0.5
LONGEST_PAUSE = 30.0
ATTEMPTS = 5  # to store an event that fails where others do not
AGAIN_SECONDS = 10.0
REACH_SECONDS = 10
MAX_UNPACKED = 1 << 30
_KEPT = (
    "message", "severity", "occurred_at", "time_source", "channel", "environment", "stack", "context", "release",
    "server_name", "event_id", "fingerprint", "tags", "truncated", "level_source",
)  # fmt: skip
_YOUNGER = frozenset(("level_source",))  # batches that an earlier version left in the broker do not have them


def stream_of(application: Application) -> str:
    """Return the name of an application's stream: no other one, earlier or elsewhere, has it."""
    born = "".join(character for character in application.created_at if character.isdigit())
    return f"snaglist_{application.tenant}_{born}"


def hand_over(call: Call, wire: Wire, delivery: Delivery) -> Outcome:
    """Let the broker keep the events that the limits let in; returns when it has them. Raises Unavailable.

    Duplicates are those that are known now; the others show when they are stored.
    """
    let_in = call.write(lambda _: admit(call, RATES, delivery))
    for pushed in let_in:
        pushed.event.event_id = pushed.event.event_id or uuid4().hex
    stream, outcome, again = stream_of(call.application), delivery.outcome, 0
    try:
        for some, body in _batches(let_in, wire.room()) if let_in else []:
            if not wire.publish(stream, body, digest("\n".join(pushed.event.event_id or "" for pushed in some))):
                again += len(some)  # the same request again, before its events are stored
    except Exception:
        with suppress(ServiceError):  # then they count, as they would have when the answer was lost
            call.write(lambda _: give_back(call, RATES, delivery.address, len(let_in)))
        raise
    if again:
        call.write(lambda _: give_back(call, RATES, delivery.address, again))
    outcome.accepted, outcome.duplicates = outcome.accepted - again, outcome.duplicates + again
    return outcome


def _batches(some: list[Pushed], room: int) -> list[tuple[list[Pushed], bytes]]:
    """Return events as batches that fit into a message each; raises TooLarge for an event that does not."""
    body = pack(some)
    if len(body) <= room:
        return [(some, body)]
    if len(some) == 1:
        raise TooLarge("An event is larger than the broker takes.")
    half = len(some) // 2
    return [*_batches(some[:half], room), *_batches(some[half:], room)]


def remove(call: Call) -> None:
    """Remove the stream of an application that goes."""
    if urls := call.setting("ingest.broker"):
        with closing(Wire(urls)) as wire:
            wire.remove(stream_of(call.application))


def pack(some: Iterable[Pushed]) -> bytes:
    """Return events as a batch."""
    kept = [
        {name: getattr(pushed.event, name) for name in _KEPT} | {"raised": pushed.raised, "module": pushed.module}
        for pushed in some
    ]
    return zstandard.compress(json.dumps(kept, separators=(",", ":")).encode())


def unpack(body: bytes) -> list[Pushed]:
    """Return the events of a batch; raises Broken when it is none."""
    try:
        return [_pushed(kept) for kept in json.loads(zstandard.decompress(body, max_output_size=MAX_UNPACKED))]
    except (zstandard.ZstdError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Broken("this is no batch of events") from error


def store_waiting(service: Installation, stop: threading.Event) -> None:
    """Store what comes from the broker until the worker stops."""
    if urls := service.settings["ingest.broker"]:
        with closing(Wire(urls)) as wire:
            _Storer(service, wire, stop).run()


class Reach:
    """The health check: whether a server with JetStream answers; asked at most every 10 seconds."""

    hint = "see that a NATS server with JetStream runs, and that SERVICE_INGEST_BROKER names it and who may use it"

    def __init__(self) -> None:
        self._found: dict[str, tuple[float, bool]] = {}  # by URLs: when they were asked, and whether one answered
        self._lock = threading.Lock()

    @staticmethod
    def asked(service: Installation) -> bool:
        """Tell whether there is a broker."""
        return bool(service.settings["ingest.broker"])

    def check(self, service: Installation) -> bool:
        """Tell whether it answers."""
        urls = service.settings["ingest.broker"]
        with self._lock:
            if urls not in self._found or time.monotonic() - self._found[urls][0] > REACH_SECONDS:
                self._found[urls] = (time.monotonic(), _answers(urls))
            return self._found[urls][1]


class _Storer:
    """Stores the batches of all applications. One whose database is away keeps no other waiting."""

    def __init__(self, service: Installation, wire: Wire, stop: threading.Event) -> None:
        self._service, self._wire, self._stop = service, wire, stop
        self._intake = Intake(RATES)
        self._pauses: dict[str, tuple[float, float]] = {}  # by application: until when, and how long

    def run(self) -> None:
        """Store until the worker stops."""
        while not self._stop.is_set():
            worked = False
            try:
                for application in self._service.applications.all():
                    worked = self._visit(application) or worked
            except Exception as error:  # the list of applications cannot be had
                _tell(error)
                self._stop.wait(LONGEST_PAUSE / 10)
            if not worked:
                self._stop.wait(POLL_SECONDS)

    def _visit(self, application: Application) -> bool:
        """Store what waits of an application; False when nothing did."""
        until, pause = self._pauses.get(application.id, (0.0, 0.5))
        if self._stop.is_set() or time.monotonic() < until:
            return False
        try:
            worked = self._work(self._service.call(application, None))
        except Exception as error:  # the database or the broker is away, or nobody foresaw it
            pause = min(2 * pause, LONGEST_PAUSE)
            self._pauses[application.id] = (time.monotonic() + pause, pause)
            _tell(error)
            return False
        self._pauses.pop(application.id, None)
        return worked

    def _work(self, call: Call) -> bool:
        if not call.remembered("ingest.on", lambda db: call.service.plugins.enabled(db, "ingest")):
            return False
        stream = stream_of(call.application)
        waiting = self._wire.take(stream, BATCHES)
        worked = bool(waiting)
        try:
            while waiting and not self._stop.is_set():
                group, waiting = self._unpacked(call, stream, waiting)
                try:
                    self._store(call, stream, group)
                except BaseException:
                    waiting = [*(one for one, _ in group), *waiting]
                    raise
        finally:
            if waiting:
                with suppress(Unavailable):  # then the broker gives them out again by itself, later
                    self._wire.put_back(waiting)
        return worked

    def _unpacked(
        self, call: Call, stream: str, waiting: list["Msg"]
    ) -> tuple[list[tuple["Msg", list[Pushed]]], list["Msg"]]:
        """Return the first batches with their events, about as many as fit into a transaction, and the rest."""
        group: list[tuple[Msg, list[Pushed]]] = []
        events = 0
        for position, one in enumerate(waiting):
            if events >= EVENTS:
                return group, waiting[position:]
            try:
                body = self._wire.body(stream, one)
                some = unpack(body)
            except Broken as error:
                self._set_aside(call, stream, one.data, 1, str(error))
                self._wire.finish(stream, [one])
                continue
            group.append((one, some))
            events += len(some)
        return group, []

    def _store(self, call: Call, stream: str, group: Sequence[tuple["Msg", list[Pushed]]]) -> None:
        """Store batches, then acknowledge them."""
        deliveries = [_delivery(some) for _, some in group]
        self._intake.deliver_all(call, deliveries)
        done: list[Msg] = []
        later: list[Msg] = []
        for (one, some), delivery in zip(group, deliveries, strict=True):
            outcome = self._intake.deliver_apart(call, delivery)
            if not outcome.failed or one.metadata.num_delivered >= ATTEMPTS:
                for position, reason in outcome.unstored().items():
                    self._set_aside(call, stream, pack([some[position]]), 1, reason)
                done.append(one)
            else:
                later.append(one)
        self._wire.finish(stream, done)
        if later:
            self._wire.put_back(later, AGAIN_SECONDS)

    def _set_aside(self, call: Call, stream: str, body: bytes, events: int, reason: str) -> None:
        """Keep what cannot be stored, and say so: in the log, and in what became of events."""
        self._wire.set_aside(stream, body if len(body) <= self._wire.room() else b"", reason)
        with call.transaction() as db:
            RATES.count_outcomes(db, call.now, {"invalid": events})
        log.error("ingest: set aside in %s.failed, because it cannot be stored: %s", stream, reason)


def _delivery(some: Sequence[Pushed]) -> Delivery:
    return Delivery(list(enumerate(some)), 0, "", admitted=True)


def _pushed(kept: dict[str, Any]) -> Pushed:
    fields = {name: kept[name] for name in _KEPT if name in kept or name not in _YOUNGER}
    event = Event(**fields, log_type="http", preview=fields["context"][:MAX_PREVIEW])
    event.exceptions = exceptions_of(event.message, kept["raised"], event.stack)
    return Pushed(event, kept["raised"], kept["module"])


def _answers(urls: str) -> bool:
    with closing(Wire(urls)) as wire:
        try:
            wire.check()
        except Unavailable:
            return False
    return True


def _tell(error: Exception) -> None:
    if isinstance(error, ServiceError):
        log.warning("ingest: events wait in the broker: %s", error.message)
    else:
        internal_error(error, "ingest: events wait in the broker")
