"""Exceptions as JSON values and back, and how much code of an event is kept."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from snaglist.plugins.issues.events import CodeContext, ExceptionInfo, Frame
from snaglist.plugins.issues.storing.texts import clean

MAX_FRAMES = 200
AROUND = 5  # lines before and behind the one of a frame
SURROUNDED = 5  # own frames whose lines around are kept, of one event
MAX_LINE = 200  # characters of a line
_ELLIPSIS = "…"


def kept_code(exceptions: Sequence[ExceptionInfo]) -> Iterator[tuple[int, int, CodeContext]]:
    """Give the code that is kept of an event, with the places of its exception and its frame.

    The exception raised last comes first, of each the innermost frame. The lines around are kept of the first five
    frames of one's own, of all others the line alone.
    """
    surrounded = 0
    for at in range(len(exceptions) - 1, -1, -1):
        for number, frame in enumerate(exceptions[at].frames[:MAX_FRAMES]):
            if frame.context is None:
                continue
            line, pre, post = frame.context
            around = frame.in_app and surrounded < SURROUNDED
            surrounded += around
            before = tuple(map(_cut, pre[-AROUND:] if around else ()))
            yield at, number, CodeContext(_cut(line), before, tuple(map(_cut, post[:AROUND] if around else ())))


def kept_frames(exceptions: Sequence[ExceptionInfo]) -> list[list[dict[str, Any]]]:
    """Return the frames of exceptions as they are stored, each like those of the API without what is not known."""
    code = {(at, number): context for at, number, context in kept_code(exceptions)}
    return [
        [_kept(frame, code.get((at, number))) for number, frame in enumerate(exception.frames[:MAX_FRAMES])]
        for at, exception in enumerate(exceptions)
    ]


def stored_exceptions(kept: Sequence[Mapping[str, Any]] | None) -> list[ExceptionInfo]:
    """Return the exceptions of a stored sample."""
    return [
        ExceptionInfo(one["class"], one["message"], [_stored(frame) for frame in one["frames"]]) for one in kept or ()
    ]


def show_context(context: CodeContext | None) -> dict[str, Any] | None:
    """Return a context as JSON."""
    return None if context is None else {"pre": [*context.pre], "line": context.line, "post": [*context.post]}


def _kept(frame: Frame, context: CodeContext | None) -> dict[str, Any]:
    kept: dict[str, Any] = {
        "function": None if frame.function is None else clean(frame.function[:1000]),
        "file": None if frame.file is None else clean(frame.file[:1000]),
        "line": frame.line,
        "column": frame.column,
        "in_app": frame.in_app,
    }
    if frame.repeated:
        kept["repeated"] = frame.repeated
    if context is not None:
        kept["context"] = show_context(context)
    return kept


def _stored(kept: Mapping[str, Any]) -> Frame:
    given = kept.get("context")
    context = None if given is None else CodeContext(given["line"], tuple(given["pre"]), tuple(given["post"]))
    return Frame(**{**kept, "context": context})


def _cut(line: str) -> str:
    return clean(line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + _ELLIPSIS)
