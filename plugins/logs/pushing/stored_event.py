"""Reading a pushed event back from its stored text."""

from sqlalchemy import select

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, tables
from snaglist.plugins.logs.pushing.document import event_of
from snaglist.plugins.logs.pushing.packing import unpack

_occurrences, _sources = tables.occurrences, tables.sources


def read_pushed(call: Call, occurrence_id: int) -> Event | None:
    """Return the event of an occurrence, None when it has no stored text; needs an open transaction."""
    document = unpack(call.db, occurrence_id)
    if document is None:
        return None
    rows = select(_occurrences, _sources.c.channel).join(_sources, _sources.c.id == _occurrences.c.source_id)
    row = call.db.execute(rows.where(_occurrences.c.id == occurrence_id)).one()
    event = event_of(document, row.context_preview or "")
    event.occurred_at, event.time_source, event.severity = row.occurred_at, row.time_source, row.severity
    event.environment, event.release, event.server_name = row.environment, row.release, row.server_name
    event.channel, event.event_id, event.truncated = row.channel, row.event_id, row.truncated
    event.byte_start, event.byte_end = row.byte_start, row.byte_end
    event.preview = row.context_preview or ""
    return event
