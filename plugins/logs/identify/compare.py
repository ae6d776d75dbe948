"""How the content of a file compares with what was read of a source, and with another file.

Two kinds of files hold less than what was read. Copies that were made while the writer went on: rotation by copy and
truncation leaves such a file, and lines that came between the two are nowhere else any more. And logs that were cut
down to their first lines, or archives that were damaged and came once more. Nothing is kept of single lines: what
tells are the events that are stored. Where the file begins with them, at the same bytes, with the same times of their
own and alike in what they say, it is a part. Events without a time of their own tell nothing, since a program that is
started again writes the same again.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, file_at, grouping_key
from snaglist.plugins.logs.identify.fingerprint import BLOCK_BYTES, PREFIX_BYTES, Trail, begins_with, is_rotated_name
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.files import OpenFile, open_file
from snaglist.plugins.logs.read.open_entries import Unfinished
from snaglist.plugins.logs.read.parsing import FileChanged, ParseFailure, parse, read_with, reader_again
from snaglist.plugins.logs.store import coverage, queries

CHUNK_BYTES = 256 * 1024
_PAGE = 1_000


def holds(path: Path, source: Row[Any], copy: OpenFile | None = None) -> bool:
    """Tell whether a file holds, at its beginning, what was read of a source, and all bytes of a copy if one is given.

    It is opened once for both: a rotation may put another file, even the copy itself, at the path between two looks.
    """
    try:
        with open_file(path) as file:
            trail = Trail.resume(file, file.head(PREFIX_BYTES), source)
            if trail is None:
                return False
            trail.close()
            return copy is None or _contains(file, copy, 0)
    except (OSError, ValueError):
        return False


def identity_of(path: Path) -> str:
    """Return device and inode of a path, empty when nothing is there."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


def contains(path: Path, file: OpenFile, start: int = 0) -> bool:
    """Tell whether the file at a path holds all bytes of another file, from one position on, in the same places."""
    try:
        with open_file(path) as other:
            return _contains(other, file, start)
    except OSError:
        return False


def _contains(other: OpenFile, file: OpenFile, start: int) -> bool:
    with other.content(start) as theirs, file.content(start) as ours:
        while data := ours.read(BLOCK_BYTES):
            if theirs.read(len(data)) != data:
                return False
    return True


def behind_entries(file: OpenFile, head: bytes, row: Row[Any], trail: Trail) -> Trail:
    """Return the trail behind the whole entries that a file has in common with a source.

    `trail` is behind all that was read of the source. When that ends within a line, the file goes on with that line
    in another way: it is a line of both.
    """
    end = trail.position
    unfinished = Unfinished.of(row)
    with file.content(max(0, end - 2)) as stream:
        if unfinished is None or stream.read(min(end, 2)).endswith((b"\n", b"\n\0")):
            return trail
    trail.close()
    whole = Trail.start(file, head)
    if not whole.advance(unfinished.pieces[-1].start):
        raise FileChanged
    return whole


def is_begun(call: Call, file: OpenFile, head: bytes, row: Row[Any]) -> bool:
    """Tell whether a file is a copy that was only begun: nothing can be said before it holds a line."""
    return is_rotated_name(file.state.name) and b"\n" not in head and contains(file_at(call, row.path), file)


def shorter_copy(call: Call, file: OpenFile, head: bytes, row: Row[Any]) -> Trail | None:
    """Return the trail behind all bytes of a file that are a part of what was read of a source, else None.

    The log itself is never taken for a copy, however it begins. While the original is there its bytes decide;
    afterwards the head has to be the same, and each event that was stored of the first bytes has to be found there.
    Raises FileChanged when the copy became as long as that meanwhile.
    """
    original = file_at(call, row.path)
    if not is_rotated_name(file.state.name) or original == file.state.path or b"\n" not in head:
        return None
    if len(head) >= row.prefix_length and not begins_with(head, row):
        return None
    copy = Trail.start(file, head)
    with ExitStack() as unless_found:
        unless_found.callback(copy.close)
        if copy.advance(row.offset):
            if copy.columns()["content_hash"] == row.content_hash:
                raise FileChanged
            return None
        if not holds(original, row, file) and not _same_events(call, file, head, row, copy.position):
            return None
        unless_found.pop_all()
    return copy


def _same_events(call: Call, file: OpenFile, head: bytes, row: Row[Any], size: int) -> bool:
    """Tell whether the head of a file of that size gives all events that are stored of the source's first bytes."""
    end = min(size, len(head))
    with call.transaction(write=False) as db:
        stored = [one for one in queries.events_between(db, row.id, 0, end, None) if one.byte_end <= end]
    if not stored:
        return bool(len(head) >= row.prefix_length == PREFIX_BYTES)

    def read(parsers: Sequence[Parser]) -> list[Event]:
        reader = reader_again(call.service, head, row, parsers=parsers, start=0, modified_at=file.state.modified_at)
        return [*parse(lambda: reader.feed(head)), *parse(reader.close)]

    try:
        found = {(event.byte_start, event.byte_end): event for event in read_with(call.service, call, read)}
    except ParseFailure:
        return False
    pairs = [(found.get((one.byte_start, one.byte_end)), one) for one in stored]
    timed = any(one.time_source == "event" for one in stored)
    return timed and all(event is not None and _same_time(event, one) for event, one in pairs)


def _same_time(event: Event, before: Row[Any]) -> bool:
    """Tell whether an event has its time from the same place as a stored one, and if it is its own, the same."""
    of_event = event.time_source == "event"
    return bool(event.time_source == before.time_source and (not of_event or event.occurred_at == before.occurred_at))


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
    if event.byte_start != before.byte_start or not _same_time(event, before):
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
