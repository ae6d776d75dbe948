"""`source-maps`: what maps are known by, and what a new one replaces."""

import hashlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Endpoint, Invalid, NotFound, Reply, TooLarge, digest, own, read, write
from snaglist.plugins.releases.maps import queries
from snaglist.plugins.releases.maps.document import SourceMap, pack, read_debug_id, read_map
from snaglist.plugins.releases.maps.library import MISSING, is_installed
from snaglist.plugins.releases.maps.names import file_of, name_hash
from snaglist.plugins.releases.maps.texts import replace_texts
from snaglist.plugins.releases.tables import source_maps
from snaglist.plugins.system import rows

BODY_LIMIT = 96 * 1024 * 1024
_PACKET_ROOM = 65_536
_TAKEN = "file: another map has this release and file; replace or delete that"


def list_maps(call: Call) -> Mapping[str, Any]:
    """List maps, the newest first."""
    wanted = [source_maps.c.release == call.query["release"]] if "release" in call.query else []
    listed = select(*queries.SHOWN).order_by(source_maps.c.id.desc())
    page, meta = rows.page(call, listed, source_maps, *wanted)
    return {"data": [_show(row) for row in page], "meta": meta}


def create(call: Call) -> Reply:
    """Keep a map that was sent; the one of the same debug id, or of the same release and file, gives way."""
    columns, texts = _apart(_columns(call.body))

    def store(db: Connection) -> Reply:
        _check_size(db, columns)
        same = queries.lock_same(db, columns["release"], columns["file_hash"], columns["debug_id"])
        for other in same[1:]:  # the map with this id moves to the place of another one
            rows.remove(db, source_maps, other.id)
        if same:
            map_id = same[0].id
            rows.change(db, source_maps, map_id, **columns, updated_at=call.now)
        else:
            map_id = rows.add(db, source_maps, {**columns, "created_at": call.now, "updated_at": call.now})
        replace_texts(db, map_id, texts)
        return Reply(_show(_found(db, map_id)), 200 if same else 201)

    try:
        return call.write(store)
    except IntegrityError:  # another request brought it meanwhile: now there is one to replace
        return call.write(store)


def replace(call: Call) -> Mapping[str, Any]:
    """Replace names and content of a map."""
    return _change(call, _columns(call.body))


def change(call: Call) -> Mapping[str, Any]:
    """Change the release, the file or the content of a map; its debug id follows a new content that has one."""
    body = _plain(call.body)
    columns: dict[str, Any] = {}
    if "release" in body:
        columns["release"] = body["release"]
    if "file" in body:
        columns |= _file(body["file"])
    if "map" in body:
        columns |= _content(body["map"])
        if columns["debug_id"] is None:
            del columns["debug_id"]
    return _change(call, columns)


def delete(call: Call) -> Mapping[str, Any]:
    """Delete a map; text that was resolved with it stays as it is."""
    if not rows.remove(call.db, source_maps, call.body["id"]):
        raise NotFound("Unknown source map.")
    return {"id": call.body["id"], "deleted": True}


def _show(row: Row[Any]) -> dict[str, Any]:
    names = ("id", "release", "file", "debug_id", "size", "sources", "created_at", "updated_at")
    return {name: getattr(row, name) for name in names}


def _change(call: Call, columns: Mapping[str, Any]) -> Mapping[str, Any]:
    map_id = call.body["id"]
    has_texts = "texts" in columns
    columns, texts = _apart(columns)

    def store(db: Connection) -> Mapping[str, Any]:
        _found(db, map_id)
        _check_size(db, columns)
        rows.change(db, source_maps, map_id, **columns, updated_at=call.now)
        if has_texts:
            replace_texts(db, map_id, texts)
        return _show(_found(db, map_id))

    try:
        return call.write(store)
    except IntegrityError as error:
        taken = "debug_id: another map has this id" if "debug" in str(error.orig) else _TAKEN
        raise Invalid(taken) from error


def _found(db: Connection, map_id: int) -> Row[Any]:
    row = queries.one_map(db, map_id)
    if row is None:
        raise NotFound("Unknown source map.")
    return row


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields under their first names."""
    aliases = {"url": "file", "content": "map"}
    given = {name: value for name, value in body.items() if name not in aliases}
    for alias, name in aliases.items():
        if alias in body:
            given.setdefault(name, body[alias])
    return given


def _columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a whole map: its names and its content."""
    body = _plain(given)
    if "map" not in body:
        raise Invalid("map: is required")
    columns = {"release": body.get("release"), **_file(body.get("file")), **_content(body["map"])}
    if body.get("debug_id") is not None:
        columns["debug_id"] = read_debug_id(body["debug_id"])
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


def _content(given: str | Mapping[str, Any]) -> dict[str, Any]:
    if not is_installed():
        raise Invalid(f"map: {MISSING}")
    found = read_map(given)
    return {
        "debug_id": found.debug_id,
        "size": found.size,
        "sources": found.sources,
        "content": pack(found.content),
        "content_hash": _named(found),
        "texts": found.texts,
    }


def _named(found: SourceMap) -> str:
    """Return what names a map in caches: its mappings and its texts."""
    named = hashlib.sha256(found.content)
    for text in found.texts.values():
        named.update(text.encode("utf-8", "surrogatepass"))
    return named.hexdigest()


def _apart(columns: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, str]]:
    """Return the columns of a map and, apart, its texts: they have a table of their own."""
    return {name: value for name, value in columns.items() if name != "texts"}, columns.get("texts", {})


def _check_size(db: Connection, columns: Mapping[str, Any]) -> None:
    content = columns.get("content")
    largest = None if content is None else queries.largest_value(db)
    if content is not None and largest is not None and len(content) * 17 // 16 + _PACKET_ROOM > largest:
        raise TooLarge("map: is larger than the database takes: raise its max_allowed_packet")


ENDPOINTS = (
    Endpoint(
        "source-maps",
        get=read(list_maps, "releases.read"),
        post=own(create, "releases.write", 201, 200),
        put=own(replace, "releases.write"),
        patch=own(change, "releases.write"),
        delete=write(delete, "releases.write"),
        body_limit=BODY_LIMIT,
        gzip=True,
    ),
)
