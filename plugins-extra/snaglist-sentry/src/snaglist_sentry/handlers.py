"""HTTP in, HTTP out: `sentry` and `sentry-settings`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Invalid, Reply, TooMany
from snaglist.plugins.issues import user_reader
from snaglist.plugins.logs import Delivery, Intake, Pushed, redacted_names
from snaglist_sentry.access import EXPOSED, KEYS, dsn
from snaglist_sentry.envelopes import Envelope, read_envelope, read_store
from snaglist_sentry.events import Converter, Unfit
from snaglist_sentry.options import RATES
from snaglist_sentry.unpacking import read_plain, unpack_old

UNWANTED_SECONDS = 3_600  # how long an SDK is asked to keep for itself what nobody reads here
_STATISTIC = 20
_LIMITS = "X-Sentry-Rate-Limits"


class Receiver:
    """The handler that stores; services in one process share it."""

    def __init__(self) -> None:
        self._intake = Intake(RATES)

    def take(self, call: Call) -> Reply:
        """Store the events of a request; 200 when they are durable, also when they were known before.

        The answer holds the id of the first event. Raises BadRequest, Invalid when no event can be stored, and
        TooMany when none may be.
        """
        envelope = _read(call)
        good = _convert(call, envelope)
        _count_dropped(call, envelope)
        problems = [f"items[{position}]: {problem}" for position, problem in sorted(envelope.invalid.items())]
        if good or problems:
            outcome = self._intake.deliver(call, Delivery(good, len(problems), call.request.address))
            if problems and not good:
                raise Invalid(problems)
            if outcome.limited and not outcome.accepted and not outcome.duplicates:
                raise _too_many(outcome.retry_after)
        event_id = good[0][1].event.event_id if good else envelope.event_id
        headers = {"Access-Control-Expose-Headers": EXPOSED}
        if envelope.unwanted:
            headers[_LIMITS] = f"{UNWANTED_SECONDS}:{';'.join(envelope.unwanted)}:project"
        return Reply({"id": event_id} if event_id else {}, headers=headers)


def get_settings(call: Call) -> Mapping[str, Any]:
    """Show the DSN, and what came in the last day."""
    return _settings(call)


def post_settings(call: Call) -> Mapping[str, Any]:
    """Make a new key, which makes a new DSN."""
    KEYS.make(call, grace_minutes=call.body["grace_minutes"])
    return _settings(call)


def _read(call: Call) -> Envelope:
    body = read_plain(call)
    return read_store(unpack_old(call, body)) if call.query["kind"] == "store" else read_envelope(body)


def _convert(call: Call, envelope: Envelope) -> list[tuple[int, Pushed]]:
    """Return the events that can be stored by their positions; what is wrong with the others is noted."""
    converter = Converter(
        call.now,
        redacted_names(call.setting("privacy.redact_keys")),
        frozenset(call.setting("sentry.issue_tags")),
        user_reader(call),
    )
    good: list[tuple[int, Pushed]] = []
    for position, given in envelope.events:
        try:
            good.append((position, converter.convert(given, None if good else envelope.event_id)))
        except Unfit as error:
            envelope.invalid[position] = str(error)
    return good


def _count_dropped(call: Call, envelope: Envelope) -> None:
    if envelope.dropped:
        counts = {f"item:{kind}"[:_STATISTIC]: count for kind, count in envelope.dropped.items()}

        def count() -> None:
            with call.transaction() as db:
                RATES.count_outcomes(db, call.now, counts)

        call.repeat(count)


def _too_many(retry_after: int) -> TooMany:
    refusal = TooMany("The rate limit is used up.", retry_after=retry_after)
    refusal.headers |= {_LIMITS: f"{retry_after}:error;default:project", "Access-Control-Expose-Headers": EXPOSED}
    return refusal


def _settings(call: Call) -> dict[str, Any]:
    shown = KEYS.show(call)
    key = shown.pop("key")
    base = call.setting("sentry.url").rstrip("/") or call.base_url
    return {
        "dsn": dsn(base, key, call.application.id) if key else None,
        **shown,
        "rate_limit": RATES.show(call),
        "last_24h": RATES.last_day(call.db, call.now),
    }
