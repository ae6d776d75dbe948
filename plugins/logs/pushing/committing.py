"""Group commit: requests that wait at the same time share a transaction, and so its cost and its flush to disk.

Senders that got their answers together send again at about the same time. Whoever comes first of them waits a moment
for as many as there were, so that groups do not fall apart; a sender that is alone never waits.
"""

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from snaglist.kernel import Call, Installation, Unavailable
from snaglist.plugins.logs.pushing.packing import Packer
from snaglist.plugins.logs.pushing.rates import Rates
from snaglist.plugins.logs.pushing.storing import MAX_EVENTS, Delivery, Outcome, store_deliveries

LINGER_SECONDS = 0.005


@dataclass(slots=True)
class _Line:
    """The requests of one application that wait, and the turn to store what is there.

    `expected` is how many were there last time: stored together, or come meanwhile.
    """

    waiting: deque[Delivery] = field(default_factory=deque)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    expected: int = 1
    turn: threading.Lock = field(default_factory=threading.Lock)
    packer: Packer = field(default_factory=Packer)


class Intake:
    """Takes deliveries. Whoever's turn it is stores for all that wait for the same application of the same service."""

    def __init__(self, rates: Rates) -> None:
        self._rates = rates
        self._lines: WeakKeyDictionary[Installation, dict[tuple[str, str], _Line]] = WeakKeyDictionary()
        self._guard = threading.Lock()

    def deliver(self, call: Call, delivery: Delivery) -> Outcome:
        """Store a request's events; returns when they are durable. Raises what kept them from being stored.

        An event that cannot be stored does not keep those beside it: then it is in `failed` of the outcome.
        """
        self.deliver_all(call, [delivery])
        if delivery.failure is None:
            return delivery.outcome
        outcome = self.deliver_apart(call, delivery)
        if len(outcome.failed) == len(delivery.events):
            raise delivery.failure
        unfit = {"invalid": delivery.invalid + len(outcome.failed)}

        def count() -> None:
            with call.transaction() as db:
                self._rates.count_outcomes(db, call.now, unfit)

        call.repeat(count)
        return outcome

    def deliver_apart(self, call: Call, delivery: Delivery) -> Outcome:
        """Store what can be stored of a delivery that failed as a whole; halving finds the events that cannot.

        Raises Unavailable when it was the database.
        """
        failure, events = delivery.failure, delivery.events
        if failure is None:
            return delivery.outcome
        if isinstance(failure, Unavailable):
            raise failure
        if len(events) < 2:
            return Outcome(failed={position: failure for position, _ in events})
        outcome = Outcome()
        for some in (events[: len(events) // 2], events[len(events) // 2 :]):
            half = Delivery(some, 0, delivery.address, delivery.admitted)
            self.deliver_all(call, [half])
            outcome.include(self.deliver_apart(call, half))
        return outcome

    def deliver_all(self, call: Call, deliveries: Sequence[Delivery]) -> None:
        """Store several together where they fit; `failure` of each says what kept it from being stored."""
        application = call.application
        with self._guard:
            lines = self._lines.setdefault(call.service, {})
            line = lines.setdefault((application.id, application.created_at), _Line())
        with line.arrived:
            line.waiting.extend(deliveries)
            line.arrived.notify()
        with line.turn:
            while not all(delivery.done for delivery in deliveries):
                self._serve(call, line)

    def _serve(self, call: Call, line: _Line) -> None:
        with line.arrived:
            line.arrived.wait_for(lambda: len(line.waiting) >= line.expected, LINGER_SECONDS)
        together = [line.waiting.popleft()]
        events = len(together[0].events)
        while line.waiting and events + len(line.waiting[0].events) <= MAX_EVENTS:
            events += len(line.waiting[0].events)
            together.append(line.waiting.popleft())
        try:
            self._store(call, line, together)
        except Unavailable as error:
            self._fail(together, error)
        except Exception as error:
            if len(together) == 1:
                self._fail(together, error)
            else:  # one of them may be the reason: the others must not suffer
                self._store_alone(call, line, together)
        finally:
            line.expected = len(together) + len(line.waiting)
            for delivery in together:
                delivery.done = True

    def _store(self, call: Call, line: _Line, together: list[Delivery]) -> None:
        def work() -> None:
            try:
                with call.transaction(durable=True):
                    store_deliveries(call, self._rates, line.packer, together)
            except BaseException:
                line.packer.forget()
                raise

        call.repeat(work)

    def _store_alone(self, call: Call, line: _Line, together: list[Delivery]) -> None:
        for delivery in together:
            try:
                self._store(call, line, [delivery])
            except Exception as error:
                self._fail([delivery], error)

    def _fail(self, deliveries: list[Delivery], error: Exception) -> None:
        for delivery in deliveries:
            delivery.failure = error
