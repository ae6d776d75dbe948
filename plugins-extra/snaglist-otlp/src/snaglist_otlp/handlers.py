"""HTTP in, HTTP out: `otlp-logs` and `otlp-settings`."""

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any
from urllib.parse import quote

from snaglist.kernel import Call, Reply, TooMany
from snaglist.plugins.issues import user_reader
from snaglist.plugins.logs import Delivery, Ingestion, Intake, Pushed, redacted_names
from snaglist_otlp.access import HEADER, KEYS
from snaglist_otlp.messages import read_request, write_answer
from snaglist_otlp.options import RATES
from snaglist_otlp.records import Converter, Unfit, count_records

AT_ONCE = 500  # records of one transaction
MAX_NAMED = 5


class Receiver:
    """The handler that stores; services in one process share it."""

    def __init__(self) -> None:
        self._intake = Intake(RATES)

    def take(self, call: Call) -> Reply:
        """Store the records of a request; 200 when they are durable.

        Records of severities that the application does not store are taken and left out, as those of files are.
        Records that say nothing or are over the rate limit are rejected: `partial_success` tells how many.
        """
        request = read_request(call)
        with call.transaction(write=False):
            wanted = frozenset(Ingestion.load(call).severities)
        problems: Counter[str] = Counter()
        limited = stored = retry_after = left_out = 0
        waiting = count_records(request)
        converter = Converter(call.now, redacted_names(call.setting("privacy.redact_keys")), user_reader(call))
        converted = converter.convert_all(request)
        # A small body may hold millions of records: only a part of their events is there at a time.
        while part := list(islice(converted, AT_ONCE)):
            unfit = [str(one) for one in part if isinstance(one, Unfit)]
            events = [one for one in part if isinstance(one, Pushed)]
            good = [one for one in events if one.event.severity in wanted]
            problems.update(unfit)
            waiting -= len(part)
            left_out += len(events) - len(good)
            if good or unfit:
                outcome = self._intake.deliver(call, Delivery(list(enumerate(good)), len(unfit), call.request.address))
                problems.update(outcome.unstored().values())
                limited += len(outcome.limited)
                stored += outcome.accepted + outcome.duplicates
                retry_after = max(retry_after, outcome.retry_after)
                if len(outcome.limited) == len(good) > 0:  # nothing more will be stored: it need not be read
                    limited += waiting
                    break
        if left_out:
            call.repeat(lambda: _count(call, left_out))
        if limited and not stored:
            raise TooMany("The rate limit is used up.", retry_after=retry_after)
        if limited:
            problems["over the rate limit"] = limited
        return write_answer(call, problems.total(), _named(problems))


def get_settings(call: Call) -> Mapping[str, Any]:
    """Show how to send, and what came in the last day."""
    return _settings(call)


def post_settings(call: Call) -> Mapping[str, Any]:
    """Make a new key."""
    KEYS.make(call, grace_minutes=call.body["grace_minutes"])
    return _settings(call)


def _count(call: Call, left_out: int) -> None:
    with call.transaction() as db:
        RATES.count_outcomes(db, call.now, {"filtered": left_out})


def _named(problems: Counter[str]) -> str:
    return "; ".join(f"{count} × {problem}" for problem, count in problems.most_common(MAX_NAMED))


def _settings(call: Call) -> dict[str, Any]:
    base = call.setting("otlp.url").rstrip("/") or call.base_url
    return {
        "endpoint": f"{base}/?api=otlp-logs&app={quote(call.application.id)}",
        **KEYS.show(call),
        "key_header": HEADER,
        "rate_limit": RATES.show(call),
        "last_24h": RATES.last_day(call.db, call.now),
    }
