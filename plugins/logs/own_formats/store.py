"""The formats of an application, in their order."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Invalid, NotFound
from snaglist.kernel.database import inserted_id
from snaglist.plugins.logs.own_formats.pattern import Format, compiled
from snaglist.plugins.logs.tables import log_formats
from snaglist.plugins.system import rows

MOST = 50
UNKNOWN = "Unknown format."
_SHOWN = ("id", "name", "pattern", "sample", "zone", "position", "enabled", "created_at", "updated_at")


def listed(db: Connection) -> Sequence[Row[Any]]:
    """Return all of them."""
    return db.execute(select(log_formats).order_by(log_formats.c.position, log_formats.c.id)).all()


def in_use(db: Connection) -> list[Format]:
    """Return those that are on, in the order in which they are tried."""
    return [Format(row.name, row.pattern, row.zone) for row in listed(db) if row.enabled]


def show(row: Row[Any]) -> dict[str, Any]:
    """Return a format as the API has it."""
    return {name: getattr(row, name) for name in _SHOWN}


def save(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    """Change the given fields of the format with this `id`, or make one without; Invalid names what does not fit."""
    fields = {name: value for name, value in given.items() if name != "id"}
    if "pattern" in fields:
        compiled(fields["pattern"])
    try:
        if "id" in given:
            format_id = given["id"]
            if rows.find(call.db, log_formats, format_id, lock=True) is None:
                raise NotFound(UNKNOWN)
            rows.change(call.db, log_formats, format_id, **fields, updated_at=call.now)
        else:
            format_id = _add(call, fields)
    except IntegrityError as error:
        raise Invalid("name: another format has this name") from error
    row = rows.find(call.db, log_formats, format_id)
    assert row is not None
    return show(row)


def _add(call: Call, fields: Mapping[str, Any]) -> int:
    for name in ("name", "pattern"):
        if name not in fields:
            raise Invalid(f"{name}: is required")
    number, last = call.db.execute(
        select(func.count(), func.max(log_formats.c.position)).select_from(log_formats)
    ).one()
    if number >= MOST:
        raise Invalid(f"name: there are {MOST} formats already; delete one that is not needed")
    made = {"sample": "", "zone": None, "enabled": True, "position": (last or 0) + 1, **fields}
    times = {"created_at": call.now, "updated_at": call.now}
    return inserted_id(call.db.execute(insert(log_formats).values(**made, **times)))


def remove(call: Call, format_id: int) -> None:
    """Delete a format."""
    if not rows.remove(call.db, log_formats, format_id):
        raise NotFound(UNKNOWN)
