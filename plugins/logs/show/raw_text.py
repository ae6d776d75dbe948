"""Raw bytes of sources: the text of one event, and a whole file page by page. Only recorded files are opened."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from sqlalchemy import Row, select

from snaglist.kernel import Call, NotFound
from snaglist.plugins.issues import RANK, Event, file_at, read_back, show_path, stored
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, begins_with
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.pushing import pushed_text
from snaglist.plugins.logs.read.files import OpenFile, open_file
from snaglist.plugins.logs.read.parsing import ParseFailure, parse, read_with, reader_again
from snaglist.plugins.logs.show.feeds import count_feeds, line_feed, split_lines
from snaglist.plugins.logs.show.shown import shown_lines, shown_text
from snaglist.plugins.logs.store import coverage, queries

MAX_CONTENT = 4 * 1024 * 1024
MAX_AROUND = 256 * 1024  # bytes looked at on each side for context lines
MAX_COUNTED = 1 << 30  # bytes before a line whose number is counted: half a second
MAX_EVENTS = 50_000  # looked at for the next one of a level
_SCAN = 256 * 1024
_EARLIER = 4096  # bytes of the line before a page
_COUNTED = 1 << 20
GONE = "Raw source is no longer available."


def event_text(call: Call, occurrence_id: int, context: int) -> dict[str, Any]:
    """Return the answer of `source` for one occurrence."""
    with call.transaction(write=False) as db:
        row = queries.occurrence(db, occurrence_id)
        source = queries.source_by_id(db, row.source_id) if row else None
    if row is None or source is None:
        raise NotFound("Unknown occurrence.")
    if source.log_type == queries.PUSHED:
        return _pushed_event(call, row, source)
    feed = line_feed(source.encoding)
    with opened(call, source) as stream:
        content = _read(stream, row.byte_start, min(row.byte_end - row.byte_start, MAX_CONTENT))
        if len(content) < min(row.byte_end - row.byte_start, MAX_CONTENT):
            raise NotFound(GONE)
        before: list[bytes] = []
        after: list[bytes] = []
        if context:
            begin = max(0, row.byte_start - MAX_AROUND)
            before = split_lines(_read(stream, begin, row.byte_start - begin), feed)[-context - 1 :]
            after = split_lines(_read(stream, row.byte_end, MAX_AROUND), feed)[:context]
    return {
        **_place(row, source),
        "byte_start": row.byte_start,
        "byte_end": row.byte_end,
        "path": show_path(call, source.path),
        "content": shown_text(call, content, source.encoding),
        "truncated": row.byte_end - row.byte_start > MAX_CONTENT,
        "before": "".join(_whole_lines(call, before, source.encoding)[-context:]) if context else "",
        "after": "".join(_whole_lines(call, after, source.encoding, b"".join(split_lines(content, feed)[-1:]))),
    }


def _whole_lines(call: Call, lines: Sequence[bytes], encoding: str, earlier: bytes = b"") -> list[str]:
    feed = line_feed(encoding)
    texts = shown_lines(call, lines, encoding, earlier)
    return [f"{text}\n" if line.endswith(feed) else text for text, line in zip(texts, lines, strict=True)]


def _place(row: Row[Any], source: Row[Any]) -> dict[str, Any]:
    of_source = {name: getattr(source, name) for name in ("log_type", "channel", "encoding")}
    return {"occurrence": row.id, "group_id": row.issue_id, **of_source}


def _pushed_event(call: Call, row: Row[Any], source: Row[Any]) -> dict[str, Any]:
    """Return the stored text of a pushed event; the place of its row is a number that says nothing."""
    with call.transaction(write=False):
        event = read_back(call, row.id)
    if event is None:
        raise NotFound(GONE)
    text = pushed_text(event)
    place = {**_place(row, source), "byte_start": 0, "byte_end": len(text.encode()), "path": source.path}
    return {**place, "content": text, "truncated": False, "before": "", "after": ""}


def whole_source(
    call: Call, source_id: int, *, offset: int, lines: int, tail: bool, line: int | None = None, numbered: bool = False
) -> dict[str, Any]:
    """Return the answer of `source` for a page of a whole source; `line` counts from 1 and wins over `offset`.

    `numbered`: the number of the first line is counted, where it is not far from the beginning.
    """
    with call.transaction(write=False) as db:
        source = queries.source_by_id(db, source_id)
    if source is None:
        raise NotFound("Unknown source.")
    feed = line_feed(source.encoding)
    with opened(call, source) as stream:
        if line is not None:
            offset = _skip_lines(stream, 0, line - 1, source.size, source.encoding)
        start, data, following = _page(stream, source.size, offset, lines, tail, source.encoding)
        number = line_number(stream, start, source.encoding) if numbered else None
        begin = max(0, start - _EARLIER)
        earlier = split_lines(_read(stream, begin, start - begin), feed)[-1:]
    shown = split_lines(data, feed)[:lines]
    with call.transaction(write=False) as db:
        places = queries.occurrences_within(db, source.id, start, start + len(data))
    return {
        "source_id": source.id,
        "path": show_path(call, source.path),
        "size": source.size,
        "offset": start,
        "next_offset": following,
        "line": number,
        "lines": _numbered(shown_lines(call, shown, source.encoding, b"".join(earlier)), shown, start, places),
        **coverage.shown_reading(source),
    }


def nearest_event(call: Call, source_id: int, offset: int, which: str, level: str) -> int:
    """Return where the `next` event behind a byte of a source, or the `previous` one, begins; NotFound without one.

    `level`: the mildest severity that counts.
    """
    wanted = [name for name, rank in RANK.items() if rank <= RANK[level]]
    with call.transaction(write=False) as db:
        found = queries.nearest_event(db, source_id, offset, wanted, MAX_EVENTS, back=which == "previous")
    if found is None:
        side = "before" if which == "previous" else "after"
        raise NotFound(f"None of the nearest {MAX_EVENTS:,} stored events {side} this place is {level} or worse.")
    return found


def _page(
    stream: BinaryIO, size: int, offset: int, lines: int, tail: bool, encoding: str
) -> tuple[int, bytes, int | None]:
    """Return where a page starts, its bytes, and where the next one starts."""
    feed = line_feed(encoding)
    if tail:
        begin = max(0, size - MAX_CONTENT)
        data = b"".join(split_lines(_read(stream, begin, size - begin), feed)[-lines:])
        return size - len(data), data, None
    start = _line_start(stream, min(offset, size), feed)
    read = _read(stream, start, min(MAX_CONTENT, max(0, size - start)))
    pieces = split_lines(read, feed)
    complete = start + len(read) >= size
    if not complete and len(pieces) > 1:
        pieces.pop()
    data = b"".join(pieces[:lines])
    following = start + len(data)
    if not complete and len(pieces) == 1:  # one line longer than a page: the next page is behind it
        following = _skip_lines(stream, following, 1, size, encoding)
    return start, data, following if following < size else None


def _line_start(stream: BinaryIO, offset: int, feed: bytes) -> int:
    offset -= offset % len(feed)
    end = offset
    while end > 0:
        begin = max(0, end - _SCAN)
        pieces = split_lines(_read(stream, begin, end - begin), feed)
        if pieces and pieces[-1].endswith(feed):
            return end
        if len(pieces) > 1:
            return end - len(pieces[-1])
        end = begin
    return 0


def line_number(stream: BinaryIO, start: int, encoding: str) -> int | None:
    """Return the number, from 1 on, of the line that begins at a byte; None where counting would take too long."""
    if start > MAX_COUNTED:
        return None
    stream.seek(0)
    position, number = 0, 1
    while position < start and (data := stream.read(min(_COUNTED, start - position))):
        number += count_feeds(data, encoding)
        position += len(data)
    return number


def _skip_lines(stream: BinaryIO, position: int, count: int, size: int, encoding: str) -> int:
    """Return where the next line but `count` begins; the end of the file when it has fewer. Reads up to there."""
    feed = line_feed(encoding)
    while count > 0 and position < size:
        # A multiple of the feed's length at a time, so that no feed is cut in two.
        data = _read(stream, position, min(_SCAN, size - position))
        if not data:
            return size
        ended = count_feeds(data, encoding)
        if count <= ended:
            return position + sum(map(len, split_lines(data, feed)[:count]))
        count -= ended
        position += len(data)
    return position


def _numbered(
    texts: Sequence[str], lines: Sequence[bytes], start: int, places: Sequence[Row[Any]]
) -> list[dict[str, Any]]:
    """Give each line its offset and the occurrence it belongs to; both lists are in order."""
    shown = []
    following = iter(places)
    place = next(following, None)
    for text, line in zip(texts, lines, strict=True):
        while place is not None and place.byte_end <= start:
            place = next(following, None)
        # A byte order mark stands before the first event, in its line.
        inside = place is not None and place.byte_start < start + len(line)
        shown.append({"offset": start, "text": text, "occurrence": place.id if place is not None and inside else None})
        start += len(line)
    return shown


@contextmanager
def opened(call: Call, source: Row[Any]) -> Iterator[BinaryIO]:
    """Open the content of a recorded file that still begins as it was read; NotFound when it is not there any more."""
    with opened_file(call, source) as file, file.content() as stream:
        yield stream


@contextmanager
def opened_file(call: Call, source: Row[Any]) -> Iterator[OpenFile]:
    """Open a recorded file as `opened` does."""
    if call.service.file_node not in ("", source.node):
        raise NotFound(f"Raw source is on node {source.node}.")
    try:
        if source.log_type == queries.PUSHED:  # it has no file
            raise NotFound(GONE)
        with open_file(file_at(call, source.path)) as file:
            if not begins_with(file.head(PREFIX_BYTES), source):
                raise NotFound(GONE)
            yield file
    except (OSError, ValueError) as error:
        raise NotFound(GONE) from error


def _read(stream: BinaryIO, start: int, length: int) -> bytes:
    stream.seek(start)
    return stream.read(length)


_occurrences = stored.occurrences


def read_event(call: Call, occurrence_id: int) -> Event | None:
    """Return the event of an occurrence as its file still has it; None when it has not, or was no file.

    What an event gets from its surroundings (a date without a year, a level by position) is taken from the
    occurrence. Needs an open transaction, in which only the database is read.
    """
    row = call.db.execute(select(*_occurrences).where(_occurrences.id == occurrence_id)).first()
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

    def earlier(place: int, size: int) -> bytes:
        with opened(call, source) as stream:
            stream.seek(place)
            return bytes(stream.read(size))

    def read(parsers: Sequence[Parser]) -> list[Event]:
        modified_at, start = source.modified_at or row.occurred_at, row.byte_start
        reader = reader_again(
            call.service, head, source, parsers=parsers, start=start, modified_at=modified_at, earlier=earlier
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
    event.occurred_at, event.time_source = row.occurred_at, row.time_source
    event.severity, event.level_source = row.severity, row.level_source or ""
    event.environment, event.release, event.server_name = row.environment, row.release, row.server_name
    event.user = row.user_name
    event.byte_end, event.provisional, event.truncated = row.byte_end, row.provisional, row.truncated
    return event
