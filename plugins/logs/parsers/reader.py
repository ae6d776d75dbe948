"""From the bytes of one file to events: choosing the format, framing entries."""

from collections import deque
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser, Wrapped
from snaglist.plugins.logs.parsers.building import Builder, Limits, usable
from snaglist.plugins.logs.parsers.built_in import BUILT_IN
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.described import describe
from snaglist.plugins.logs.parsers.entry import Entry
from snaglist.plugins.logs.parsers.formats import Formats
from snaglist.plugins.logs.parsers.glued import is_glued, split_objects
from snaglist.plugins.logs.parsers.heads import Head
from snaglist.plugins.logs.parsers.journal_export import ExportLines, is_export
from snaglist.plugins.logs.parsers.judging import Earlier, Judge
from snaglist.plugins.logs.parsers.levels_first import plain
from snaglist.plugins.logs.parsers.lines import Line, Lines, sniff
from snaglist.plugins.logs.parsers.traces import follow

SAMPLE_BYTES = 65536
MAX_WAITING = 1000  # entries held back while one that began before them goes on


class Reader:
    """Read one file. Feed it the bytes from `start` on, in pieces of any size; the events are the same.

    `sample` is the beginning of the file. `zone_known`: somebody said that times without an offset are of the `zone`.
    `log_type` and `encoding`, when given, are what an earlier reader of the same file chose. `complete` is the byte up
    to which everything was handed out, `primary` the parser of the file. `whole`, after `close`: the last line has its
    end. `earlier` gives bytes of the file before `start`, for a reader that goes on in a file of several MiB.
    """

    def __init__(
        self,
        sample: bytes,
        *,
        start: int = 0,
        zone: str = "UTC",
        zone_known: bool = False,
        modified_at: str,
        now: str,
        channel: str = "",
        parsers: Sequence[Parser] = BUILT_IN,
        log_type: str | None = None,
        encoding: str | None = None,
        fallback_encoding: str = "latin-1",
        capture_limit: int = 4194304,
        message_limit: int = 120000,
        context_limit: int = 12000,
        earlier: Earlier | None = None,
    ) -> None:
        sample = sample[:SAMPLE_BYTES]
        found, mark = sniff(sample, fallback_encoding)
        self.encoding = encoding or found
        self._lines = _open_lines(sample, self.encoding, start, mark, capture_limit, fallback_encoding)
        self._capture_limit = capture_limit
        self._parsers = parsers
        self._dates = (zone, modified_at, now)
        self._entry: Entry | None = None  # the one that took the last line
        self._opened: deque[Entry] = deque()  # those that are not handed out, as they began
        self._streams: dict[str, Entry] = {}  # those that may go on, by the stream that they are of
        self._lines_seen = 0
        lines = _sample_lines(sample, self.encoding, mark, fallback_encoding)
        self._formats = Formats(parsers, lines, log_type)
        self._console = self._formats.console
        self.primary = self._formats.primary
        self.log_type = self.primary.log_type
        nearest, back = ("", 0) if start else self._look_ahead(lines)
        clock = self._clock(back=back)
        limits = Limits(message_limit, context_limit)
        self._builder = Builder(
            self._formats, clock, limits, channel=channel, modified_at=modified_at, zone_known=zone_known
        )
        self._builder.nearest = nearest
        self._judge: Judge | None = None
        if self.primary is self._console:
            self._judge = Judge(self._console, start, self.encoding, fallback_encoding, earlier)
        self.complete = start
        self.whole = True
        self.undecoded = self.blank = 0

    @cached_property
    def layout(self) -> dict[str, Any] | None:
        """Where the lines of the file have what, as a JSON document; `sentence` is for people. None of no lines."""
        return describe(self._formats, self._parsers)

    @property
    def dayless(self) -> bool:
        """Tell whether a time without a date was read: which day it is depends on where reading began."""
        return self._builder.dayless

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes and return the events that they completed."""
        events: list[Event] = []
        judge = self._judge
        for line in self._lines.feed(data):
            if judge is not None and line.start >= judge.at:
                judge.take(line)
            self._frame(line, events)
        self.complete = self._opened[0].start if self._opened else self._lines.position
        return events

    def close(self) -> list[Event]:
        """Return what is still open, marked provisional: more of it may come.

        Before it comes what only a last line without its end has completed, and which may yet go on with that line.
        """
        events: list[Event] = []
        last = self._lines.close()
        self.whole = last is None
        self.undecoded = self._lines.undecoded
        # Blanks may begin a line whose rest comes later: its bytes begin with them.
        self.blank = last.end - last.start if last is not None and not last.text.strip() else 0
        done: list[Event] = []
        if last is not None and self.primary.header(last.text) is DIRECTIVE:
            # Half a line may look like one: it is an entry until its end comes, as any other half of a line is.
            self._open(Entry(self._console, plain(last.text), last, self._capture_limit), done)
        elif last is not None:
            self._frame(last, done)
        for entry in self._opened:
            entry.closed = True
        self._hand_out(events)
        for event in events:
            event.provisional = True
        return [*done, *events]

    def _look_ahead(self, lines: Sequence[str]) -> tuple[str, int]:
        """Return the first usable time of the sample, and how far dates without year or day go back."""
        scratch = self._clock(bounded=False)
        nearest = ""
        for line in lines:
            header = self.primary.header(line)
            if header is None or header is DIRECTIVE:
                continue
            if type(header) is Wrapped:
                time = scratch.read(*header.stamp) if header.stamp[0] else ""
            else:
                time = usable(self.primary.event(header, (), scratch).occurred_at)
            nearest = nearest or time
            if nearest and not scratch.relative:
                break
        self.primary.prime(lines)
        return nearest, scratch.steps_back()

    def _clock(self, *, back: int = 0, bounded: bool = True) -> Clock:
        clock = Clock(*self._dates, back=back, bounded=bounded)
        clock.order = self._console.layout.order
        return clock

    def _frame(self, line: Line, events: list[Event]) -> None:
        """Open an entry with the line or append it to the one before."""
        self._lines_seen += 1
        parser = self.primary
        header = parser.header(line.text)
        if header is None:
            if is_glued(line.text):
                parts = split_objects(line)
                if len(parts) > 1:
                    for part in parts:
                        self._frame(part, events)
                    return
            found = self._other(line)
            if found is None:
                return
            parser, header = found
        stream = ""
        if type(header) is Wrapped:
            stream = header.key
            if self._joins(parser, header, line):
                return
        elif type(header) is Head:
            stream = header.tags
            if self._repeats(header, line):
                return
        elif header is DIRECTIVE:
            self._close_others(None)
            self._hand_out(events)
            return
        self._open(Entry(parser, header, line, self._capture_limit, stream), events)

    def _open(self, entry: Entry, events: list[Event]) -> None:
        """Take an entry up; those that it ends are handed out, in the order in which they began."""
        header = entry.header
        if type(header) is Head:
            entry.severity = header.severity
            entry.state = follow.begins(header.message)
            entry.blank = not header.message.strip()
            entry.column = len(entry.text) - len(header.message) if header.severity else 0
        elif type(header) is Wrapped:
            entry.partial = header.partial
            entry.state = follow.begins(header.text)
        entry.touched = self._lines_seen
        if len(self._opened) == 1 and self._opened[0].stream == entry.stream:  # most files have a single stream
            events.append(self._builder.build(self._opened[0]))
            self._opened[0] = entry
        else:
            self._close_others(entry)
            self._opened.append(entry)
            self._hand_out(events)
        self._streams[entry.stream] = self._entry = entry

    def _close_others(self, entry: Entry | None) -> None:
        """End the entries that cannot go on behind a line that opens `entry`."""
        if entry is not None and (before := self._streams.pop(entry.stream, None)) is not None:
            before.closed = True
        for other in list(self._streams.values()):
            if entry is None or not other.outlasts(self._lines_seen):
                other.closed = True
                del self._streams[other.stream]
        while len(self._opened) > MAX_WAITING and not self._opened[0].closed:
            self._opened[0].closed = True
            self._streams.pop(self._opened[0].stream, None)

    def _hand_out(self, events: list[Event]) -> None:
        """Finish the entries that ended and have none before them that goes on."""
        while self._opened and self._opened[0].closed:
            events.append(self._builder.build(self._opened.popleft()))
        if not self._opened:
            self._entry = None
            self._streams.clear()

    def _append(self, entry: Entry, text: str, line: Line) -> None:
        """Append a line to an entry, which is the current one from now on."""
        entry.add(text, line)
        entry.bare = True
        entry.touched = self._lines_seen
        self._entry = entry

    def _other(self, line: Line) -> tuple[Parser, Any] | None:
        """Handle a line that is no header of the file's format: None when it was appended or is nothing."""
        text, entry = line.text, self._entry
        if entry is None:
            if not text.strip():
                return None
            return self._formats.foreign(text) or (self._console, self._console.within(text) or plain(text))
        if entry.open:
            entry.open = entry.parser.incomplete(text, True)
            self._append(entry, text, line)
            return None
        if text[:1] == "[" and (tagged := self._tagged(text)) is not None:
            self._append(tagged, text, line)
            return None
        if self._goes_on(entry, text):
            self._append(entry, text, line)
            return None
        found = self._formats.foreign(text)
        if found is not None:
            return found
        if line.cut or not entry.parser.multiline or type(entry.header) is Wrapped:
            return self._console, self._console.within(text) or plain(text)
        if entry.parser is self._console and self._console.opens(text, entry.severity, entry.state):
            return self._console, plain(text)
        entry.state = follow.begins(text)
        self._append(entry, text, line)
        return None

    def _tagged(self, text: str) -> Entry | None:
        """Return the open entry of the request whose tags stand in front of a line without a header."""
        if len(self._streams) == 1 and "" in self._streams:
            return None
        return next((entry for tags, entry in self._streams.items() if tags[:1] == "[" and text.startswith(tags)), None)

    def _repeats(self, head: Head, line: Line) -> bool:
        """Append a line with a header of its own to the entry that it goes on with.

        Loggers that write line by line put the header before every line of a trace: time, level and tags are the
        same, and what follows is the middle of a trace, or stands below a line that says nothing.
        """
        entry = self._streams.get(head.tags)
        if entry is None or type(entry.header) is not Head or not head.severity or entry.bare:
            return False
        if entry.stale(self._lines_seen):
            return False
        traced = head.spelled == "TRACE" and head.stamp == entry.header.stamp  # a level of its own for traces
        if entry.header.form != head.form or (
            entry.severity != head.severity and not traced and entry.state in ("", "android")
        ):
            return False
        message = _behind_name(line.text[entry.column :] if entry.column else head.message, entry.header.message)
        if head.by_line and (not head.form or entry.blank or not message.strip()):
            fits = True
        elif entry.state:
            state = follow.advance(entry.state, message)
            fits = state != ""
            entry.state = state or entry.state
        elif head.stamp == entry.header.stamp and follow.begins(message) == "python":
            fits = True
        else:
            fits = follow.is_trace(message) if head.by_line else follow.is_frame(message)
        if fits:
            entry.state = entry.state or follow.begins(message)
            self._append(entry, message, line)
            entry.bare = False
        return fits

    def _goes_on(self, entry: Entry, text: str) -> bool:
        """Tell whether a line can only be the middle of something."""
        if entry.state:
            entry.state = follow.advance(entry.state, text)
            if entry.state:
                return True
        if follow.continues(text):
            entry.state = entry.state or follow.begins(text)
            return True
        return False

    def _joins(self, parser: Parser, header: Wrapped, line: Line) -> bool:
        """Append a wrapped line to the entry it goes on with; False when it opens one."""
        entry = self._streams.get(header.key)
        if entry is None or entry.parser is not parser:
            return False
        if entry.partial:
            entry.extend(header.text, line)
            entry.touched, self._entry = self._lines_seen, entry
            entry.partial = header.partial
            return True
        if entry is not self._entry and entry.stale(self._lines_seen):
            return False
        if self._formats.within(header) is not None:
            return False
        indented = entry is self._entry and header.text[:1] == "\t"
        if header.each and not entry.state and not indented and not follow.is_trace(header.text):
            return False
        if not self._goes_on(entry, header.text):
            console = self._formats.console_of(header.channel)
            if header.each or console.opens(header.text, entry.severity, entry.state):
                return False
            entry.state = follow.begins(header.text)
        self._append(entry, header.text, line)
        entry.partial = header.partial
        return True


def _behind_name(text: str, first: str) -> str:
    """Return a text without the name that stands in front of it and of the first line of its entry."""
    name = first.partition(" ")[0]
    return text[len(name) + 1 :] if "." in name and text.startswith(name + " ") else text


def _open_lines(sample: bytes, encoding: str, start: int, mark: int, limit: int, fallback: str) -> Lines | ExportLines:
    if is_export(sample):
        return ExportLines(start=start, limit=limit)
    return Lines(encoding, start=start, mark=0 if start else mark, limit=limit, fallback=fallback)


def _sample_lines(sample: bytes, encoding: str, mark: int, fallback: str) -> list[str]:
    """Return the whole lines of the sample, and the last one when nothing seems to follow it."""
    reader = _open_lines(sample, encoding, 0, mark, SAMPLE_BYTES, fallback)
    lines = reader.feed(sample)
    last = reader.close()
    if last is not None and (len(sample) < SAMPLE_BYTES or not lines):
        lines.append(last)
    return [part.text for line in lines for part in split_objects(line)]
