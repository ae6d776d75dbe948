"""Finds the source maps of a build in its folder (the format: ECMA-426, with the debug ids of its proposal)."""

import base64
import binascii
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes

SCRIPTS = (".js", ".mjs", ".cjs")
_TAIL = 64 * 1024  # of a script, where its comments about the map stand
_LINK = re.compile(rb"^[ \t]*//[#@][ \t]*sourceMappingURL=(\S+)[ \t]*$", re.MULTILINE)
_DEBUG_ID = re.compile(rb"^[ \t]*//#[ \t]*debugId=([0-9a-fA-F-]{32,36})[ \t]*$", re.MULTILINE)
_DATA = re.compile(r"data:[^,;]*(?:;charset=[^,;]*)?(;base64)?,", re.IGNORECASE)


class Pair(NamedTuple):
    """A script with a map. `file` is its path below the folder; `map` a file, or the text when it is inside."""

    file: str
    map: Path | str
    debug_id: str | None


class Lonely(NamedTuple):
    """A script that names a map which cannot be had, and why."""

    file: str
    problem: str


def find_maps(folder: Path) -> Iterator[Pair | Lonely]:
    """Yield the scripts below a folder that have a map, by path: named at their end, or beside them as `<name>.map`."""
    for path in sorted(_files(folder)):
        file = path.relative_to(folder).as_posix()
        tail = _tail(path)
        found = _DEBUG_ID.findall(tail)
        debug_id = found[-1].decode() if found else None
        links = _LINK.findall(tail)
        if links:
            linked = _linked(path, links[-1].decode("utf-8", "replace"), tail)
            yield Lonely(file, linked.problem) if isinstance(linked, Lonely) else Pair(file, linked, debug_id)
        elif (beside := path.with_name(f"{path.name}.map")).is_file():
            yield Pair(file, beside, debug_id)


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (Path(place, name) for name in names if name.endswith(SCRIPTS))


def _tail(path: Path) -> bytes:
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _TAIL))
        tail = stream.read()
        if b"sourceMappingURL=data:" in tail or (size > _TAIL and b"\n" not in tail):  # the map itself is at the end
            stream.seek(0)
            tail = stream.read()
    return tail


def _linked(path: Path, link: str, tail: bytes) -> Path | str | Lonely:
    if inside := _DATA.match(link):
        content = link[inside.end() :]
        try:
            plain = base64.b64decode(content, validate=True) if inside[1] else unquote_to_bytes(content)
            return plain.decode()
        except (binascii.Error, ValueError):
            return Lonely("", "the map inside is not readable")
    name = unquote(link.partition("?")[0].partition("#")[0])
    beside = path.parent / name.rpartition("/")[2]
    for place in (path.parent / name.lstrip("/") if "://" not in name else beside, beside):
        if place.is_file():
            return place
    return Lonely("", f"{name} is not there")
