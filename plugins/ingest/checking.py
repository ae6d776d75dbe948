"""The judgement of one pushed event: the hand-written twin of `schemas/ingest/event.json`.

A validator for the published schema costs a hundred times as much; a test holds both to the same verdict.
"""

from collections.abc import Callable, Mapping
from typing import Any

from snaglist.plugins.ingest.fields import Fields
from snaglist.plugins.issues import Event, clean
from snaglist.plugins.logs import MAX_BREADCRUMBS, Pruner, Pushed, by_level, exceptions_of

MAX_MESSAGE = 1_000_000
MAX_PREVIEW = 200  # of a context in lists: each event's full one is in its text


class Unfit(Exception):
    """An event that cannot be stored, and why."""


def check_event(
    given: Any, now: str, redacted: frozenset[str], user_in: Callable[[Mapping[str, Any]], str | None] = lambda _: None
) -> Pushed:
    """Return the event that was sent, with everything optional made to fit; Unfit when it has no message.

    `now` is the time it was received. `redacted` are names as `redacted_names` returns them, `user_in` is what
    `user_reader` returns.
    """
    if not isinstance(given, dict):
        raise Unfit("must be an object")
    fields = Fields(given)
    message = _message(fields)
    raised = fields.text("exception_class", 255, "exception")
    if raised and not message.startswith(raised):
        message = f"{raised}: {message}"
    stack = fields.stack()
    level = fields.value("severity", "level")
    severity = by_level(level)
    occurred_at = fields.occurred_at(now)
    said = _said(fields)
    pruner = Pruner(redacted)
    context = pruner.text(said)
    fields.cut |= level is not None and not isinstance(level, str | int | float)
    event = Event(
        message,
        severity=severity or "ERROR",
        level_source="line" if severity else "none",
        occurred_at=occurred_at or now,
        time_source="event" if occurred_at else "received",
        log_type="http",
        channel=fields.channel(),
        environment=fields.text("environment", 100) or "production",
        exceptions=exceptions_of(message, raised, stack),
        stack=stack,
        context=context,
        preview=context[:MAX_PREVIEW],
        release=fields.text("release", 120),
        server_name=fields.scalar("server_name", 200),
        event_id=fields.event_id(),
        fingerprint=fields.fingerprint(),
        tags=fields.tags(),
        user=user_in(said),
    )
    module = fields.text("module", 100)
    event.truncated = fields.cut or pruner.cut
    return Pushed(event, raised, module)


def _message(fields: Fields) -> str:
    found = fields.value("message", "title")
    if found is None:
        raise Unfit("message: is required")
    if not isinstance(found, str):
        raise Unfit("message: must be a text")
    message = found.strip()
    if not message:
        raise Unfit("message: must not be blank")
    fields.cut |= len(message) > MAX_MESSAGE
    return clean(message[:MAX_MESSAGE])


def _said(fields: Fields) -> dict[str, Any]:
    """Return the context with all that belongs to it."""
    values = dict(fields.mapping("context"))
    if request := fields.mapping("request"):
        values["request"] = request
    if user := fields.person():
        values["user"] = user
    if crumbs := fields.items("breadcrumbs"):
        values["breadcrumbs"] = crumbs[-MAX_BREADCRUMBS:]
    if runtime := fields.scalar("runtime", 200):
        values["runtime"] = runtime
    return values
