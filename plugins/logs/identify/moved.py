"""Sources that follow their files to other paths, and sources whose file is not at its path any more."""

import os
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import Call
from snaglist.plugins.issues import EventSource, file_at, path_text, stored_path
from snaglist.plugins.logs import hookspecs
from snaglist.plugins.logs.identify.compare import holds, identity_of
from snaglist.plugins.logs.identify.fingerprint import name_family
from snaglist.plugins.logs.read.open_entries import settle
from snaglist.plugins.logs.read.portions import LineBatch
from snaglist.plugins.logs.store import deletions, queries
from snaglist.plugins.logs.store.sources import known_source


def lead(db: Connection, source_id: int, path: str, new_path: str, **values: Any) -> None:
    """Let a source follow its file to another path, in the open write transaction."""
    queries.move_source(db, source_id, new_path, **values)
    queries.move_events(db, source_id, path, new_path)


def leave(db: Connection, source: Row[Any]) -> None:
    """Note that the file of a source is not at its path any more; one that never held a byte goes."""
    if not source.offset and not source.occurrence_count:
        queries.remove_source(db, source.id)
        return
    queries.change_source(db, source.id, status="missing")
    settle(db, source)


def follow_file(call: Call, source: Row[Any], moving: frozenset[int] = frozenset()) -> bool:
    """Let a source follow its file to where that went in its folder, and before it the sources it displaces.

    False when the file is not found. A rotation moves several files at once; each source has to be out of the
    way before the next one takes its path.
    """
    path = successor(call, source)
    if path is None or source.id in moving:
        return False
    with call.transaction(write=False):
        other = known_source(call, path)
    if other is not None and other.offset and other.id != source.id:
        if holds(path, other):
            return _join(call, source, other, path)
        follow_file(call, other, moving | {source.id})
    with call.transaction() as db:
        displaced = known_source(call, path)
        if displaced is not None and displaced.id != source.id:
            leave(db, displaced)
        lead(db, source.id, source.path, stored_path(call, path), status="ok")
    return True


def successor(call: Call, source: Row[Any]) -> Path | None:
    """Return the file in the folder of a source that holds its content now."""
    former = file_at(call, source.path)
    try:
        with os.scandir(former.parent) as listing:
            files = sorted((entry.name, entry.path) for entry in listing if entry.is_file(follow_symlinks=False))
    except OSError:
        return None
    candidates = [Path(path) for name, path in files if path != str(former)]
    renamed = [path for path in candidates if identity_of(path) == source.identity]
    relatives = [path for path in candidates if name_family(path_text(path.name)) == source.family]
    return next((path for path in [*renamed, *relatives] if holds(path, source)), None)


def _join(call: Call, source: Row[Any], other: Row[Any], path: Path) -> bool:
    """Make one of two sources whose bytes the file at a path both holds: one was known as a copy of the other.

    The shorter one takes over what the longer one read behind it. A copy that was seen while it was made may have
    read nothing itself, and goes.
    """
    place = stored_path(call, path)
    shorter, longer = (source, other) if source.offset <= other.offset else (other, source)
    with call.transaction() as db:
        if not queries.overlap(db, shorter, longer):
            for one in (shorter, longer):
                queries.move_events(db, one.id, one.path, place)
            queries.join_sources(db, shorter, longer)
            deletions.join(db, shorter.id, longer.id)
            joined = EventSource(shorter.id, shorter.module_id, place)
            call.emit(hookspecs.lines_read, LineBatch(joined, (), log_type=longer.log_type, joined=longer.id))
            queries.move_source(db, shorter.id, place, status="ok")
        elif not shorter.occurrence_count:
            queries.remove_source(db, shorter.id)
            lead(db, longer.id, longer.path, place, status="ok")
        else:
            return False
    return True
