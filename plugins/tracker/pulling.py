"""Pulling: all pages in the order of the last change, each stored together with the position behind it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from snaglist.kernel import Conflict, times
from snaglist.plugins.system import JobCall
from snaglist.plugins.tracker import position
from snaglist.plugins.tracker import settings as stored
from snaglist.plugins.tracker.contract import AnswerTooLong, Page, Tracker, TrackerFailure, Viewer
from snaglist.plugins.tracker.position import Position
from snaglist.plugins.tracker.settings import Settings
from snaglist.plugins.tracker.storing import Stored, store

MAX_FRUITLESS = 5  # pages without anything new; one is usual where a list goes on by time
CIRCLE = "The tracker gives the same page again and again."
MOVED = "The settings were changed; the next pull begins anew."


def pull(call: JobCall, settings: Settings, tracker: Tracker) -> Mapping[str, Any]:
    """Pull until nothing is left, from the saved position on."""
    where = call.read(lambda db: position.load(db, settings.generation))
    phase = where.phase
    resumed = where.cursor is not None
    where, done = where.begun(), Stored()
    viewer = tracker.viewer() if settings.assigned_to_me else None
    size = int(call.setting("tracker.page_size"))
    before: set[tuple[str, str]] = set()
    visited: set[str] = set()
    fruitless = 0
    while True:
        call.check_cancelled()
        try:
            page, size = _page(tracker, where, size)
        except TrackerFailure as error:
            if not (error.refused and resumed):
                raise
            # Cursors do not live for ever: the pass begins anew, and what is read twice does no harm.
            where, resumed = where.anew(), False
            continue
        resumed = False
        seen = {(item.id, item.updated_at) for item in page.items}  # a page may begin with the end of the one before
        page = replace(page, items=[item for item in page.items if (item.id, item.updated_at) not in before])
        before = seen
        fruitless = fruitless + 1 if seen and not page.items else 0
        place = json.dumps(page.cursor)
        if page.cursor is not None and (place in visited or fruitless > MAX_FRUITLESS):
            call.write(partial(_begin_anew, settings, where))
            raise TrackerFailure(CIRCLE)
        visited.add(place)
        where, stored_ = call.write(partial(_keep, call, settings, viewer, where, page))
        done.include(stored_)
        call.progress(done.pulled, text=f"{done.pulled} items")
        if page.cursor is None:
            break
    return {
        **asdict(done),
        "synced_at": where.synced_through,
        "phase": phase,
        "backfill_complete": where.backfill_complete,
    }


def _begin_anew(settings: Settings, where: Position, db: Connection) -> None:
    """Forget a place that leads nowhere, so that the next pull reads the whole pass again."""
    if stored.lock(db).generation == settings.generation:
        position.save(db, where.anew())


def _page(tracker: Tracker, where: Position, size: int) -> tuple[Page, int]:
    """Return a page, and how many items were asked for: fewer when their texts are too long together."""
    while True:
        try:
            return tracker.page(where.since, where.cursor, size), size
        except AnswerTooLong:
            if size == 1:
                raise
            size //= 2


def _keep(
    call: JobCall, settings: Settings, viewer: Viewer | None, where: Position, page: Page, db: Connection
) -> tuple[Position, Stored]:
    call.now = times.now()  # a pull may take long; each page has its own time
    if stored.lock(db).generation != settings.generation:
        raise Conflict(MOVED)
    done = store(call, settings, page.items, viewer)
    # A change of tomorrow would hide all others until then, as the next pull begins at the newest.
    newest = max((min(item.updated_at, call.now) for item in page.items), default=None)
    behind = replace(where.passed(newest, page.cursor, call.now), last_error=None, paused_until=None)
    position.save(db, behind)
    return behind, done
