"""JSON objects that a crash or a rotation left on one line."""

import json

from snaglist.plugins.logs.parsers.lines import Line

_DECODER = json.JSONDecoder(strict=False)
_MAX_LENGTH = 1_000_000


def split_objects(line: Line) -> list[Line]:
    """Return one line per object, with the bytes of each; the line itself when it is no sequence of objects."""
    text = line.text
    if not line.exact or "}{" not in text or len(text) > _MAX_LENGTH:
        return [line]
    parts: list[Line] = []
    place, start = 0, line.start
    while place < len(text):
        try:
            _, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return [line]
        part = text[place:end]
        size = len(part.encode())
        parts.append(Line(part, start, start + size))
        place, start = end, start + size
    if line.end - start > 2:
        return [line]  # not UTF-8, so that the places are unknown
    parts[-1].end = line.end
    return parts
