"""Pushed channels: the rows of `sources` that stand for what senders push, and the text of a pushed event."""

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, digest
from snaglist.kernel.database import inserted_id
from snaglist.plugins.issues import Event, EventSource
from snaglist.plugins.logs.parsers import PARSER_VERSION
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.tables import sources as _sources

FOLDER = "http-ingest"
ATTEMPTS = 3
# PERF: run with every group of requests.
_COUNT = (
    update(_sources)
    .where(_sources.c.id == bindparam("source"))
    .values(occurrence_count=_sources.c.occurrence_count + bindparam("stored"), imported_at=bindparam("now"))
)
_FIND = select(_sources.c.id).where(_sources.c.path_hash == bindparam("hash")).order_by(_sources.c.id.desc()).limit(1)
_FIND_WITHOUT_MODULE = _FIND.where(_sources.c.module_id.is_(None))
_FIND_IN_MODULE = _FIND.where(_sources.c.module_id == bindparam("module"))


def pushed_source(call: Call, channel: str, module_id: int | None) -> EventSource:
    """Return the source of a channel of a module, made when it is missing, in the open write transaction."""
    slug = "-" if module_id is None else queries.module_slug(call.db, module_id)
    path = f"{FOLDER}/{slug}/{channel}"
    # A channel whose module was deleted stays with the module that took its sources over: the path begins anew.
    known = _FIND_WITHOUT_MODULE if module_id is None else _FIND_IN_MODULE
    for _ in range(ATTEMPTS):
        found = call.db.execute(known, {"hash": digest(path), "module": module_id}).scalar()
        if found is not None:
            return EventSource(found, module_id, path)
        try:
            with call.db.begin_nested():
                return EventSource(_add(call, path, channel, module_id), module_id, path)
        except IntegrityError:  # another writer was first
            continue
    raise RuntimeError("a pushed channel is made and removed again and again")


def count_pushed(call: Call, source_id: int, stored: int) -> None:
    """Add stored events to a pushed channel."""
    call.db.execute(_COUNT, {"source": source_id, "stored": stored, "now": call.now})


def pushed_text(event: Event) -> str:
    """Return what `source` shows of a pushed event: message, stack and context."""
    return "\n".join(part for part in (event.message, event.stack, event.context) if part)


def _add(call: Call, path: str, channel: str, module_id: int | None) -> int:
    row = queries.new_source(path, queries.next_generation(call.db, path), "")
    row |= {"log_type": queries.PUSHED, "channel": channel, "family": channel, "encoding": "utf-8", "timezone": "UTC"}
    row |= {"module_id": module_id, "parser_version": PARSER_VERSION}
    return inserted_id(call.db.execute(insert(_sources).values(row)))
