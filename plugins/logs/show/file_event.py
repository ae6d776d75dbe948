"""One event of a file, parsed again from its bytes: the texts of single events are kept nowhere else."""

from collections.abc import Sequence

from sqlalchemy import select

from snaglist.kernel import Call, NotFound
from snaglist.plugins.issues import Event, tables
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.parsing import ParseFailure, parse, read_with, reader_again
from snaglist.plugins.logs.show.raw_text import opened
from snaglist.plugins.logs.store import queries

_occurrences = tables.occurrences


def read_event(call: Call, occurrence_id: int) -> Event | None:
    """Return the event of an occurrence as its file still has it; None when it has not, or was no file.

    What an event gets from its surroundings (a date without a year, a level by position) is taken from the
    occurrence. Needs an open transaction, in which only the database is read.
    """
    row = call.db.execute(select(_occurrences).where(_occurrences.c.id == occurrence_id)).first()
    source = queries.source_by_id(call.db, row.source_id) if row else None
    if row is None or source is None or source.log_type == queries.PUSHED:
        return None
    setting = call.setting
    try:
        with opened(call, source) as stream:
            stream.seek(0)
            head = stream.read(setting("ingestion.sample_bytes"))
            stream.seek(row.byte_start)
            content = stream.read(min(row.byte_end - row.byte_start, setting("ingestion.capture_limit")))
    except NotFound:
        return None

    def read(parsers: Sequence[Parser]) -> list[Event]:
        modified_at = source.modified_at or row.occurred_at
        reader = reader_again(
            call.service, head, source, parsers=parsers, start=row.byte_start, modified_at=modified_at
        )
        return [*parse(lambda: reader.feed(content)), *parse(reader.close)]

    try:
        events = read_with(call.service, call, read)
    except ParseFailure:
        return None
    found = [event for event in events if event.byte_start == row.byte_start]
    if not found:
        return None
    event = found[0]
    event.occurred_at, event.time_source, event.severity = row.occurred_at, row.time_source, row.severity
    event.environment, event.release, event.server_name = row.environment, row.release, row.server_name
    event.byte_end, event.provisional, event.truncated = row.byte_end, row.provisional, row.truncated
    return event
