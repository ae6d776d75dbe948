"""What an issue shows of its latest event: title, sample texts, culprit, and the text that search looks at."""

from typing import Any

from snaglist.kernel import clip, digest, key
from snaglist.plugins.issues.events import RANK, Event, Frame
from snaglist.plugins.issues.grouping import quoted_message
from snaglist.plugins.issues.noting import note_failure
from snaglist.plugins.issues.storing.frames import kept_frames
from snaglist.plugins.issues.storing.texts import clean, short

MAX_TITLE = 180
NO_MESSAGE = "(no message)"
MAX_SAMPLE = 120_000
MAX_CONTEXT = 12_000
MAX_SEARCHED = 2_000
MAX_EXCEPTIONS = 20
_HEAD = 20_000  # a title never needs more of a message than this


def title(event: Event) -> str:
    """Return the first line of the message, white space collapsed, at most 180 characters.

    A message that stands in quotes is shown without them.
    """
    lines = event.message[:_HEAD].strip().splitlines()
    said = quoted_message(lines[0]) if lines else None
    words = " ".join(("".join(said) if said else lines[0]).split()) if lines else ""
    return clip(clean(words), MAX_TITLE) or exception_class(event) or NO_MESSAGE


def exception_class(event: Event) -> str | None:
    """Return the class of the exception raised last."""
    return short(event.exceptions[-1].type, 255) if event.exceptions else None


def culprit_frame(event: Event) -> Frame | None:
    """Return the innermost own frame with a file, of the exception raised last that has one.

    Without an own frame it is the innermost one of any code; None when no frame has a file.
    """
    located = [frame for exception in reversed(event.exceptions) for frame in exception.frames if frame.file]
    return next((frame for frame in located if frame.in_app), located[0] if located else None)


def source_frame(event: Event) -> str | None:
    """Return `file:line` of the culprit."""
    culprit = culprit_frame(event)
    if culprit is None:
        return None
    place = clean(culprit.file or "")
    return clip(place if culprit.line is None else f"{place}:{culprit.line}", 1000)


def search_text(title: str, exception_class: str | None, source_frame: str | None, channel: str, message: str) -> str:
    """Return the folded text that a search for issues looks at."""
    return key("\n".join([title, exception_class or "", source_frame or "", channel, message[:MAX_SEARCHED]]))


def sample_fields(event: Event) -> dict[str, Any]:
    """Return the columns of `issues` that come from the latest event."""
    channel = short(event.channel, 255)
    try:
        told = _told(event, channel)
    except Exception as error:  # no event is lost for the sake of its title
        note_failure("the title", error, f"the message with the digest {digest(event.message)[:32]}")
        plain = clip(clean(" ".join(event.message[:MAX_SEARCHED].split())), MAX_TITLE) or NO_MESSAGE
        told = {"title": plain, "exception_class": None, "source_frame": None, "search_text": key(plain)}
    return {
        "severity": event.severity,
        "severity_rank": RANK[event.severity],
        "environment": short(event.environment, 100),
        "log_type": event.log_type,
        "channel": channel,
        **told,
    }


def _told(event: Event, channel: str) -> dict[str, Any]:
    shown, raised, frame = title(event), exception_class(event), source_frame(event)
    return {
        "title": shown,
        "exception_class": raised,
        "source_frame": frame,
        "search_text": search_text(shown, raised, frame, channel, clean(event.message[:MAX_SEARCHED])),
    }


def sample_texts(event: Event) -> dict[str, Any]:
    """Return the columns of `issue_samples` of the latest event."""
    raised = event.exceptions[-MAX_EXCEPTIONS:]
    exceptions = [
        {"class": clean(one.type[:1000]), "message": clean(one.message[:MAX_SAMPLE]), "frames": frames}
        for one, frames in zip(raised, kept_frames(raised), strict=True)
    ]
    return {
        "message": clean(event.message[:MAX_SAMPLE]),
        "stack": clean(event.stack[:MAX_SAMPLE]) or None,
        "context": clean(event.context[:MAX_CONTEXT]) or None,
        "exceptions": exceptions or None,
    }


def is_cut(event: Event) -> bool:
    """Tell whether something of the event is not kept."""
    return (
        event.truncated
        or len(event.message) > MAX_SAMPLE
        or len(event.stack) > MAX_SAMPLE
        or len(event.context) > MAX_CONTEXT
    )
