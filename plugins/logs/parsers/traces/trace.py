"""What every trace reader gives, and how it keeps endless stacks small."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from snaglist.plugins.issues import ExceptionInfo, Frame

# Of a runaway recursion the first and the last frames tell the story.
FIRST_FRAMES = 200
LAST_FRAMES = 50
MAX_EXCEPTIONS = 50


@dataclass(slots=True)
class Trace:
    """A trace within an entry: the line it begins at and its exceptions in raise order.

    `intro` replaces the line before `begin` in the message, when the exception began within that line.
    """

    begin: int
    exceptions: list[ExceptionInfo] = field(default_factory=list)
    intro: str | None = None


def shorten(frames: list[Frame]) -> list[Frame]:
    """Return the first and the last frames of a long stack."""
    if len(frames) <= FIRST_FRAMES + LAST_FRAMES:
        return frames
    return frames[:FIRST_FRAMES] + frames[-LAST_FRAMES:]


def finish(begin: int, exceptions: Sequence[ExceptionInfo], intro: str | None = None) -> Trace | None:
    """Make the trace of exceptions in raise order; None when nothing was understood."""
    if not exceptions:
        return None
    kept = list(exceptions[-MAX_EXCEPTIONS:])
    for exception in kept:
        exception.message = exception.message.strip()
        exception.frames = shorten(exception.frames)
    return Trace(begin, kept, intro)


def number(text: str | None) -> int | None:
    """Read a line or column number."""
    return int(text[:9]) if text and text.isdigit() else None
