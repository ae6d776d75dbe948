"""The document that is kept of a pushed event, and the event that it gives back."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from snaglist.kernel import Call
from snaglist.plugins.issues import CodeContext, Event, ExceptionInfo, Frame, clean, kept_code, stored
from snaglist.plugins.logs.parsers.traces import read_trace
from snaglist.plugins.logs.pushing.packing import unpack
from snaglist.plugins.logs.tables import sources as _sources

MAX_PREVIEW = 1_000  # longer ones may be cut in the occurrence


def document_of(event: Event, raised: str | None, structure: Sequence[Any] = ()) -> bytes:
    """Return what is kept of an event beside the columns of its occurrence. `raised`: the class that was sent.

    A line of JSON with the short parts, then the stack and the context as they are; U+0000 stands between them.
    A context that begins with the preview is kept from there on: the occurrence has the preview.
    `structure`: the exceptions as `structure_of` returns them, where they are not those of the stack. `code`: that of
    frames, with the places of exception and frame; of a stack that prints it only what it does not.
    """
    parts: dict[str, Any] = {"message": event.message, "exception_class": raised, "fingerprint": event.fingerprint}
    code = [(at, number, *context) for at, number, context in kept_code(event.exceptions)]
    if code and not structure:  # they are read from the stack again, with the lines that it prints
        printed = {line.strip() for line in event.stack.split("\n")}
        code = [one for one in code if one[3] or one[4] or one[2].strip() not in printed]
    parts |= {"template": event.template, "exceptions": structure, "code": code}
    context = clean(event.context)
    if event.preview and len(event.preview) <= MAX_PREVIEW and context.startswith(event.preview):
        parts["preview"] = True
        context = context.removeprefix(event.preview)
    head = json.dumps({name: value for name, value in parts.items() if value}, ensure_ascii=False)
    return "\0".join((clean(head), clean(event.stack), context)).encode()


def event_of(document: bytes, preview: str) -> Event:
    """Return the event of a document and the preview of its occurrence; the other columns are the caller's to add."""
    head, stack, context = document.decode().split("\0")
    kept: dict[str, Any] = json.loads(head)
    if "preview" in kept:
        context = preview + context
    exceptions = _exceptions(kept, stack)
    for at, number, line, pre, post in kept.get("code", ()):
        if at < len(exceptions) and number < len(exceptions[at].frames):
            exceptions[at].frames[number].context = CodeContext(line, tuple(pre), tuple(post))
    return Event(
        kept["message"],
        log_type="http",
        exceptions=exceptions,
        stack=stack,
        context=context,
        template=kept.get("template"),
        fingerprint=kept.get("fingerprint"),
    )


def structure_of(exceptions: Sequence[ExceptionInfo]) -> list[Any]:
    """Return exceptions as JSON values, in raise order; their code is kept apart from them."""
    return [[one.type, one.message, [_places(frame) for frame in one.frames]] for one in exceptions]


def _places(frame: Frame) -> list[Any]:
    return [frame.function, frame.file, frame.line, frame.column, frame.in_app]


def _exceptions(kept: dict[str, Any], stack: str) -> Sequence[ExceptionInfo]:
    if "exceptions" in kept:
        return [ExceptionInfo(kind, said, [Frame(*one) for one in frames]) for kind, said, frames in kept["exceptions"]]
    return exceptions_of(kept["message"], kept.get("exception_class"), stack)


def exceptions_of(message: str, raised: str | None, stack: str) -> Sequence[ExceptionInfo]:
    """Return the exceptions in raise order, of the trace, and of the class that was sent beside it."""
    trace = read_trace(stack.split("\n")) if stack else None
    exceptions = trace.exceptions if trace else []
    if raised is None:
        return exceptions
    said = message.removeprefix(raised).removeprefix(":").lstrip()
    if not exceptions:
        return [ExceptionInfo(raised, said)]
    exceptions[-1].type = raised
    exceptions[-1].message = exceptions[-1].message or said
    return exceptions


_occurrences = stored.occurrences


def read_pushed(call: Call, occurrence_id: int) -> Event | None:
    """Return the event of an occurrence, None when it has no stored text; needs an open transaction."""
    document = unpack(call.db, occurrence_id)
    if document is None:
        return None
    rows = select(*_occurrences, _sources.c.channel).join(_sources, _sources.c.id == _occurrences.source_id)
    row = call.db.execute(rows.where(_occurrences.id == occurrence_id)).one()
    event = event_of(document, row.context_preview or "")
    event.occurred_at, event.time_source = row.occurred_at, row.time_source
    event.severity, event.level_source = row.severity, row.level_source or ""
    event.environment, event.release, event.server_name = row.environment, row.release, row.server_name
    event.user = row.user_name
    event.channel, event.event_id, event.truncated = row.channel, row.event_id, row.truncated
    event.byte_start, event.byte_end = row.byte_start, row.byte_end
    event.preview = row.context_preview or ""
    return event
