"""Hours older than a week become days: their rows are summed up, one day of one source in a transaction."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection

from snaglist.kernel import Call
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.access_analytics import queries
from snaglist.plugins.access_analytics.storing import Counted, day_of, folded_before, merge
from snaglist.plugins.system import JobCall

JOB = "access-fold"
SETTING = "access.folded"  # everything before this time is folded


def due(call: Call) -> Mapping[str, Any] | None:
    """Ask for a run when a day got too old since the last one."""
    return {} if _folded(call) < folded_before(call.now) else None


def run(call: JobCall) -> Mapping[str, Any]:
    """Fold the days that got too old; returns how many of them, each source on its own."""
    end = folded_before(call.now)
    days = call.read(lambda db: queries.unfolded(db, _folded(call), end))
    for done, (source_id, day) in enumerate(days):
        call.check_cancelled()
        call.write(partial(_fold, source_id, day))
        call.progress(done + 1, len(days), day)
    call.write(lambda db: put_setting(db, SETTING, end))
    return {"days": len(days)}


def _folded(call: Call) -> str:
    return str(get_setting(call.db, SETTING) or "")


def _fold(source_id: int, day: str, db: Connection) -> None:
    folded: Counted = {}
    for sums in queries.take_out(db, source_id, day).values():
        merge(folded, {day_of(day): sums})
    queries.add(db, source_id, folded)
