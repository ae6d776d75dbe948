"""Rules of source maps: what they are known by, and what a new one replaces."""

import hashlib
from collections.abc import Mapping
from typing import Any

import zstandard
from sqlalchemy import Connection, Row
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Invalid, NotFound, TooLarge, digest
from snaglist.plugins.releases.maps import queries
from snaglist.plugins.releases.maps.document import MAX_SIZE, read_debug_id, read_map
from snaglist.plugins.releases.maps.library import MISSING, is_installed
from snaglist.plugins.releases.maps.names import file_of, name_hash

LEVEL = 6
_PACKET_ROOM = 65_536
_TAKEN = "file: another map has this release and file; replace or delete that"


def unpack(content: bytes) -> bytes:
    """Return the JSON of a kept map."""
    return zstandard.ZstdDecompressor().decompress(content, max_output_size=2 * MAX_SIZE)


def take(call: Call, body: Mapping[str, Any]) -> tuple[Row[Any], bool]:
    """Keep a map that was sent; returns its row, and whether it is new and not in the place of another."""
    columns = _columns(body)

    def store() -> tuple[Row[Any], bool]:
        with call.transaction() as db:
            _check_size(db, columns)
            same = queries.lock_same(db, columns["release"], columns["file_hash"], columns["debug_id"])
            for other in same[1:]:  # the map with this id moves to the place of another one
                queries.remove_map(db, other.id)
            if same:
                map_id = same[0].id
                queries.change_map(db, map_id, {**columns, "updated_at": call.now})
            else:
                map_id = queries.add_map(db, {**columns, "created_at": call.now, "updated_at": call.now})
            return _found(db, map_id), not same

    try:
        return call.repeat(store)
    except IntegrityError:  # another request brought it meanwhile: now there is one to replace
        return call.repeat(store)


def replace(call: Call, body: Mapping[str, Any]) -> Row[Any]:
    """Replace names and content of a map."""
    return _change(call, body["id"], _columns(body))


def change(call: Call, body: Mapping[str, Any]) -> Row[Any]:
    """Change the release, the file or the content of a map; its debug id follows a new content that has one."""
    columns: dict[str, Any] = {}
    if "release" in body:
        columns["release"] = body["release"]
    if "file" in body:
        columns |= _file(body["file"])
    if "map" in body:
        columns |= _content(body["map"])
        if columns["debug_id"] is None:
            del columns["debug_id"]
    return _change(call, body["id"], columns)


def show(row: Row[Any]) -> dict[str, Any]:
    """Return a map as the API shows it."""
    names = ("id", "release", "file", "debug_id", "size", "sources", "created_at", "updated_at")
    return {name: getattr(row, name) for name in names}


def _change(call: Call, map_id: int, columns: Mapping[str, Any]) -> Row[Any]:
    def store() -> Row[Any]:
        with call.transaction() as db:
            _found(db, map_id)
            _check_size(db, columns)
            queries.change_map(db, map_id, {**columns, "updated_at": call.now})
            return _found(db, map_id)

    try:
        return call.repeat(store)
    except IntegrityError as error:
        taken = "debug_id: another map has this id" if "debug" in str(error.orig) else _TAKEN
        raise Invalid(taken) from error


def _found(db: Connection, map_id: int) -> Row[Any]:
    row = queries.one_map(db, map_id)
    if row is None:
        raise NotFound("Unknown source map.")
    return row


def _columns(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a whole map: its names and its content."""
    columns = {"release": body.get("release"), **_file(body.get("file")), **_content(body["map"])}
    columns["debug_id"] = _given_id(body) or columns["debug_id"]
    missing = [name for name in ("release", "file") if columns[name] is None]
    if missing and columns["debug_id"] is None:
        raise Invalid([f"{name}: is required for a map without a debug id" for name in missing])
    return columns


def _file(given: str | None) -> dict[str, Any]:
    """Return the columns of a generated file's name, that may be a URL."""
    if given is None:
        return {"file": None, "file_hash": None, "name_hash": None}
    file = file_of(given)
    if not file:
        raise Invalid("file: must name the generated file, such as static/js/app.js")
    return {"file": file, "file_hash": digest(file), "name_hash": name_hash(file)}


def _given_id(body: Mapping[str, Any]) -> str | None:
    return read_debug_id(body["debug_id"]) if body.get("debug_id") is not None else None


def _content(given: str | Mapping[str, Any]) -> dict[str, Any]:
    if not is_installed():
        raise Invalid(f"map: {MISSING}")
    found = read_map(given)
    return {
        "debug_id": found.debug_id,
        "size": found.size,
        "sources": found.sources,
        "content": zstandard.ZstdCompressor(LEVEL).compress(found.content),
        "content_hash": hashlib.sha256(found.content).hexdigest(),
    }


def _check_size(db: Connection, columns: Mapping[str, Any]) -> None:
    content = columns.get("content")
    largest = None if content is None else queries.largest_value(db)
    if content is not None and largest is not None and len(content) * 17 // 16 + _PACKET_ROOM > largest:
        raise TooLarge("map: is larger than the database takes: raise its max_allowed_packet")
