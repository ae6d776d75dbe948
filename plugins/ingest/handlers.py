"""HTTP in, HTTP out: `ingest` and `ingest-settings`."""

import threading
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any
from urllib.parse import quote

from snaglist.kernel import BadRequest, Call, Invalid, TooMany
from snaglist.plugins.ingest import broker, keys
from snaglist.plugins.ingest.checking import Unfit, check_event
from snaglist.plugins.ingest.options import RATES
from snaglist.plugins.ingest.requests import parse_events, read_body
from snaglist.plugins.ingest.wire import Wire
from snaglist.plugins.issues import user_reader
from snaglist.plugins.logs import Delivery, Intake, Outcome, Pushed, redacted_names

MAX_ERRORS = 20
LIMITED = "rate limited"
_FIELDS = {"regenerate": "grace_minutes", "configure": "allow_query_key"}  # of each action
# Bytes from which bodies are parsed one at a time: parsed they take many times their size, and two threads that parse
# are no faster than one.
LARGE = 256 * 1024


class Receiver:
    """The handler of `ingest`; services in one process share it."""

    def __init__(self) -> None:
        self._intake = Intake(RATES)
        self._large = threading.Lock()
        self._guard = threading.Lock()
        self._wires: dict[str, Wire] = {}  # by the URLs of their broker

    def post_events(self, call: Call) -> Mapping[str, Any]:
        """Store the good ones of the events that were sent; 202 when they are durable."""
        body = read_body(call)
        with self._large if len(body) > LARGE else nullcontext():
            good, bad = _judge(call, parse_events(call, body))
        del body  # what waits for its turn to be stored holds events only
        outcome = self._take(call, Delivery(good, len(bad), call.request.address))
        if not good:
            raise Invalid([_named(position, problem) for position, problem in bad.items()])
        if outcome.limited and not outcome.accepted:
            raise TooMany("The rate limit is used up.", retry_after=outcome.retry_after)
        return _answer(len(good) + len(bad), bad, outcome)

    def _take(self, call: Call, delivery: Delivery) -> Outcome:
        """Store the events, or let the broker keep them until a worker does; who waits wants them stored."""
        urls = call.setting("ingest.broker")
        if not urls or call.query.get("wait"):
            return self._intake.deliver(call, delivery)
        with self._guard:
            if urls not in self._wires:
                self._wires[urls] = Wire(urls)
        return broker.hand_over(call, self._wires[urls], delivery)


def post_settings(call: Call) -> Mapping[str, Any]:
    """Make a new key, or change how it may be presented."""
    body = call.body
    own = _FIELDS[body["action"]]
    if strange := [name for action, name in _FIELDS.items() if name != own and name in body]:
        raise Invalid(f"{name}: does not belong to the action {body['action']}" for name in strange)
    if body["action"] == "regenerate":
        keys.KEYS.make(call, grace_minutes=body.get(own, 0))
    else:
        keys.allow_query_key(call, body[own])
    return get_settings(call)


def _judge(call: Call, given: list[Any]) -> tuple[list[tuple[int, Pushed]], dict[int, str]]:
    """Return the events that can be stored by their positions, and what is wrong with the others."""
    redacted, user_in = redacted_names(call.setting("privacy.redact_keys")), user_reader(call)
    good: list[tuple[int, Pushed]] = []
    bad: dict[int, str] = {}
    for position in range(len(given)):
        event, given[position] = given[position], None  # the next ones take its memory
        if isinstance(event, BadRequest):
            bad[position] = event.message
            continue
        try:
            good.append((position, check_event(event, call.now, redacted, user_in)))
        except Unfit as error:
            bad[position] = str(error)
    return good, bad


def _named(position: int, problem: str) -> str:
    field, colon, _ = problem.partition(": ")
    inside = colon and field.isidentifier()
    return f"events[{position}].{problem}" if inside else f"events[{position}]: {problem}"


def _answer(received: int, bad: Mapping[int, str], outcome: Outcome) -> dict[str, Any]:
    limited = ((position, LIMITED) for position in outcome.limited)
    problems = sorted([*bad.items(), *outcome.unstored().items(), *limited])
    return {
        "accepted": outcome.accepted,
        "received": received,
        "dropped": len(problems),
        "duplicates": outcome.duplicates,
        "errors": [{"index": position, "error": problem} for position, problem in problems[:MAX_ERRORS]],
    }


def get_settings(call: Call) -> dict[str, Any]:
    """Show how to send, and what came in the last day."""
    base = call.setting("ingest.url").rstrip("/") or call.base_url
    return {
        "ingest_url": f"{base}/?api=ingest&app={quote(call.application.id)}",
        **keys.KEYS.show(call),
        "key_header": keys.HEADER,
        "allow_query_key": keys.allows_query_key(call),
        "rate_limit": RATES.show(call),
        "last_24h": RATES.last_day(call.db, call.now),
    }
