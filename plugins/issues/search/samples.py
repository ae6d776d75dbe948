"""The event whose message, stack and exceptions an issue shows: its sample, or another one on request."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, NotFound
from snaglist.plugins.issues.checking import resolve_stack
from snaglist.plugins.issues.events import Event, ExceptionInfo, Frame
from snaglist.plugins.issues.reading import read_back
from snaglist.plugins.issues.search import parts


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
    return event and resolve_stack(call, event)


def show_exceptions(exceptions: Sequence[ExceptionInfo]) -> list[dict[str, Any]]:
    """Return exceptions as `error` and `group` show them."""
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
                }
                for frame in exception.frames
            ],
        }
        for exception in exceptions
    ]


def _stored(issue: Mapping[str, Any], row: Row[Any] | None) -> Event:
    return Event(
        message=issue["sample_message"] or "",
        severity=issue["severity"],
        occurred_at=issue["last_seen"],
        log_type=issue["log_type"],
        channel=issue["channel"],
        environment=issue["environment"],
        exceptions=[_exception(stored) for stored in issue["exceptions"] or ()],
        stack=issue["sample_stack"] or "",
        context=issue["sample_context"] or "",
        release=row.release if row else None,
        server_name=row.server_name if row else None,
        event_id=row.event_id if row else None,
    )


def _exception(stored: Mapping[str, Any]) -> ExceptionInfo:
    return ExceptionInfo(stored["class"], stored["message"], [Frame(**frame) for frame in stored["frames"]])
