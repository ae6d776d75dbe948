"""SQL of the logs area: sources and the places of events in them."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    RowMapping,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from snaglist.kernel import digest, times
from snaglist.kernel.database import inserted_id
from snaglist.plugins.issues import move_counts, move_occurrences, stored
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES
from snaglist.plugins.logs.read.tally import Tally
from snaglist.plugins.logs.tables import sources as _sources
from snaglist.plugins.system import rows

_modules = stored.modules
_occurrences = stored.occurrences
_issues = stored.issues
_groupings = stored.groupings
PUSHED = "http"
_MAX_LONGER = 50
_MAX_GENERATIONS = 100
_READ_LAST = (_sources.c.imported_at.desc(), _sources.c.id.desc())
_READ_FILE = (_sources.c.offset > 0, _sources.c.log_type != PUSHED)
_IN_SHORT = ("id", "title", "severity", "log_type", "count", "first_seen", "last_seen")
# What describes the file of a source, and how far it was read.
_OF_FILE = (
    "path", "path_hash", "generation", "identity", "size", "modified_at", "offset", "prefix_hash", "prefix_length",
    "block_hash", "content_hash", "open_event", "imported_at", "layout",
)  # fmt: skip


def _find(
    db: Connection, *where: ColumnElement[bool], node: str = "", order: Sequence[Any] = (), limit: int | None = None
) -> list[Row[Any]]:
    """Return sources; an empty node is any."""
    found = select(_sources).where(*where).order_by(*order).limit(limit)
    return list(db.execute(found.where(_sources.c.node == node) if node else found).all())


def newest(db: Connection, path: str, node: str) -> Row[Any] | None:
    """Return the newest generation of a path on a node; an empty node is any."""
    order = (_sources.c.generation.desc(),)
    return next(iter(_find(db, _sources.c.path_hash == digest(path), node=node, order=order, limit=1)), None)


def next_generation(db: Connection, path: str) -> int:
    """Return the generation that a new source of a path gets; equal paths of several nodes share the numbers."""
    newest = select(func.max(_sources.c.generation)).where(_sources.c.path_hash == digest(path))
    return (db.execute(newest).scalar_one() or 0) + 1


def source_by_id(db: Connection, source_id: int) -> Row[Any] | None:
    """Return one source."""
    return next(iter(_find(db, _sources.c.id == source_id)), None)


def add_source(db: Connection, values: Mapping[str, Any]) -> int:
    """Insert a source and return its id."""
    return inserted_id(db.execute(insert(_sources).values(**values)))


def move_checkpoint(db: Connection, source_id: int, expected: int, stored: int, values: Mapping[str, Any]) -> bool:
    """Move the checkpoint of a source; False when somebody else moved it meanwhile."""
    moved = db.execute(
        update(_sources)
        .where(_sources.c.id == source_id, _sources.c.offset == expected)
        .values(occurrence_count=_sources.c.occurrence_count + stored, **values)
    )
    return moved.rowcount == 1


def change_source(db: Connection, source_id: int, **values: Any) -> None:
    """Change columns of a source."""
    db.execute(update(_sources).where(_sources.c.id == source_id).values(**values))


def move_source(db: Connection, source_id: int, path: str, **values: Any) -> None:
    """Lead a source to another path, as the newest there, and change other columns of it."""
    generation = next_generation(db, path)
    change_source(db, source_id, path=path, path_hash=digest(path), generation=generation, **values)


def move_events(db: Connection, source_id: int, path: str, new_path: str) -> None:
    """Count the events of a source, so far of one path, under its new one."""
    others = (_sources.c.path_hash == digest(path), _sources.c.id != source_id, _sources.c.occurrence_count > 0)
    move_counts(db, path, new_path, source_id if _find(db, *others, limit=1) else None)


def move_path(db: Connection, path: str, new_path: str) -> None:
    """Lead all sources of a path to another one; where that has sources, they become its newest."""
    newest = next_generation(db, new_path) - 1
    values = {"path": new_path, "path_hash": digest(new_path), "generation": _sources.c.generation + newest}
    move_counts(db, path, new_path)
    db.execute(update(_sources).where(_sources.c.path_hash == digest(path)).values(values))


def remove_source(db: Connection, source_id: int) -> None:
    """Remove a source that has no occurrences."""
    db.execute(delete(_sources).where(_sources.c.id == source_id))


def overlap(db: Connection, source: Row[Any], copy: Row[Any]) -> bool:
    """Tell whether events of a copy begin in what was read of the source."""
    within = (_occurrences.source_id == copy.id, _occurrences.byte_start < source.offset)
    return db.execute(select(_occurrences.id).where(*within).limit(1)).first() is not None


def join_sources(db: Connection, source: Row[Any], copy: Row[Any]) -> None:
    """Give a source the file, the checkpoint and the events of its copy, which goes."""
    move_occurrences(db, copy.id, source.id)
    remove_source(db, copy.id)
    taken = {name: getattr(copy, name) for name in _OF_FILE}
    taken["reading"] = (Tally.read(source.reading) + Tally.read(copy.reading)).document()
    change_source(db, source.id, occurrence_count=source.occurrence_count + copy.occurrence_count, status="ok", **taken)


def beginnings(db: Connection, module_id: int | None, heads: Sequence[str], size: int) -> list[Row[Any]]:
    """Return sources of a module with one of these prefix hashes and at most `size` bytes read, longest first."""
    read = (_sources.c.offset > 0, _sources.c.offset <= size)
    known = select(_sources).where(_same_module(module_id), *read)
    return sorted(rows.among(db, known, _sources.c.prefix_hash, heads), key=_longest_first)


def longer(db: Connection, module_id: int | None, head: str, family: str, size: int) -> list[Row[Any]]:
    """Return sources of a module of which more than `size` bytes were read: of a name family, or with that head.

    The ones read last, and only so many that all of them can be looked at.
    """
    alike = or_(_sources.c.prefix_hash == head, _sources.c.family == family)
    return _find(db, _same_module(module_id), _sources.c.offset > size, alike, order=_READ_LAST, limit=_MAX_LONGER)


def has_family(db: Connection, module_id: int | None, family: str) -> bool:
    """Tell whether a file of a module and name family was read that no connector found."""
    drops = (_sources.c.connector_id.is_(None), _sources.c.offset > 0)
    return bool(_find(db, _same_module(module_id), _sources.c.family == family, *drops, limit=1))


def head_lengths(db: Connection, module_id: int | None, longest: int) -> list[int]:
    """Return the lengths that short heads of a module's sources have, in order."""
    lengths = select(_sources.c.prefix_length).distinct()
    short = lengths.where(_same_module(module_id), _sources.c.prefix_length > 0, _sources.c.prefix_length <= longest)
    return list(db.execute(short.order_by(_sources.c.prefix_length)).scalars())


def relatives(db: Connection, node: str, identity: str, family: str, head: str) -> list[Row[Any]]:
    """Return sources of an inode or a name family that something was read of, longest first.

    `head` is the hash of the file's head: of its family only sources are wanted that may begin with it.
    """
    possible = or_(_sources.c.prefix_hash == head, _sources.c.prefix_length < PREFIX_BYTES)
    found: dict[int, Row[Any]] = {}
    for where in (_sources.c.identity == identity, (_sources.c.family == family) & possible):
        found |= {row.id: row for row in _find(db, where, *_READ_FILE, node=node)}
    return sorted(found.values(), key=_longest_first)


def latest_of_family(db: Connection, node: str, family: str, limit: int) -> list[Row[Any]]:
    """Return the sources of a name family that were read last."""
    return _find(db, _sources.c.family == family, *_READ_FILE, node=node, order=_READ_LAST, limit=limit)


def left_since(db: Connection, node: str, moment: str) -> list[Row[Any]]:
    """Return the sources read at or after a time whose file left its path."""
    return _find(db, _sources.c.imported_at >= moment, _sources.c.status == "missing", node=node)


def _longest_first(row: Row[Any]) -> tuple[int, int]:
    return -row.offset, row.id


def _same_module(module_id: int | None) -> ColumnElement[bool]:
    return _sources.c.module_id == module_id  # IS NULL for none


def imported_since(db: Connection, moment: str) -> list[Row[Any]]:
    """Return the sources read at or after a time."""
    return _find(db, _sources.c.imported_at >= moment, order=(_sources.c.id,))


def was_read_since(db: Connection, moment: str) -> bool:
    """Tell whether a source was read at or after a time."""
    return bool(_find(db, _sources.c.imported_at >= moment, limit=1))


def in_place(db: Connection, node: str, after_id: int, limit: int) -> list[Row[Any]]:
    """Return a page, by id, of the newest sources of paths that neither a connector nor a sender feeds."""
    newer = _sources.alias()
    replaced = exists().where(newer.c.path_hash == _sources.c.path_hash, newer.c.generation > _sources.c.generation)
    if node:
        replaced = replaced.where(newer.c.node == _sources.c.node)
    unfed = (_sources.c.connector_id.is_(None), _sources.c.log_type != PUSHED)
    return _find(db, _sources.c.id > after_id, *unfed, ~replaced, node=node, order=(_sources.c.id,), limit=limit)


def has_stale_source(db: Connection, current: Sequence[str], parser_version: int) -> bool:
    """Tell whether a source that was read under other settings than these, or by an older parser, exists."""
    stale = _sources.c.read_under.not_in(current) | (_sources.c.parser_version < parser_version)
    return bool(_find(db, stale, _sources.c.log_type != PUSHED, limit=1))


def chosen_sources(db: Connection, source_id: int | None, module_id: int | None, node: str) -> list[tuple[int, int]]:
    """Return id and size read of sources: one, those of a module, or all; an empty node is any."""
    found = select(_sources.c.id, _sources.c.offset).where(*_chosen(source_id, module_id)).order_by(_sources.c.id)
    if node:
        found = found.where(or_(_sources.c.node == node, _sources.c.log_type == PUSHED))
    return [(row.id, row.offset) for row in db.execute(found)]


def nodes_of(db: Connection, source_id: int | None, module_id: int | None) -> list[str]:
    """Return the nodes that have files of the chosen sources."""
    files = select(_sources.c.node).where(*_chosen(source_id, module_id), _sources.c.log_type != PUSHED)
    return list(db.execute(files.distinct().order_by(_sources.c.node)).scalars())


def _chosen(source_id: int | None, module_id: int | None) -> list[ColumnElement[bool]]:
    given = ((_sources.c.id, source_id), (_sources.c.module_id, module_id))
    return [column == value for column, value in given if value is not None]


def newest_first() -> Select[Any]:
    """Select sources with their modules, newest import first."""
    found = stored.with_module(select(_sources), _sources.c.module_id)
    return found.order_by(_sources.c.imported_at.desc(), _sources.c.path, _sources.c.id)


def take_off(db: Connection, by_source: Mapping[int, int]) -> None:
    """Lower the numbers of occurrences that sources have."""
    changed = [{"row_id": source_id, "fewer": number} for source_id, number in sorted(by_source.items()) if number]
    if changed:
        fewer = _sources.c.occurrence_count - bindparam("fewer")
        db.execute(update(_sources).where(_sources.c.id == bindparam("row_id")).values(occurrence_count=fewer), changed)


def forget_connector(db: Connection, connector_id: int) -> None:
    """Let sources of a connector that is deleted go on without it."""
    db.execute(update(_sources).where(_sources.c.connector_id == connector_id).values(connector_id=None))


def last_event_at(db: Connection, source_id: int) -> str | None:
    """Return the time of the event of a source that stands last in it."""
    of_source = select(_occurrences.occurred_at).where(_occurrences.source_id == source_id)
    found: str | None = db.scalar(of_source.order_by(_occurrences.byte_start.desc()).limit(1))
    return found


def occurrence(db: Connection, occurrence_id: int) -> Row[Any] | None:
    """Return id, issue, source and bytes of an occurrence."""
    columns = ("id", "issue_id", "source_id", "byte_start", "byte_end")
    found = select(*(_occurrences[name] for name in columns)).where(_occurrences.id == occurrence_id)
    return db.execute(found).first()


def occurrences_from(db: Connection, source_id: int, position: int, limit: int) -> Sequence[Row[Any, Any, Any, Any]]:
    """Return a page of a source's occurrences from a position on: id, bytes and event id."""
    columns = (_occurrences.id, _occurrences.byte_start, _occurrences.byte_end, _occurrences.event_id)
    found = select(*columns).where(_occurrences.source_id == source_id, _occurrences.byte_start >= position)
    return db.execute(found.order_by(_occurrences.byte_start).limit(limit)).all()


def occurrences_within(db: Connection, source_id: int, start: int, end: int) -> list[Row[Any]]:
    """Return the occurrences of a source that may touch bytes [start, end), in order: id, start and end."""
    found = select(_occurrences.id, _occurrences.byte_start, _occurrences.byte_end)
    found = found.where(_occurrences.source_id == source_id).order_by(_occurrences.byte_start)
    before = found.where(_occurrences.byte_start < start).order_by(None).order_by(_occurrences.byte_start.desc())
    within = found.where(_occurrences.byte_start >= start, _occurrences.byte_start < end)
    return [*db.execute(before.limit(1)), *db.execute(within)]


def occurrence_at(db: Connection, source_id: int, start: int, end: int) -> Row[Any] | None:
    """Return the last occurrence of a source that touches bytes [start, end): id, issue, time and severity."""
    names = ("id", "issue_id", "occurred_at", "time_source", "severity", "byte_end")
    found = select(*(_occurrences[name] for name in names))
    here = (_occurrences.source_id == source_id, _occurrences.byte_start < end)
    row = db.execute(found.where(*here).order_by(_occurrences.byte_start.desc()).limit(1)).first()
    return row if row is not None and row.byte_end > start else None


def nearest_event(
    db: Connection, source_id: int, position: int, severities: Sequence[str], most: int, *, back: bool
) -> int | None:
    """Return the first byte of the next occurrence behind a byte, or the last before it, with one of some severities.

    At most so many occurrences are looked at.
    """
    place = _occurrences.byte_start
    here = (_occurrences.source_id == source_id, place < position if back else place > position)
    order = place.desc() if back else place.asc()
    some = select(place, _occurrences.severity).where(*here).order_by(order).limit(most).subquery()
    found = some.c.byte_start
    wanted = select(func.max(found) if back else func.min(found)).where(some.c.severity.in_(severities))
    return db.execute(wanted).scalar()


def times_from(
    db: Connection, source_id: int, position: int, limit: int, *, back: bool = False
) -> list[Row[Any, Any, Any]]:
    """Return first byte, time and whence it is of the next occurrences from a byte on; `back`: the last before it."""
    found = select(_occurrences.byte_start, _occurrences.occurred_at, _occurrences.time_source)
    place = _occurrences.byte_start
    here = (_occurrences.source_id == source_id, place < position if back else place >= position)
    return list(db.execute(found.where(*here).order_by(place.desc() if back else place).limit(limit)).all())


def all_to_search(db: Connection, source_id: int | None) -> tuple[int, int, int]:
    """Return the greatest id, the number and the bytes of the sources that `files_to_search` gives."""
    last, number, size = func.max(_sources.c.id), func.count(), func.sum(_sources.c.size)
    row = db.execute(select(last, number, size).where(*_searched(source_id))).one()
    return row[0] or 0, row[1], int(row[2] or 0)


def files_to_search(db: Connection, source_id: int | None) -> list[Row[Any]]:
    """Return id, path, channel and size of the files that something was read of, or of one source, whatever it is."""
    names = ("id", "path", "channel", "size")
    return list(db.execute(select(*(_sources.c[name] for name in names)).where(*_searched(source_id))).all())


def next_to_search(db: Connection, source_id: int | None, last_id: int, limit: int) -> list[Row[Any]]:
    """Return the next of these sources, the newest first, from an id downwards."""
    return _find(db, _sources.c.id <= last_id, *_searched(source_id), order=(_sources.c.id.desc(),), limit=limit)


def _searched(source_id: int | None) -> list[ColumnElement[bool]]:
    return list(_READ_FILE) if source_id is None else [_sources.c.id == source_id]


def events_between(db: Connection, source_id: int, start: int, end: int, limit: int | None) -> list[Row[Any]]:
    """Return the first occurrences of a source that begin from one byte on and before another.

    First byte, end, time, whence it is, and the fingerprint they were grouped by.
    """
    names = ("byte_start", "byte_end", "occurred_at", "time_source")
    columns: list[ColumnElement[Any]] = [*(_occurrences[name] for name in names), _groupings.fingerprint]
    within = (_occurrences.byte_start >= start, _occurrences.byte_start < end)
    here = (_occurrences.source_id == source_id, _groupings.id == _occurrences.grouping_id)
    found = select(*columns).where(*here, *within).order_by(_occurrences.byte_start)
    return list(db.execute(found.limit(limit)).all())


def generations(db: Connection, source: Row[Any]) -> list[Row[Any]]:
    """Return a source and the older ones of its path on its node, the newest first."""
    here = (_sources.c.path_hash == source.path_hash, _sources.c.node == source.node)
    order, limit = (_sources.c.generation.desc(),), _MAX_GENERATIONS
    return _find(db, *here, _sources.c.generation <= source.generation, order=order, limit=limit)


def issues_in_short(db: Connection, issue_ids: Sequence[int]) -> list[RowMapping]:
    """Return what a line about an issue tells, in the order of the ids; those that are gone are left out."""
    shown = select(*(_issues[name] for name in _IN_SHORT)).order_by(_issues.id)
    return [row._mapping for row in rows.among(db, shown, _issues.id, issue_ids)]


def find_module(db: Connection, slugs: Sequence[str], name_keys: Sequence[str]) -> int | None:
    """Return the first module with one of these slugs, else with one of these folded names."""
    for column, values in ((_modules.slug, slugs), (_modules.name_key, name_keys)):
        found = db.execute(select(_modules.id).where(column.in_(values)).order_by(_modules.id).limit(1)).scalar()
        if found is not None:
            return int(found)
    return None


def module_slug(db: Connection, module_id: int) -> str | None:
    """Return the slug of a module."""
    return db.execute(select(_modules.slug).where(_modules.id == module_id)).scalar()


def new_source(path: str, generation: int, node: str) -> dict[str, Any]:
    """Return the columns of a source of which nothing was read yet."""
    now = times.now()
    return {
        **dict.fromkeys(("size", "offset", "first_byte", "prefix_length", "occurrence_count"), 0),
        **dict.fromkeys(("prefix_hash", "block_hash", "content_hash"), ""),
        **{"path": path, "path_hash": digest(path), "generation": generation, "node": node[:64], "status": "ok"},
        **{"imported_at": now, "created_at": now},
    }
