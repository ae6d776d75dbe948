"""SQL of source maps. Contents are read one by one, and only when they are needed."""

from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, literal_column, select

from snaglist.kernel.database import chunks
from snaglist.plugins.releases.tables import source_maps
from snaglist.plugins.system import rows

SHOWN = tuple(column for column in source_maps.c if column.name not in ("content", "file_hash", "name_hash"))


class Kept(NamedTuple):
    """A map that may be the one of a place."""

    id: int
    file: str | None
    content_hash: str


def one_map(db: Connection, map_id: int) -> Row[Any] | None:
    """Return a map without its content."""
    return db.execute(select(*SHOWN).where(source_maps.c.id == map_id)).first()


def lock_same(db: Connection, release: str | None, file_hash: str | None, debug_id: str | None) -> list[Row[Any]]:
    """Return the maps that have this debug id, or this release and file, kept from others; that with the id first."""
    found: dict[int, Row[Any]] = {}
    for names in ({"debug_id": debug_id}, {"release": release, "file_hash": file_hash}):
        if None not in names.values():
            for row in db.execute(select(*SHOWN).filter_by(**names).with_for_update()):
                found.setdefault(row.id, row)
    return list(found.values())


def content(db: Connection, map_id: int) -> bytes:
    """Return the content of a map as it is kept."""
    return bytes(db.execute(select(source_maps.c.content).where(source_maps.c.id == map_id)).scalar_one())


def of_debug_ids(db: Connection, debug_ids: Collection[str]) -> dict[str, Kept]:
    """Return maps by their debug ids."""
    columns = (source_maps.c.debug_id, source_maps.c.id, source_maps.c.file, source_maps.c.content_hash)
    found = rows.among(db, select(*columns), source_maps.c.debug_id, debug_ids)
    return {row.debug_id: Kept(row.id, row.file, row.content_hash) for row in found}


def of_names(db: Connection, releases: Collection[str], hashes: Collection[str]) -> dict[tuple[str, str], list[Kept]]:
    """Return the maps of releases by release and digest of the file's base name."""
    found: dict[tuple[str, str], list[Kept]] = {}
    table = source_maps.c
    columns = select(table.release, table.name_hash, table.id, table.file, table.content_hash)
    for some in chunks(sorted(releases), rows.MOST):
        for row in rows.among(db, columns.where(table.release.in_(some)), table.name_hash, hashes):
            found.setdefault((row.release, row.name_hash), []).append(Kept(row.id, row.file, row.content_hash))
    return found


def largest_value(db: Connection) -> int | None:
    """Return how many bytes the database takes at once; None: more than any map has."""
    if db.dialect.name not in ("mysql", "mariadb"):
        return None
    return int(db.execute(select(literal_column("@@max_allowed_packet"))).scalar_one())
