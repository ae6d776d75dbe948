"""Copies of a log that end before what was read of their original: made while the writer went on.

Rotation by copy and truncation leaves such a file: lines that came between the two were read in the original,
are not in the copy, and are nowhere else any more.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, file_at
from snaglist.plugins.logs.identify.fingerprint import BLOCK_BYTES, PREFIX_BYTES, is_rotated_name
from snaglist.plugins.logs.identify.moved import holds
from snaglist.plugins.logs.identify.trail import Trail, begins_with
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.files import OpenFile, open_file
from snaglist.plugins.logs.read.open_entries import Unfinished
from snaglist.plugins.logs.read.parsing import FileChanged, ParseFailure, parse, read_with, reader_again
from snaglist.plugins.logs.store import queries


def contains(path: Path, file: OpenFile, start: int = 0) -> bool:
    """Tell whether the file at a path holds all bytes of another file, from one position on, in the same places."""
    try:
        with open_file(path) as other, other.content(start) as theirs, file.content(start) as ours:
            while data := ours.read(BLOCK_BYTES):
                if theirs.read(len(data)) != data:
                    return False
    except OSError:
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
    found = False
    try:
        if copy.advance(row.offset):
            if copy.columns()["content_hash"] == row.content_hash:
                raise FileChanged
            return None
        found = holds(original, row) and contains(original, file)
        found = found or _same_events(call, file, head, row, copy.position)
    finally:
        if not found:
            copy.close()
    return copy if found else None


def _same_events(call: Call, file: OpenFile, head: bytes, row: Row[Any], size: int) -> bool:
    """Tell whether the head of a file of that size gives all events that are stored of the source's first bytes."""
    end = min(size, len(head))
    with call.transaction(write=False) as db:
        stored = queries.event_times(db, row.id, end)
    if not stored:
        return bool(len(head) >= row.prefix_length == PREFIX_BYTES)

    def read(parsers: Sequence[Parser]) -> list[Event]:
        reader = reader_again(call.service, head, row, parsers=parsers, start=0, modified_at=file.state.modified_at)
        return [*parse(lambda: reader.feed(head)), *parse(reader.close)]

    try:
        events = read_with(call.service, call, read)
    except ParseFailure:
        return False
    found = {(event.byte_start, event.byte_end): event for event in events}
    timed = 0
    for start, stop, occurred_at, time_source in stored:
        event = found.get((start, stop))
        if event is None or event.time_source != time_source:
            return False
        if time_source == "event":
            timed += 1
            if event.occurred_at != occurred_at:
                return False
    return timed > 0
