"""`sources move`: files that are read where they are went elsewhere, and their sources follow by the paths alone."""

import os
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from snaglist.kernel import Application, Call, Conflict, Invalid
from snaglist.plugins.issues import file_at, show_path, stored_path
from snaglist.plugins.logs.collect.command import turn
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.tables import sources as _sources
from snaglist.plugins.system import COMMAND_LINE, Session, table

_SHOWN = 3


def move(session: Session, old: str, new: str, *, everywhere: bool, dry_run: bool) -> list[dict[str, Any]]:
    """Move the sources of files at or below a path, of one application or of all; returns what each moved.

    Raises Invalid for paths that are no prefix to replace, and Conflict, before any application is changed, when
    files would get the path of another source.
    """
    service = session.open()
    if not os.path.isabs(old):
        raise Invalid("OLD: must be an absolute path, as sources and issues show it")
    before, after = os.path.normpath(old), os.path.abspath(new)
    if before == after:
        raise Invalid("NEW: is the same path as OLD")
    chosen = service.applications.all() if everywhere else [session.application()]
    found = [_look(Call(service, application, COMMAND_LINE), before, after) for application in chosen]
    if not dry_run:
        for application in chosen:
            _move(session, application, before, after)
    return found


def _look(call: Call, before: str, after: str) -> dict[str, Any]:
    with call.transaction(write=False):
        moved = _moved(call, before, after)
        per_path = select(_sources.c.path, func.count()).group_by(_sources.c.path)
        sources = sum(number for path, number in call.db.execute(per_path) if path in moved)
    missing = sum(not file_at(call, path).exists() for path in moved.values())
    return {"application": call.application.id, "sources": sources, "files": len(moved), "missing": missing}


def _move(session: Session, application: Application, before: str, after: str) -> None:
    call = Call(session.open(), application, COMMAND_LINE)

    def work() -> None:
        with call.transaction() as db:
            for path, new_path in sorted(_moved(call, before, after).items()):
                queries.move_path(db, path, new_path)

    with turn(session, call):  # no import may read at the old place meanwhile
        call.repeat(work)


def _moved(call: Call, before: str, after: str) -> dict[str, str]:
    """Return the new stored path of each path that changes; Conflict when another source has it."""
    rows = call.db.execute(select(_sources.c.path).where(_sources.c.log_type != queries.PUSHED).distinct())
    paths = set(rows.scalars())
    moved = {}
    for path in paths:
        here = str(file_at(call, path))
        if here == before or here.startswith(f"{before.rstrip(os.sep)}{os.sep}"):
            moved[path] = stored_path(call, Path(after + here[len(before.rstrip(os.sep)) :]))
    taken = sorted(path for path in moved.values() if path in paths and path not in moved)
    if taken:
        shown = ", ".join(show_path(call, path) for path in taken[:_SHOWN])
        more = f" and {len(taken) - _SHOWN} more" if len(taken) > _SHOWN else ""
        raise Conflict(f"{call.application.id}: other sources are at {shown}{more} already; nothing was moved.")
    return moved


def report(moved: list[dict[str, Any]], *, dry_run: bool) -> str:
    """Return the result as a table."""
    rows = [[each[name] for name in ("application", "sources", "files", "missing")] for each in moved]
    said = table(["APPLICATION", "SOURCES", "FILES", "NOT THERE"], rows)
    if not any(each["sources"] for each in moved):
        return f"{said}\nNo source is at that path or below it."
    return f"{said}\nNothing was changed: this was a dry run." if dry_run else said
