"""Splitting a message from the structured data that loggers append to it."""

import json
import re
from typing import Any

_DECODER = json.JSONDecoder(strict=False)  # loggers write line breaks into JSON text
_MAX_TRIES = 8
_STARTS = (' {"', " [{", " []", " {}", ' ["', "\t{", "\n{")
_NAME = re.compile(r"[\w.$/-]{1,100}:")
_WORDS = ("message", "msg", "error", "event")
_EMPTY = ("[]", "{}")


def split_context(text: str) -> tuple[str, str, list[Any]]:
    """Return the message, the trailing JSON values as text, and the values.

    Only values that reach to the end of the text are context; braces within a sentence are message.
    """
    if text[-1:].isspace():
        text = text.rstrip()
    if not text.endswith(("}", "]")):
        return text, "", []
    if text.endswith(" [] []"):
        return text[:-6].rstrip(), "", []
    position = 0
    for _ in range(_MAX_TRIES):
        position = _next_start(text, position)
        if position < 1:
            break
        values = _values(text, position)
        if values is not None:
            tail = text[position:].strip()
            while tail.endswith(_EMPTY):
                tail = tail[:-2].rstrip()
            return text[:position].rstrip(), tail, values
        position += 1
    return text, "", []


def worded(message: str, values: list[Any]) -> str:
    """Return the message; where only a name stands before an object, with the words that are in the object."""
    if _NAME.fullmatch(message) and len(values) == 1 and isinstance(values[0], dict):
        for key in _WORDS:
            text = values[0].get(key)
            if isinstance(text, str) and text.strip():
                return f"{message} {text.strip()}"
    return message


def _next_start(text: str, position: int) -> int:
    found = [place for place in (text.find(start, position) for start in _STARTS) if place > 0]
    return min(found, default=-1)


def _values(text: str, position: int) -> list[Any] | None:
    """Decode one value or two from the position to the end of the text."""
    values: list[Any] = []
    while position < len(text) and len(values) < 2:
        while position < len(text) and text[position].isspace():
            position += 1
        if position >= len(text):
            break
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict | list):
            return None
        values.append(value)
    return values if not text[position:].strip() else None


def dump(values: Any) -> str:
    """Write a value as the text of a context."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=str)


def load(text: str) -> Any:
    """Read one JSON value that is the whole text; None when it is none."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
