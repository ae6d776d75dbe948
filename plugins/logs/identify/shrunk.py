"""Logs that are shorter than what was read of them: cut down to their first lines, or emptied and filled anew.

And archives that were damaged and came once more: up to the damage they hold what was read of them.

Nothing is kept of single lines. What tells is the events that are stored: where the file begins with them, at the same
bytes, with the same times of their own and alike in what they say, it was cut down. Events without a time of their own
tell nothing, since a program that is started again writes the same again.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, grouping_key
from snaglist.plugins.logs.identify.trail import Trail
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.read.parsing import ParseFailure, parse, reader_again
from snaglist.plugins.logs.store import coverage, queries

CHUNK_BYTES = 256 * 1024
_PAGE = 1_000


def cut_down(call: Call, file: OpenFile, head: bytes, row: Row[Any], parsers: Sequence[Parser]) -> Trail | None:
    """Return the trail behind the events of a source that its file still begins with, None when there is none.

    The file is shorter than it was, or was a damaged archive. Outside a transaction.
    """
    told = row.status == "error" if file.state.compression else 0 < file.state.size < row.offset
    if not told:
        return None
    try:
        end = _end_of_known(call, file, head, row, parsers)
    except ParseFailure:
        return None
    if not end:
        return None
    trail = Trail.start(file, head)
    if trail.advance(end):
        return trail
    trail.close()
    return None


def _end_of_known(call: Call, file: OpenFile, head: bytes, row: Row[Any], parsers: Sequence[Parser]) -> int:
    """Return where the last event ends that is stored of these bytes, and has a time that says so."""
    stored = _stored(call, row)
    end = 0
    before = next(stored, None)
    for event in _events(call, file, head, row, parsers):
        if before is None or event.byte_start < before.byte_start:
            if coverage.was_counted(row.counted, event):  # or its row is gone: better counted twice than lost
                return end
            continue
        if not _is_same(event, before, row.module_id):
            return end
        timed = event.time_source == "event"
        if event.byte_end < before.byte_end:  # the cut went through it, if whole ones before say that there was one
            return event.byte_end if timed and end else end
        if timed:
            end = event.byte_end
        before = next(stored, None)
    return end


def _is_same(event: Event, before: Row[Any], module_id: int | None) -> bool:
    """Tell whether an event is a stored one, or what is left of its lines."""
    if event.byte_start != before.byte_start or event.time_source != before.time_source:
        return False
    if event.time_source == "event" and event.occurred_at != before.occurred_at:
        return False
    if event.byte_end == before.byte_end:
        return bool(grouping_key(event, module_id).fingerprint == before.fingerprint)
    return bool(event.byte_end < before.byte_end)


def _events(call: Call, file: OpenFile, head: bytes, row: Row[Any], parsers: Sequence[Parser]) -> Iterator[Event]:
    reader = reader_again(call.service, head, row, parsers=parsers, start=0, modified_at=file.state.modified_at)
    with file.content() as stream:
        while data := stream.read(CHUNK_BYTES):
            yield from parse(partial(reader.feed, data))
    rest = parse(reader.close)
    if reader.whole:  # a last line without its end may be any line
        yield from rest


def _stored(call: Call, row: Row[Any]) -> Iterator[Row[Any]]:
    """Give what is stored of the file, in order: also of older sources, when it shrank before."""
    with call.transaction(write=False) as db:
        parts = [(row, row.offset)]
        for older in queries.generations(db, row)[1:]:
            first = parts[-1][0].first_byte
            if not first:
                break
            parts.append((older, first))
    for source, end in reversed(parts):
        yield from _stored_of(call, source, end)


def _stored_of(call: Call, source: Row[Any], end: int) -> Iterator[Row[Any]]:
    position = source.first_byte
    while True:
        with call.transaction(write=False) as db:
            page = queries.events_between(db, source.id, position, end, _PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        position = page[-1].byte_start + 1
