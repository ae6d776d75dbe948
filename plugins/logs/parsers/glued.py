"""JSON objects that a crash or a rotation left on one line, and events of an export that has no line ends."""

import json
import re

from snaglist.plugins.logs.parsers.lines import Line

_DECODER = json.JSONDecoder(strict=False)
_MAX_LENGTH = 1_000_000
_EVENTS = re.compile(r"</Event>(?=\s{0,20}<Event[ >])")


def is_glued(text: str) -> bool:
    """Tell whether a line may hold several entries."""
    if text[:1] == "{":
        return "}{" in text
    return "</Event>" in text and _EVENTS.search(text) is not None


def split_objects(line: Line) -> list[Line]:
    """Return one line per object or event, with the bytes of each; the line itself when it is no sequence of them."""
    text = line.text
    if not line.exact or not is_glued(text):
        return [line]
    ends = _ends_of_objects(text) if text[0] == "{" else _ends_of_events(text)
    parts: list[Line] = []
    place, start = 0, line.start
    for end in ends:
        part = text[place:end]
        size = len(part.encode())
        parts.append(Line(part, start, start + size))
        place, start = end, start + size
    if not parts or line.end - start > 2:
        return [line]  # no such sequence, or not UTF-8, so that the places are unknown
    parts[-1].end = line.end
    return parts


def _ends_of_events(text: str) -> list[int]:
    return [*(found.end() for found in _EVENTS.finditer(text)), len(text)]


def _ends_of_objects(text: str) -> list[int]:
    """Return the places behind each object, none when anything else stands there."""
    ends: list[int] = []
    place = 0
    while place < len(text) <= _MAX_LENGTH:
        try:
            _, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return []
        ends.append(place)
    return ends
