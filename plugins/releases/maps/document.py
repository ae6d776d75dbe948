"""A source map as it is sent, and what is kept of it (the format: ECMA-426).

Kept are sources, names and mappings, and the texts of one's own sources apart from them (see `texts`).
"""

import json
import re
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

import zstandard

from snaglist.kernel import Invalid, TooLarge
from snaglist.kernel.text import CONTROLS
from snaglist.plugins.issues import clean
from snaglist.plugins.releases.maps.library import parse
from snaglist.plugins.releases.maps.texts import add_text, own_texts

MAX_SIZE = 64 * 1024 * 1024
LEVEL = 6
_GUARD = ")]}'"
_MARK = "\ufeff"
_LINE_END = re.compile(r"\r\n|\n|\r")
_ABSOLUTE = re.compile(r"/|[a-zA-Z][a-zA-Z0-9+.-]*:")


class SourceMap(NamedTuple):
    """A map that can be used. `size`: bytes of the text or of the object as JSON; `content`: what is kept, as JSON.

    `texts` by source.
    """

    content: bytes
    texts: Mapping[str, str]
    size: int
    sources: int
    debug_id: str | None


def read_map(given: str | Mapping[str, Any]) -> SourceMap:
    """Return the map of a JSON object or text; Invalid when it is no usable one, TooLarge over 64 MiB."""
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_SIZE:
        raise TooLarge(f"map: is over the limit of {MAX_SIZE} bytes")
    del text  # as large as the map itself
    document = _parsed(given) if isinstance(given, str) else given
    texts: dict[str, str] = {}
    kept = _kept(document, "map", texts)
    content = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()
    try:
        parsed = parse(content)
    except ValueError as error:
        raise Invalid(f"map: its mappings are broken: {error}") from error
    return SourceMap(content, texts, size, parsed.source_count, _debug_id(document))


def pack(content: bytes) -> bytes:
    """Return the JSON of a map as it is kept."""
    return zstandard.ZstdCompressor(LEVEL).compress(content)


def unpack(content: bytes) -> bytes:
    """Return the JSON of a kept map."""
    return zstandard.ZstdDecompressor().decompress(content, max_output_size=2 * MAX_SIZE)


def read_debug_id(text: str) -> str:
    """Return a UUID in its usual form; Invalid for another text."""
    try:
        return str(uuid.UUID(text.strip()))
    except ValueError as error:
        raise Invalid("debug_id: must be a UUID") from error


def _parsed(text: str) -> Any:
    text = text.removeprefix(_MARK)
    if text.startswith(_GUARD):
        end = _LINE_END.search(text)
        text = text[end.end() :].removeprefix(_MARK) if end else ""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        raise Invalid(f"map: is not JSON: {reason}") from error


def _debug_id(document: Mapping[str, Any]) -> str | None:
    given = document.get("debugId") or document.get("debug_id")
    if not isinstance(given, str):
        return None
    try:
        return read_debug_id(given)
    except Invalid:
        return None  # a tool's own kind of id: the map is known by its release then


def _kept(document: Any, place: str, texts: dict[str, str]) -> dict[str, Any]:
    """Return what is kept of a map, and put its texts into `texts`; Invalid when its outer form is not that of one."""
    if not isinstance(document, dict):
        raise Invalid(f"{place}: must be a source map, an object")
    if document.get("version") not in (3, "3"):
        raise Invalid(f"{place}.version: must be 3")
    if "sections" in document:
        return _index(document["sections"], f"{place}.sections", texts)
    mappings = document.get("mappings")
    if not isinstance(mappings, str):
        raise Invalid(f"{place}: must have mappings or sections")
    if not mappings.isascii():
        raise Invalid(f"{place}.mappings: must be base64 VLQ")
    root = document.get("sourceRoot")
    sources = [_source(one, root) for one in _texts(document, "sources", place)]
    names = [_line(one) if isinstance(one, str) else str(one) for one in _texts(document, "names", place)]
    for source, text in own_texts(sources, document.get("sourcesContent")).items():
        add_text(texts, source, text)
    return {"version": 3, "sources": sources, "names": names, "mappings": mappings}


def _texts(document: Mapping[str, Any], name: str, place: str) -> list[Any]:
    found = document.get(name) or []
    if not isinstance(found, list):
        raise Invalid(f"{place}.{name}: must be a list")
    return found


def _source(name: Any, root: Any) -> str:
    if not isinstance(name, str):
        return ""  # code that comes from no file
    if isinstance(root, str) and root and not _ABSOLUTE.match(name):
        name = f"{root.rstrip('/')}/{name}"
    return _line(name)


def _line(name: str) -> str:
    """Return a name without control characters: one with line ends would put lines of its own into traces."""
    return CONTROLS.sub(" ", clean(name))


def _index(sections: Any, place: str, texts: dict[str, str]) -> dict[str, Any]:
    if not isinstance(sections, list):
        raise Invalid(f"{place}: must be a list")
    kept = []
    before: tuple[Any, Any] = (-1, -1)
    for position, section in enumerate(sections):
        here = f"{place}[{position}]"
        offset = section.get("offset") if isinstance(section, dict) else None
        start = (offset.get("line"), offset.get("column")) if isinstance(offset, dict) else (None, None)
        if not all(isinstance(number, int) and 0 <= number < 2**31 for number in start):
            raise Invalid(f"{here}.offset: must be a line and a column")
        if start <= before:
            raise Invalid(f"{here}.offset: must be behind the one before")
        before = start
        if not isinstance(section.get("map"), dict) or "sections" in section["map"]:
            raise Invalid(f"{here}.map: must be a map with mappings")
        inner = _kept(section["map"], f"{here}.map", texts)
        inner["mappings"] = _from_start(inner["mappings"])
        kept.append({"offset": {"line": start[0], "column": start[1]}, "map": inner})
    return {"version": 3, "sections": kept}


def _from_start(mappings: str) -> str:
    """Begin with a mapping to nowhere, unless there is one: a section's start ends what is mapped before it."""
    if mappings.startswith("A"):
        return mappings
    return f"A{mappings}" if mappings.startswith(";") or not mappings else f"A,{mappings}"
