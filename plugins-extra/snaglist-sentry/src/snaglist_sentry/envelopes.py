"""Envelopes: a line of JSON about the whole, then items of a line of JSON and a payload each.

The format: https://develop.sentry.dev/sdk/foundations/transport/envelopes/
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from snaglist.kernel import BadRequest, bodies

MAX_ITEMS = 500
EVENT = "event"
# The categories of rate limits for items that nobody here reads; the names of the types are the keys.
CATEGORIES = {
    "transaction": "transaction",
    "span": "span",
    "session": "session",
    "sessions": "session",
    "attachment": "attachment",
    "replay_event": "replay",
    "replay_recording": "replay",
    "replay_video": "replay",
    "profile": "profile",
    "profile_chunk": "profile_chunk",
    "check_in": "monitor",
    "log": "log_item",
    "trace_metric": "trace_metric",
    "statsd": "metric_bucket",
    "feedback": "feedback",
    "user_report": "user_report",
    "client_report": "",
}


@dataclass(slots=True)
class Envelope:
    """What a request holds: payloads of events, what is wrong with others by their position, other items by type."""

    event_id: str | None = None
    events: list[tuple[int, Any]] = field(default_factory=list)
    invalid: dict[int, str] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)

    @property
    def unwanted(self) -> list[str]:
        """The categories of what was dropped, for `X-Sentry-Rate-Limits`."""
        return sorted({CATEGORIES[kind] for kind in self.dropped if CATEGORIES.get(kind)})


def read_envelope(body: bytes) -> Envelope:
    """Take an envelope apart; BadRequest when its frame is broken. A broken event is one of `invalid`."""
    head, position = _head(body, 0, "envelope header")
    event_id = head.get("event_id")
    found = Envelope(event_id if isinstance(event_id, str) else None)
    for number in range(MAX_ITEMS + 1):
        while body[position : position + 1] == b"\n":
            position += 1
        if position >= len(body):
            return found
        item, position = _head(body, position, f"items[{number}]")
        payload, position = _payload(body, position, item, number)
        kind = item.get("type")
        if kind != EVENT:
            found.dropped[kind if isinstance(kind, str) and kind in CATEGORIES else "unknown"] += 1
            continue
        try:
            found.events.append((number, bodies.parse_json(payload)))
        except BadRequest as error:
            found.invalid[number] = error.message
    raise BadRequest(f"items: must hold at most {MAX_ITEMS} items")


def read_store(body: bytes) -> Envelope:
    """Return the event of a store request; BadRequest when it is not JSON."""
    return Envelope(events=[(0, bodies.parse_json(body))])


def _head(body: bytes, position: int, name: str) -> tuple[dict[str, Any], int]:
    end = body.find(b"\n", position)
    end = len(body) if end < 0 else end
    try:
        found = bodies.parse_json(body[position:end])
    except BadRequest as error:
        raise BadRequest(f"{name}: must be a line of JSON") from error
    if not isinstance(found, dict):
        raise BadRequest(f"{name}: must be an object")
    return found, end + 1


def _payload(body: bytes, position: int, item: dict[str, Any], number: int) -> tuple[bytes, int]:
    length = item.get("length")
    if length is None:
        end = body.find(b"\n", position)
        end = len(body) if end < 0 else end
    elif type(length) is not int or length < 0:
        raise BadRequest(f"items[{number}].length: must be a whole number")
    else:
        end = position + length
        if end > len(body):
            raise BadRequest(f"items[{number}].length: the body ends before")
        if body[end : end + 1] not in (b"", b"\n"):
            raise BadRequest(f"items[{number}].length: no line ends there")
    return body[position:end], end + 1
