"""How far the pull is: saved with each page, so that one that was interrupted goes on where it stopped."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection

from snaglist.kernel import times
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.tracker import queries

SETTING = "tracker.position"
OVERLAP_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Position:
    """Where the pull is. It means something only for settings of the same `generation`.

    `since` and `cursor` belong to the pass that goes on, `newest` is the last change seen in it. `mark` is that of the
    last whole pass: only later changes are read. `tried_at` is when a pull ended last, however it ended;
    `paused_until` is when the tracker may be asked again.
    """

    generation: int = 0
    since: str | None = None
    cursor: Any = None
    newest: str | None = None
    mark: str | None = None
    backfill_complete: bool = False
    synced_through: str | None = None
    tried_at: str | None = None
    paused_until: str | None = None
    last_error: str | None = None

    @property
    def phase(self) -> str:
        """Return what a pull from here on is: the first of all items, or of those that changed since."""
        return "incremental" if self.backfill_complete else "backfill"

    def passed(self, newest: str | None, cursor: Any, now: str) -> "Position":
        """Return the position behind a page whose latest change is `newest`; a whole pass when `cursor` is None."""
        newest = max(filter(None, (self.newest, newest)), default=None)
        if cursor is not None:
            return replace(self, newest=newest, cursor=cursor)
        mark = max(filter(None, (self.mark, newest)), default=None)
        return replace(
            self, since=None, cursor=None, newest=None, mark=mark, backfill_complete=True, synced_through=now
        )

    def begun(self) -> "Position":
        """Return the position to read from: that of the pass that goes on, or of a new one."""
        if self.cursor is not None:
            return self
        since = times.add(self.mark, seconds=-OVERLAP_SECONDS) if self.mark else None
        return replace(self, since=since, newest=None)

    def anew(self) -> "Position":
        """Return the position at the beginning of the pass that goes on."""
        return replace(self, cursor=None, newest=None)


def load(db: Connection, generation: int) -> Position:
    """Return the position of settings; that of other ones counts for nothing."""
    stored: Mapping[str, Any] = get_setting(db, SETTING) or {}
    found = Position(**stored)
    return found if found.generation == generation else Position(generation)


def save(db: Connection, position: Position) -> None:
    """Store the position."""
    put_setting(db, SETTING, asdict(position))


def forget(db: Connection) -> None:
    """Forget the position."""
    queries.delete_setting(db, SETTING)
