"""Paths as databases hold them: what lies in the data directory relative to it, so that it can be moved or restored.

Everything else is absolute, and `snaglist sources move` re-points it.
"""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from sqlalchemy import BigInteger, Column, Connection, MetaData, String, Table, and_, delete, func, select, update

from snaglist.kernel import Call, digest
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.paths import path_of, path_text

CHUNK = 500
# Only what is needed here, because a schema step uses it: tables may have other columns when it runs.
_sources, _facets = (
    Table(name, MetaData(), *(Column(one, BigInteger) for one in numbers), *(Column(one, String) for one in texts))
    for name, numbers, texts in (
        ("sources", ("id", "generation"), ("path", "path_hash")),
        ("issue_facets", ("issue_id", "count"), ("facet", "value", "value_hash", "first_seen", "last_seen")),
    )
)


def stored_path(call: Call, path: str | Path) -> str:
    """Return a path as it is stored: as text, relative to the data directory when it lies there.

    A text is one that `path_text` made.
    """
    text = path if isinstance(path, str) else path_text(path)
    return text.removeprefix(f"{path_text(call.service.settings.data)}{os.sep}")


def show_path(call: Call, path: str | Path) -> str:
    """Return a path as the caller may see it: relative to the data directory, else in full or its base name."""
    stored = stored_path(call, path)
    return stored if not os.path.isabs(stored) or call.may("connectors.write") else os.path.basename(stored)


def file_at(call: Call, stored: str) -> Path:
    """Return where a file lies whose path was stored so."""
    return call.service.settings.data / path_of(stored)


def _move_paths(db: Connection, moved: Mapping[str, str]) -> None:
    """Give sources and what is counted by their paths other paths, for the step below."""
    for path, new_path in sorted(moved.items()):
        there = _sources.c.path_hash == digest(new_path)
        newest = db.execute(select(func.max(_sources.c.generation)).where(there)).scalar() or 0
        _move_counts(db, path, new_path)
        values = {"path": new_path, "path_hash": digest(new_path), "generation": _sources.c.generation + newest}
        db.execute(update(_sources).where(_sources.c.path_hash == digest(path)).values(values))


def _move_counts(db: Connection, path: str, new_path: str) -> None:
    of_file, there = (
        and_(_facets.c.facet == "source", _facets.c.value_hash == digest(one)) for one in (path, new_path)
    )
    for issue_ids in chunks(list(db.execute(select(_facets.c.issue_id).where(there)).scalars()), CHUNK):
        some = _facets.c.issue_id.in_(issue_ids)
        for row in db.execute(select(_facets).where(of_file, some)).all():
            here = (there, _facets.c.issue_id == row.issue_id)
            known = db.execute(select(_facets).where(*here)).one()
            values = {
                "count": known._mapping["count"] + row._mapping["count"],
                "first_seen": min(known.first_seen, row.first_seen),
                "last_seen": max(known.last_seen, row.last_seen),
            }
            db.execute(update(_facets).where(*here).values(values))
        db.execute(delete(_facets).where(of_file, some))
    db.execute(update(_facets).where(of_file).values(value=new_path, value_hash=digest(new_path)))


def make_relative(db: Connection) -> None:
    """Store the paths of sources as `stored_path` does, where a version before it stored all of them absolute."""
    paths = [path for path in db.execute(select(_sources.c.path).distinct()).scalars() if os.path.isabs(path)]
    relative = relative_to_data(db, paths)
    stored = {path: path_text(Path(relative.get(path, path))) for path in paths}
    _move_paths(db, {path: text for path, text in stored.items() if text != path})


def relative_to_data(db: Connection, paths: Collection[str]) -> dict[str, str]:
    """Return, for a schema step, the stored form of those absolute paths that lie, or lay, in the data directory.

    The directory may have been elsewhere: `applications/<id>/processed` and the like at the end of a path tell. An
    earlier place is one whose folders are gone or are those of another installation; what happens to be called so
    and was read where it is stays as it is.
    """
    application = db.get_execution_options()["stepped"]
    data, own = application.folder.parent.parent, f"applications/{application.id}/"
    inside = re.compile(rf"(/.*|)/(?={re.escape(own)}(?:logs|processed|sources)/)", re.DOTALL)
    found: dict[str, str] = {}
    elsewhere: dict[str, list[str]] = {}
    for path in paths:
        if path.startswith(f"{data}{os.sep}"):
            found[path] = path[len(str(data)) + 1 :]
        elif match := inside.match(path):
            elsewhere.setdefault(match[1], []).append(path)
    for root, some in elsewhere.items():
        tails = {path: path[len(root) + 1 :] for path in some}
        if _was_here(Path(root), data, own, tails.values()):
            found |= tails
    return found


def _was_here(root: Path, data: Path, own: str, tails: Collection[str]) -> bool:
    """Tell whether a data directory that files were in is the one that is at `data` now."""
    there = root / own
    if there.exists():
        return (there / "processed").is_dir() and (there / "sources").is_dir()  # of what this is a copy of
    kept = (f"{own}processed/", f"{own}sources/")
    return any(tail.startswith(kept) or (data / tail).exists() for tail in tails)
