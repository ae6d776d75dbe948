"""Time and level of the entry that holds a line, as the parsers of the file read it."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import Event
from snaglist.plugins.logs.grep.scanning import AROUND, Found, Scan
from snaglist.plugins.logs.parsers import Reader
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.read.parsing import parse, parsers_of, reader_again
from snaglist.plugins.logs.show.feeds import find_feed
from snaglist.plugins.logs.store import queries

PIECE: Final = 32 << 10
NEAR: Final = 256 << 10  # so far a reader reads on; a new one costs as much
TIMED: Final = 50  # events that are asked for one with a time of its own


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of an entry: `time` in UTC, and `severity`; None where nothing is."""

    time: str | None
    severity: str | None


class Entries:
    """The entries of one file around lines that are asked for in order.

    A reader takes the 64 KiB before a line, and reads on from there while the lines that are asked for are near.
    Times of day without a date depend on where reading began: then the time of the last stored event counts.
    Raises ParseFailure or ParserFailed.
    """

    def __init__(self, call: Call, source: Row[Any], file: OpenFile) -> None:
        self._call, self._source, self._file = call, source, file
        self._parsers = parsers_of(call.service, call)
        self._head = file.head(call.setting("ingestion.sample_bytes"))
        self._reader: Reader | None = None
        self._dayless = False
        self._fed = 0
        self._events: deque[Event] = deque()
        self._time: str | None = None  # of the last entry with one of its own

    def of(self, scan: Scan, found: Found) -> Entry:
        """Return what is known of the entry that holds a line."""
        if self._reader is None or self._fed < scan.kept or found.start - self._fed > NEAR:
            self._reader = self._begin(scan, found.start)
        while self._reader is not None and self._reader.complete <= found.start:
            self._reader = self._read_on(self._reader, scan)
        while self._events and self._events[0].byte_end <= found.start:
            self._note_time(self._events.popleft())
        holding = None
        for event in self._events:
            if event.byte_start >= found.end:
                break
            self._note_time(event)
            if event.byte_end > found.start:
                holding = event
        time = self._time or self._stored_time(found.end)
        return Entry(time, holding.severity if holding is not None else None)

    def _note_time(self, event: Event) -> None:
        if event.time_source == "event" and not self._dayless:
            self._time = event.occurred_at

    def _begin(self, scan: Scan, start: int) -> Reader:
        """Return a reader that begins with a line before one, and with nothing of the file known but its head."""
        begin = max(scan.kept, start - AROUND)
        if begin:  # in the middle of a line, perhaps
            begin = min(start, begin + find_feed(scan.part(begin, start - begin), 0, scan.feed))
        self._events, self._time, self._fed = deque(), None, begin
        modified_at = self._source.modified_at or self._source.imported_at
        return reader_again(
            self._call.service,
            self._head,
            self._source,
            parsers=self._parsers,
            start=begin,
            modified_at=modified_at,
            earlier=None if self._file.state.compression else self._file.part,
        )

    def _read_on(self, reader: Reader, scan: Scan) -> Reader | None:
        """Feed a reader a piece; None when there is none: the file, or what is at hand of a longer entry, ends."""
        piece = scan.part(self._fed, PIECE)
        self._fed += len(piece)
        self._events += parse(lambda: reader.feed(piece)) if piece else parse(reader.close)
        self._dayless = reader.dayless
        return reader if piece else None

    def _stored_time(self, end: int) -> str | None:
        """Return the time of the last stored event before a byte that has one of its own."""
        with self._call.transaction(write=False) as db:
            rows = queries.times_from(db, self._source.id, end, TIMED, back=True)
        return next((row.occurred_at for row in rows if row.time_source == "event"), None)
