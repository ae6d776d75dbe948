"""Frames of minified scripts become those of their sources: when events are stored, and when they are shown.

A function is named after what its caller calls: minifiers rename functions, and a map names what stands at a place.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from snaglist.kernel import Call, Invalid
from snaglist.plugins.issues import CodeContext, Event, ExceptionInfo, Frame
from snaglist.plugins.releases.maps import queries
from snaglist.plugins.releases.maps.document import read_debug_id, unpack
from snaglist.plugins.releases.maps.library import is_installed
from snaglist.plugins.releases.maps.lookup import MAPS, Origin, ParsedMap
from snaglist.plugins.releases.maps.names import closest, file_of, is_library, name_hash
from snaglist.plugins.releases.maps.places import Spot, find_spot, is_script
from snaglist.plugins.releases.maps.texts import source_text

_MAX_LINES = 1_000  # of a trace; a longer one repeats itself
_MADE_UP = 2  # characters of the longest function name that only a minifier gives


@dataclass(slots=True)
class _Trace:
    """An event with places in scripts: its lines with the places on them, and debug ids by file."""

    event: Event
    lines: list[str]
    spots: dict[int, Spot]
    debug_ids: Mapping[str, str] = field(default_factory=dict)

    def files(self) -> set[str]:
        """Return the scripts as the trace writes them."""
        frames = (frame for one in self.event.exceptions for frame in one.frames)
        in_frames = {place[0] for frame in frames if (place := _place_of(frame))}
        return in_frames | {spot.file for spot in self.spots.values()}


def resolve_storing(call: Call, events: Sequence[Event]) -> Sequence[Event] | None:
    """Return the events with their places resolved; None when nothing changes. Needs an open transaction."""
    traces = {at: trace for at, event in enumerate(events) if (trace := _trace_of(event))}
    if not traces or not is_installed():
        return None
    chosen = _Choice(call, list(traces.values()))
    if not chosen:
        return None
    return [_resolved(traces[at], chosen) if at in traces else event for at, event in enumerate(events)]


def resolve_shown(call: Call, event: Event) -> Event | None:
    """Return an event with the places resolved that were not when it was stored; None when nothing changes."""
    changed = resolve_storing(call, [event])
    return changed[0] if changed else None


def _trace_of(event: Event) -> _Trace | None:
    has_ids = '"debug_' in event.context
    if event.release is None and not has_ids:
        return None
    lines = event.stack.split("\n") if "js" in event.stack else []
    spots = {at: spot for at, line in enumerate(lines[:_MAX_LINES]) if (spot := find_spot(line))}
    trace = _Trace(event, lines, spots)
    if has_ids:
        trace.debug_ids = _debug_ids(event, trace)
    return trace if spots or trace.files() else None


def _place_of(frame: Frame) -> tuple[str, int, int] | None:
    """Return the place in a script that a frame names."""
    if frame.file is None or frame.line is None or frame.column is None or not is_script(frame.file):
        return None
    return frame.file, frame.line, frame.column


def _debug_ids(event: Event, trace: _Trace) -> Mapping[str, str]:
    """Return the debug ids that a context names for files.

    Taken are `debug_ids` (by file), `debug_meta.images` (a list with `code_file` and `debug_id`), and `debug_id`, which
    is that of the file on top of the trace.
    """
    try:
        context = json.loads(event.context)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(context, dict):
        return {}
    given: list[tuple[Any, Any]] = []
    if isinstance(context.get("debug_ids"), dict):
        given += context["debug_ids"].items()
    meta = context.get("debug_meta")
    images = meta.get("images") if isinstance(meta, dict) else None
    if isinstance(images, list):
        given += [(one.get("code_file"), one.get("debug_id")) for one in images if isinstance(one, dict)]
    if isinstance(context.get("debug_id"), str) and trace.spots:
        given.append((trace.spots[min(trace.spots)].file, context["debug_id"]))
    found: dict[str, str] = {}
    for file, debug_id in given:
        if isinstance(file, str) and isinstance(debug_id, str):
            try:
                found[file_of(file)] = read_debug_id(debug_id)
            except Invalid:
                continue
    return found


class _Choice:
    """The maps of traces, found for all of them at once."""

    def __init__(self, call: Call, traces: Sequence[_Trace]) -> None:
        self._call = call
        self._paths = {file: file_of(file) for trace in traces for file in trace.files()}
        releases = {trace.event.release for trace in traces if trace.event.release is not None}
        hashes = {name_hash(path) for path in self._paths.values()}
        self._of_names = queries.of_names(call.db, releases, hashes)
        self._of_ids = queries.of_debug_ids(call.db, {one for trace in traces for one in trace.debug_ids.values()})
        self._codes: dict[tuple[int, str, int], CodeContext | None] = {}  # PERF: events are much alike

    def __bool__(self) -> bool:
        return bool(self._of_names or self._of_ids)

    def find(self, trace: _Trace, file: str, line: int, column: int) -> Origin | None:
        """Return the origin of a place; None where nothing is known."""
        kept = self._kept(trace, self._paths[file])
        if kept is None:
            return None
        parsed = self._parsed(kept)
        return None if parsed.is_source(file) else parsed.find(line, column)

    def code(self, trace: _Trace, file: str, origin: Origin) -> CodeContext | None:
        """Return the code at the origin of a place in a file."""
        kept = self._kept(trace, self._paths[file])
        if kept is None:
            return None
        place = (kept.id, origin.source, origin.line)
        if place not in self._codes:
            text = source_text(self._call.db, kept.id, kept.content_hash, origin.source)
            self._codes[place] = text.code(origin.line)
        return self._codes[place]

    def _kept(self, trace: _Trace, path: str) -> queries.Kept | None:
        debug_id = trace.debug_ids.get(path)
        if debug_id in self._of_ids:
            return self._of_ids[debug_id]
        candidates = self._of_names.get((trace.event.release or "", name_hash(path)), ())
        return closest(path, [(kept.file, kept) for kept in candidates if kept.file is not None])

    def _parsed(self, kept: queries.Kept) -> ParsedMap:
        return MAPS.get(kept.content_hash, lambda: ParsedMap(unpack(queries.content(self._call.db, kept.id))))


def _resolved(trace: _Trace, choice: _Choice) -> Event:
    event = trace.event
    exceptions = [replace(one, frames=_frames(trace, choice, one)) for one in event.exceptions]
    return replace(event, exceptions=exceptions, stack=_text(trace, choice))


def _frames(trace: _Trace, choice: _Choice, exception: ExceptionInfo) -> list[Frame]:
    origins = [_of_frame(trace, choice, frame) for frame in exception.frames]
    frames = []
    for frame, origin, caller in zip(exception.frames, origins, [*origins[1:], None], strict=True):
        if origin is None:
            frames.append(frame)
            continue
        function = _called(caller) or (frame.function if len(frame.function or "") > _MADE_UP else None)
        code = choice.code(trace, frame.file or "", origin)
        frames.append(Frame(function, origin.source, origin.line, origin.column, not is_library(origin.source), code))
    return frames


def _of_frame(trace: _Trace, choice: _Choice, frame: Frame) -> Origin | None:
    place = _place_of(frame)
    return None if place is None else choice.find(trace, *place)


def _text(trace: _Trace, choice: _Choice) -> str:
    origins = {at: choice.find(trace, spot.file, spot.line, spot.column) for at, spot in trace.spots.items()}
    lines = list(trace.lines)
    for at, origin in origins.items():
        if origin is None:
            continue
        line, spot = lines[at], trace.spots[at]
        name = f" ({origin.name})" if origin.name else ""
        line = f"{line[: spot.start]}{origin.source}:{origin.line}:{origin.column}{name}{line[spot.end :]}"
        called = _called(origins.get(at + 1))
        if called and spot.function:
            line = line[: spot.function[0]] + called + line[spot.function[1] :]
        lines[at] = line
    return "\n".join(lines)


def _called(caller: Origin | None) -> str | None:
    """Return the original name of what is called at the caller's place."""
    return caller.name if caller is not None and caller.exact else None
