"""The body of an ingest request: from bytes to the events that somebody sent."""

from typing import Any

from snaglist.kernel import BadRequest, Call, Invalid, UnsupportedMedia, bodies

MAX_EVENTS = 500
NDJSON = "application/x-ndjson"
PLAIN = "text/plain"  # what browsers send as a beacon, which needs no permission of the server


def read_body(call: Call) -> bytes:
    """Return the body without its coding; raises TooLarge, UnsupportedMedia and BadRequest."""
    body = call.read_body(unpacked=call.setting("ingest.max_unpacked_bytes"))
    call.request.raw_body = None  # nobody reads it again, and a compressed one would stay beside the plain one
    return body


def parse_events(call: Call, body: bytes) -> list[Any]:
    """Return 1-500 values that should be events; in place of a broken line its BadRequest.

    Raises UnsupportedMedia, BadRequest, and Invalid for none or too many.
    """
    kind = bodies.media_type(call.environ) if body else ""
    if kind == NDJSON:
        events = _lines(body)
    else:
        if body and kind != PLAIN:
            _check_kind(call)
        events = _document(bodies.parse_json(body) if body else {})
    if not 1 <= len(events) <= MAX_EVENTS:
        raise Invalid([f"events: must hold 1-{MAX_EVENTS} events"])
    if any(_too_deep(event) for event in events):
        raise BadRequest("The body nests too deeply.")
    return events


def _check_kind(call: Call) -> None:
    try:
        bodies.check_json_type(call.environ)
    except UnsupportedMedia as error:
        raise UnsupportedMedia(f"Content-Type: must be application/json, {NDJSON} or {PLAIN}") from error


def _document(document: Any) -> list[Any]:
    if isinstance(document, dict) and "events" in document:
        document = document["events"]
        if not isinstance(document, list):
            raise Invalid(["events: must be a list"])
    return document if isinstance(document, list) else [document]


def _lines(body: bytes) -> list[Any]:
    events = []
    lines = [line for line in body.split(b"\n") if line.strip()]
    for line in lines[: MAX_EVENTS + 1]:
        try:
            events.append(bodies.parse_json(line))
        except BadRequest as error:
            events.append(error)  # the events beside it are none the worse for it
    if events and all(isinstance(event, BadRequest) for event in events):
        raise events[0]
    return events


def _too_deep(event: Any) -> bool:
    level = [event]
    for _ in range(bodies.MAX_DEPTH):
        deeper = []
        for value in level:
            kind = type(value)
            if kind is dict or kind is list:
                deeper += value.values() if kind is dict else value
        level = deeper
        if not level:
            return False
    return any(isinstance(value, dict | list) for value in level)
