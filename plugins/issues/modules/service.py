"""Rules of modules."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Column, Connection
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Conflict, Invalid, NotFound, digest, key
from snaglist.kernel.text import one_line
from snaglist.kernel.text import slug as slug_of
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.modules import queries
from snaglist.plugins.issues.modules.moving import move_groupings
from snaglist.plugins.issues.storing.texts import clean
from snaglist.plugins.issues.tables import issues

DEFAULT_COLOR = "#6366f1"
MAX_NAME = 100
MAX_SLUG = 64


def list_modules(db: Connection) -> list[dict[str, Any]]:
    """Return all modules by name."""
    return queries.list_modules(db)


def create_module(call: Call, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Create a module; `slug` comes from the name when left out."""
    name = fields["name"]
    slug = _slug(fields.get("slug") or name)
    _check_unique(call.db, name, slug)
    row = _row(name, slug, fields.get("color") or DEFAULT_COLOR, call.now)
    try:
        module_id = queries.add_module(call.db, {**row, "created_at": call.now})
    except IntegrityError as error:
        raise _taken() from error
    return queries.get_module(call.db, module_id)


def change_module(call: Call, module_id: int, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Change given fields of a module; a `slug` of None takes the one of the name."""
    before = queries.find_module(call.db, module_id)
    if before is None:
        raise NotFound("Unknown module.")
    name = fields.get("name", before["name"])
    slug = _slug(fields["slug"] or name) if "slug" in fields else before["slug"]
    _check_unique(call.db, name, slug, but=module_id)
    try:
        queries.update_module(call.db, module_id, _row(name, slug, fields.get("color", before["color"]), call.now))
    except IntegrityError as error:
        raise _taken() from error
    return queries.get_module(call.db, module_id)


def delete_module(call: Call, module_id: int, move_to: int | None, *, move: bool) -> None:
    """Delete a module. Issues, sources and connectors of it move with `move`, else they prevent it."""
    db = call.db
    if queries.find_module(db, module_id) is None:
        raise NotFound("Unknown module.")
    if move_to == module_id or (move_to is not None and queries.find_module(db, move_to) is None):
        raise Invalid("move_to: must be null or the id of another module")
    holders: list[Column[int]] = [
        issues.c.module_id,
        *(column for _, column in call.service.plugins.added(hookspecs.register_module_references)),
    ]
    if move:
        move_groupings(call, module_id, move_to)
        for column in holders:
            queries.move(db, column, module_id, move_to)
    elif any(queries.holds(db, column, module_id) for column in holders):
        raise Conflict("The module has issues, sources or connectors; say with move_to where they go.")
    queries.delete_module(db, module_id)


def find_or_create_module(call: Call, name_or_slug: str) -> int:
    """Return the id of the module with that slug, else with that name, else of a new one of that name."""
    name = one_line(clean(name_or_slug))[:MAX_NAME].strip()
    if not name:
        raise Invalid("module: must not be blank")
    found = queries.find_by_slug_or_name(call.db, name)
    if found is not None:
        return found
    slug = slug_of(name)[:MAX_SLUG].strip("-")
    if not slug or queries.is_taken(call.db, "slug", slug):
        # A name in another script has no slug of its own, and two names can have the same.
        slug = f"{slug[:50]}-{digest(key(name))[:8]}".strip("-")
    try:
        with call.db.begin_nested():
            row = _row(name, slug, DEFAULT_COLOR, call.now)
            return queries.add_module(call.db, {**row, "created_at": call.now})
    except IntegrityError:  # another writer was first
        found = queries.find_by_slug_or_name(call.db, name)
        if found is None:
            raise
        return found


def _row(name: str, slug: str, color: str, now: str) -> dict[str, Any]:
    return {"name": name, "name_key": key(name), "slug": slug, "color": color.lower(), "updated_at": now}


def _slug(text: str) -> str:
    slug = slug_of(text)
    if not 1 <= len(slug) <= MAX_SLUG:
        raise Invalid(f"slug: must have 1-{MAX_SLUG} characters of a-z, 0-9 and dashes")
    return slug


def _check_unique(db: Connection, name: str, slug: str, but: int | None = None) -> None:
    problems = [
        f"{field}: is taken by another module"
        for field, column, value in (("name", "name_key", key(name)), ("slug", "slug", slug))
        if queries.is_taken(db, column, value, but=but)
    ]
    if problems:
        raise Invalid(problems)


def _taken() -> Invalid:
    return Invalid("name: this name or its slug is taken by another module")
