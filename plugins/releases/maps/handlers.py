"""HTTP in, HTTP out: `source-maps`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, Invalid, NotFound, Reply, own, paging, read, write
from snaglist.plugins.releases.maps import queries, service

BODY_LIMIT = 96 * 1024 * 1024


def list_maps(call: Call) -> Mapping[str, Any]:
    """List maps, the newest first."""
    page, limit = call.query["page"], call.query["limit"]
    total, rows = queries.page_of_maps(call.db, call.query.get("release"), page, limit)
    return {"data": [service.show(row) for row in rows], "meta": paging.meta(total, page, limit)}


def post_map(call: Call) -> Reply:
    """Keep a map; the one of the same debug id, or of the same release and file, gives way."""
    row, new = service.take(call, _with_map(call.body))
    return Reply(service.show(row), 201 if new else 200)


def put_map(call: Call) -> Mapping[str, Any]:
    """Replace a map."""
    return service.show(service.replace(call, _with_map(call.body)))


def patch_map(call: Call) -> Mapping[str, Any]:
    """Change a map."""
    return service.show(service.change(call, _plain(call.body)))


def delete_map(call: Call) -> Mapping[str, Any]:
    """Delete a map; text that was resolved with it stays as it is."""
    if not queries.remove_map(call.db, call.body["id"]):
        raise NotFound("Unknown source map.")
    return {"id": call.body["id"], "deleted": True}


def _with_map(body: Mapping[str, Any]) -> dict[str, Any]:
    given = _plain(body)
    if "map" not in given:
        raise Invalid("map: is required")
    return given


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields under their first names."""
    aliases = {"url": "file", "content": "map"}
    given = {name: value for name, value in body.items() if name not in aliases}
    for alias, name in aliases.items():
        if alias in body:
            given.setdefault(name, body[alias])
    return given


ENDPOINTS = (
    Endpoint(
        "source-maps",
        get=read(list_maps, "releases.read"),
        post=own(post_map, "releases.write", 201, 200),
        put=own(put_map, "releases.write"),
        patch=own(patch_map, "releases.write"),
        delete=write(delete_map, "releases.write"),
        body_limit=BODY_LIMIT,
        gzip=True,
    ),
)
