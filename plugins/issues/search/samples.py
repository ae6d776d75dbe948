"""The event whose message, stack and exceptions an issue shows: its sample, or another one on request."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, NotFound
from snaglist.plugins.issues.checking import link_frames, resolve_stack
from snaglist.plugins.issues.contract import ShownStack
from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.preparing import redact, redaction_of
from snaglist.plugins.issues.reading import read_back
from snaglist.plugins.issues.search import parts
from snaglist.plugins.issues.storing.frames import kept_code, show_context, stored_exceptions


def shown_event(call: Call, issue: Mapping[str, Any], occurrence_id: int | None) -> Event | None:
    """Return the event to show, its stack resolved by plugins; None when its text cannot be read any more.

    `issue` is an issue object with its samples. Raises NotFound when the occurrence is not one of the issue's.
    """
    sample_id = parts.sample_occurrence_id(call.db, issue["id"])
    wanted = sample_id if occurrence_id is None else occurrence_id
    row = None if wanted is None else parts.one_occurrence(call.db, wanted)
    if occurrence_id is not None and (row is None or row.issue_id != issue["id"]):
        raise NotFound("Unknown occurrence of this issue.")
    event = _stored(issue, row) if wanted is None or wanted == sample_id else read_back(call, wanted)
    if event is None:
        return None
    event = resolve_stack(call, event)
    redact(event, redaction_of(call))  # a file still has what was not stored, a source map has code of its own
    return event


def show_exceptions(call: Call, event: Event, module_id: int | None) -> list[dict[str, Any]]:
    """Return the exceptions of an event as `error` and `group` show them, `module_id` that of its issue."""
    links = link_frames(call, ShownStack(event, module_id)) if event.exceptions else []
    code = {(at, number): context for at, number, context in kept_code(event.exceptions)}
    return [
        {
            "class": exception.type,
            "message": exception.message,
            "frames": [
                {
                    "function": frame.function,
                    "file": frame.file,
                    "line": frame.line,
                    "column": frame.column,
                    "in_app": frame.in_app,
                    "context": show_context(code.get((at, number))),
                    "repeated": frame.repeated,
                    "source_link": link,
                }
                for number, (frame, link) in enumerate(zip(exception.frames, linked, strict=True))
            ],
        }
        for at, (exception, linked) in enumerate(zip(event.exceptions, links, strict=True))
    ]


def _stored(issue: Mapping[str, Any], row: Row[Any] | None) -> Event:
    return Event(
        message=issue["sample_message"] or "",
        severity=issue["severity"],
        occurred_at=issue["last_seen"],
        log_type=issue["log_type"],
        channel=issue["channel"],
        environment=issue["environment"],
        exceptions=stored_exceptions(issue["exceptions"]),
        stack=issue["sample_stack"] or "",
        context=issue["sample_context"] or "",
        release=row.release if row else None,
        server_name=row.server_name if row else None,
        event_id=row.event_id if row else None,
    )
