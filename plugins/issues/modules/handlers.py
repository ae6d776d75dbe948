"""Endpoint `modules`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, read, write
from snaglist.plugins.issues.modules import service


def get(call: Call) -> Mapping[str, Any]:
    """List all modules."""
    return {"data": service.list_modules(call.db)}


def post(call: Call) -> Mapping[str, Any]:
    """Create a module."""
    return service.create_module(call, call.body)


def put(call: Call) -> Mapping[str, Any]:
    """Replace a module: what is left out takes its default."""
    defaults = {"slug": None, "color": service.DEFAULT_COLOR}
    return service.change_module(call, call.body["id"], {**defaults, **_fields(call)})


def patch(call: Call) -> Mapping[str, Any]:
    """Change the given fields of a module."""
    return service.change_module(call, call.body["id"], _fields(call))


def delete(call: Call) -> Mapping[str, Any]:
    """Delete a module; what belongs to it moves when `move_to` is given, null included."""
    module_id, move_to = call.body["id"], call.body.get("move_to")
    service.delete_module(call, module_id, move_to, move="move_to" in call.body)
    return {"id": module_id, "deleted": True, "moved_to": move_to}


def _fields(call: Call) -> dict[str, Any]:
    return {name: call.body[name] for name in ("name", "slug", "color") if name in call.body}


ENDPOINTS = (
    Endpoint(
        "modules",
        get=read(get, "issues.read"),
        post=write(post, "settings.write", 201),
        put=write(put, "settings.write"),
        patch=write(patch, "settings.write"),
        delete=write(delete, "settings.write"),
    ),
)
