"""What plugins hand back, held against the shape that the area goes on with; their values are never trusted.

Everything here raises TypeError or ValueError, inside the containment of the hook: the value stays as it was before,
and the message is shown as the plugin's `last_error`.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from snaglist.kernel import Call, times
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.contract import ShownStack
from snaglist.plugins.issues.events import (
    LEVEL_SOURCES,
    RANK,
    SEVERITIES,
    AccessInfo,
    CodeContext,
    Event,
    ExceptionInfo,
    Frame,
    IssueChange,
)

MAX_NUMBER = 2**63 - 1
_Types = tuple[type, ...]
_TEXT, _MAYBE, _NUMBER, _LIST = (str,), (str, type(None)), (int,), (list, tuple)
_MAYBE_NUMBER = (int, type(None))
_EVENT: dict[str, _Types] = {
    **dict.fromkeys(("message", "severity", "occurred_at", "time_source", "level_source"), _TEXT),
    **dict.fromkeys(("log_type", "family", "channel", "environment", "stack", "context"), _TEXT),
    **dict.fromkeys(("preview", "release", "server_name", "event_id", "template", "fingerprint", "user"), _MAYBE),
    **dict.fromkeys(("exceptions", "tags"), _LIST),
    **dict.fromkeys(("byte_start", "byte_end"), _NUMBER),
    **dict.fromkeys(("provisional", "truncated"), (bool,)),
    "access": (AccessInfo, type(None)),
}
_EXCEPTION: dict[str, _Types] = {"type": _TEXT, "message": _TEXT, "frames": _LIST}
_FRAME: dict[str, _Types] = {
    "function": _MAYBE, "file": _MAYBE, "line": _MAYBE_NUMBER, "column": _MAYBE_NUMBER, "in_app": (bool,),
    "context": (CodeContext, type(None)), "repeated": _NUMBER,
}  # fmt: skip
_ACCESS: dict[str, _Types] = {"method": _TEXT, "path": _TEXT, "status": _NUMBER}
_LONGEST = {"log_type": 40, "time_source": 10}  # columns that take no more, and are not cut


def change_events(call: Call, events: Sequence[Event]) -> Sequence[Event]:
    """Let plugins change events before they are grouped (`events_storing`).

    They may leave events out; each that stays keeps its place in the source.
    """
    if not events:
        return events
    changed: Sequence[Event]
    changed = call.chain(hookspecs.events_storing, events, _copies, partial(_checked_events, events))
    return changed


def resolve_stack(call: Call, event: Event) -> Event:
    """Let plugins change an event that is shown (`stack_showing`)."""
    changed: Event = call.chain(hookspecs.stack_showing, event, _copy, partial(_checked_event, "stack_showing()"))
    return changed


def link_frames(call: Call, shown: ShownStack) -> list[list[str | None]]:
    """Return where plugins say that the code of frames can be read (`link_frames`), by exception and frame."""
    check = partial(_checked_links, shown.event)
    answers = [answer for answer in call.emit(hookspecs.link_frames, shown, check).values() if answer]
    links: list[list[str | None]] = [[None] * len(one.frames) for one in shown.event.exceptions]
    for at, frames in enumerate(links):
        for number in range(len(frames)):
            frames[number] = next((answer[at][number] for answer in answers if answer[at][number]), None)
    return links


def tell_change(call: Call, change: IssueChange) -> dict[str, Any]:
    """Tell plugins what was done to issues (`issue_changed`); returns their JSON objects by plugin id."""
    return call.emit(hookspecs.issue_changed, change, _json_object)


# -- copies: what a plugin changed before it failed must not stay

_values = {kind: attrgetter(*kind.__slots__) for kind in (Event, ExceptionInfo, Frame)}


def _copies(events: Sequence[Event]) -> list[Event]:
    return [_copy(event) for event in events]


def _copy(event: Event) -> Event:
    made = Event(*_values[Event](event))
    if made.exceptions:
        made.exceptions = [
            ExceptionInfo(one.type, one.message, [Frame(*_values[Frame](frame)) for frame in one.frames])
            for one in made.exceptions
        ]
    if made.tags:
        made.tags = list(made.tags)
    return made


# -- checks


def _checked_links(event: Event, result: Any) -> Sequence[Sequence[str | None]] | None:
    if result is None:
        return None
    sizes = [len(one.frames) for one in event.exceptions]
    if not isinstance(result, list | tuple) or [len(frames) for frames in result] != sizes:
        raise TypeError("link_frames() must return a list for each exception, with one value for each of its frames")
    for link in (link for frames in result for link in frames):
        if link is not None and (type(link) is not str or not link.startswith(("https://", "http://"))):
            raise ValueError(f"link_frames(): must be None or an address of http or https, not {link!r:.60}")
    return result


def _checked_events(given: Sequence[Event], result: Any) -> list[Event]:
    name = "events_storing()"
    if not isinstance(result, list | tuple):
        raise TypeError(f"{name} must return a list of Event, not {type(result).__name__}")
    places = {event.byte_start for event in given}
    checked = [_checked_event(f"{name}[{at}]", event) for at, event in enumerate(result)]
    for at, event in enumerate(checked):
        if event.byte_start not in places:
            raise ValueError(f"{name}[{at}].byte_start: must be that of an event that was given, each once")
        places.remove(event.byte_start)
    return checked


def check_event(name: str, found: Any) -> Event:
    """Return what a parser made of an entry, when it is an event whose fields are of the right kinds.

    A new one, because the parser may hand out the same object again, or one of a class that answers otherwise later.
    """
    if not isinstance(found, Event):
        raise TypeError(f"{name} must be an Event, not {type(found).__name__}")
    event = Event(*_values[Event](found))
    _check_fields(name, event, _EVENT)
    for field, longest in _LONGEST.items():
        if len(getattr(event, field)) > longest:
            raise ValueError(f"{name}.{field}: must have at most {longest} characters")
    if event.level_source and event.level_source not in LEVEL_SOURCES:
        raise ValueError(
            f"{name}.level_source: must be one of {', '.join(LEVEL_SOURCES)}, not {event.level_source!r:.40}"
        )
    if event.access:
        _check_fields(f"{name}.access", event.access, _ACCESS)
    for tag in event.tags:
        if type(tag) is not str:
            raise TypeError(f"{name}.tags: must hold texts, not {type(tag).__name__}")
    for number, exception in enumerate(event.exceptions):
        _check_exception(f"{name}.exceptions[{number}]", exception)
    return event


def _checked_event(name: str, found: Any) -> Event:
    event = check_event(name, found)
    if event.severity not in RANK:
        raise ValueError(f"{name}.severity: must be one of {', '.join(SEVERITIES)}, not {event.severity!r}")
    if event.occurred_at and not times.is_time(event.occurred_at):
        raise ValueError(f"{name}.occurred_at: must be like 2026-01-03 10:00:00, not {event.occurred_at!r}")
    if not 0 <= event.byte_start <= event.byte_end <= MAX_NUMBER:
        raise ValueError(f"{name}.byte_end: must not lie before byte_start")
    return event


def _check_exception(name: str, exception: Any) -> None:
    if not isinstance(exception, ExceptionInfo):
        raise TypeError(f"{name} must be an ExceptionInfo, not {type(exception).__name__}")
    _check_fields(name, exception, _EXCEPTION)
    for frame in exception.frames:
        if not isinstance(frame, Frame):
            raise TypeError(f"{name}.frames must hold Frame, not {type(frame).__name__}")
        _check_fields(f"{name}.frames", frame, _FRAME)
        if frame.context is not None and not _is_code(frame.context):
            raise TypeError(f"{name}.frames.context: must hold a text as line, and tuples of texts as pre and post")


def _is_code(context: CodeContext) -> bool:
    line, pre, post = context
    around = (*pre, *post) if type(pre) is type(post) is tuple else (None,)
    return all(type(text) is str for text in (line, *around))


_getters: dict[int, Callable[[Any], tuple[Any, ...]]] = {
    id(types): attrgetter(*types) for types in (_EVENT, _EXCEPTION, _FRAME, _ACCESS)
}


def _check_fields(name: str, value: Any, types: dict[str, _Types]) -> None:
    for (field, allowed), found in zip(types.items(), _getters[id(types)](value), strict=True):
        # A parser may know more of a request than its `AccessInfo` says.
        if type(found) not in allowed and not (AccessInfo in allowed and isinstance(found, AccessInfo)):
            wanted = " or ".join("None" if kind is type(None) else kind.__name__ for kind in allowed)
            raise TypeError(f"{name}.{field}: must be {wanted}, not {type(found).__name__}")


def _json_object(result: Any) -> dict[str, Any] | None:
    """Return a copy that nobody else changes, as it will be answered."""
    if result is None:
        return None
    if not isinstance(result, dict) or not all(isinstance(name, str) for name in result):
        raise TypeError(f"issue_changed() must return a JSON object or None, not {type(result).__name__}")
    copied: dict[str, Any] = json.loads(json.dumps(result, allow_nan=False))
    return copied
