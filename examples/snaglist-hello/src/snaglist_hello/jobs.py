"""Background work: safe to repeat, one short transaction at a time."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, delete, select

from snaglist.kernel import Call, times
from snaglist.plugins.system import JobCall
from snaglist_hello.tables import words

KIND = "hello_forget"


def due(call: Call) -> Mapping[str, Any] | None:
    """Return the arguments of a run that is needed now, or None."""
    return {} if call.db.execute(select(words.c.id).where(_old(call)).limit(1)).first() else None


def forget(call: JobCall) -> dict[str, int]:
    """Forget words that nothing was seen of for long."""
    with call.transaction() as db:
        gone = db.execute(delete(words).where(_old(call))).rowcount
    call.progress(gone, gone)
    return {"forgotten": gone}


def _old(call: Call) -> ColumnElement[bool]:
    return words.c.seen_at < times.add(call.now, days=-call.setting("hello.keep_days"))
