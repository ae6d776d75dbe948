"""From the bytes of one file to events: choosing the format, framing entries, filling in what they lack."""

import logging
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from snaglist.kernel import clip, times
from snaglist.plugins.issues import RANK, Event, clean
from snaglist.plugins.logs.parsers import severity
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser, Wrapped
from snaglist.plugins.logs.parsers.built_in import BUILT_IN
from snaglist.plugins.logs.parsers.clock import NO_TIME, NO_ZONE, Clock
from snaglist.plugins.logs.parsers.console import Console
from snaglist.plugins.logs.parsers.entry import Entry
from snaglist.plugins.logs.parsers.escaped import unescape_lines
from snaglist.plugins.logs.parsers.glued import split_objects
from snaglist.plugins.logs.parsers.heads import Head
from snaglist.plugins.logs.parsers.journal_export import ExportLines, is_export
from snaglist.plugins.logs.parsers.levels_first import plain
from snaglist.plugins.logs.parsers.lines import Line, Lines, sniff
from snaglist.plugins.logs.parsers.traces import follow
from snaglist.plugins.logs.parsers.watched import ParserFailed
from snaglist.plugins.logs.parsers.words import by_words

log = logging.getLogger("snaglist")

SAMPLE_BYTES = 65536
MAX_DEPTH = 4  # of wrappers within wrappers
MAX_CHANNELS, MIN_LINES = 50, 5  # that are learned each for itself, and the lines that it takes
MAX_WAITING = 1000  # entries held back while one that began before them goes on


class Reader:
    """Read one file. Feed it the bytes from `start` on, in pieces of any size; the events are the same.

    `sample` is the beginning of the file. `zone_known`: somebody said that times without an offset are of the `zone`.
    `log_type` and `encoding`, when given, are what an earlier reader of the same file chose. `complete` is the byte up
    to which everything was handed out, `primary` the parser of the file. `whole`, after `close`: the last line has its
    end.
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
    ) -> None:
        sample = sample[:SAMPLE_BYTES]
        found, mark = sniff(sample, fallback_encoding)
        self.encoding = encoding or found
        self._lines = _open_lines(sample, self.encoding, start, mark, capture_limit, fallback_encoding)
        self._capture_limit = capture_limit
        self._message_limit = message_limit
        self._context_limit = context_limit
        self._channel = channel
        self._modified_at = modified_at
        self._zone_known = zone_known
        self._dates = (zone, modified_at, now)
        self._parsers = [parser.fresh() for parser in parsers]
        self._consoles: dict[str, Console] = {}  # of the channels that a wrapper names
        self._console = Console()  # always last, whoever else takes part
        self._parsers = [parser for parser in self._parsers if not isinstance(parser, Console)] + [self._console]
        self._entry: Entry | None = None  # the one that took the last line
        self._opened: deque[Entry] = deque()  # those that are not handed out, as they began
        self._streams: dict[str, Entry] = {}  # those that may go on, by the stream that they are of
        self._lines_seen = 0
        lines = _sample_lines(sample, self.encoding, mark, fallback_encoding)
        self.primary = self._choose(lines, log_type)
        self._others = [parser for parser in self._parsers if parser is not self.primary]
        self.log_type = self.primary.log_type
        self._learn(lines)
        self._clock = Clock(*self._dates)
        self._nearest = ""
        if not start:
            self._look_ahead(lines)
        self.complete = start
        self.whole = True
        self.undecoded = 0

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes and return the events that they completed."""
        events: list[Event] = []
        for line in self._lines.feed(data):
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
        done: list[Event] = []
        if last is not None:
            self._frame(last, done)
        for entry in self._opened:
            entry.closed = True
        self._hand_out(events)
        for event in events:
            event.provisional = True
        return [*done, *events]

    def _choose(self, lines: Sequence[str], log_type: str | None) -> Parser:
        """Return the parser of the file: the known one, else the one with most headers in the sample.

        Parsers that fail at it take no part.
        """
        trial = [parser.fresh() for parser in self._parsers]
        best = self._parsers.index(self._console)
        score = 0
        broken: list[int] = []
        for index, parser in enumerate(trial):
            if parser.log_type == log_type:
                best = index
                break
            try:
                parser.prime(lines)
                claimed = sum(1 for line in lines if parser.header(line) is not None)
            except ParserFailed:  # whoever reads the file begins anew without it
                raise
            except Exception:  # one of our own: the file may be of another format
                log.exception("the parser %s failed and takes no part", parser.log_type)
                broken.append(index)
                continue
            if parser.log_type == self._console.log_type:
                claimed = claimed // 2  # any time in front is a header to it, so a tie is no choice
            if claimed > score:
                best, score = index, claimed
        chosen = self._parsers[best]
        self._parsers = [parser for index, parser in enumerate(self._parsers) if index not in broken]
        return chosen

    def _learn(self, lines: Sequence[str]) -> None:
        """Give the sample to the parsers that need it, what is wrapped in it to the console parser."""
        self.primary.prime(lines)
        headers = [self.primary.header(line) for line in lines]
        inner = [header for header in headers if type(header) is Wrapped]
        texts = [header.text for header in inner]
        if texts:
            for parser in self._others:
                parser.prime(texts)
        # The console parser once more when it is the primary one: it forgets the times of the lines just seen.
        self._console.prime(texts or lines)
        for channel, count in Counter(header.channel for header in inner).most_common(MAX_CHANNELS):
            if count >= MIN_LINES:
                console = self._consoles[channel] = Console()
                console.prime([header.text for header in inner if header.channel == channel])

    def _look_ahead(self, lines: Sequence[str]) -> None:
        """Find the first usable time of the sample, and how far dates without year or day go back."""
        scratch = Clock(*self._dates, bounded=False)
        for line in lines:
            header = self.primary.header(line)
            if header is None or header is DIRECTIVE:
                continue
            if type(header) is Wrapped:
                time = scratch.read(*header.stamp) if header.stamp[0] else ""
            else:
                time = _usable(self.primary.event(header, (), scratch).occurred_at)
            self._nearest = self._nearest or time
            if self._nearest and not scratch.relative:
                break
        self.primary.prime(lines)
        self._clock = Clock(*self._dates, back=scratch.steps_back())

    def _frame(self, line: Line, events: list[Event]) -> None:
        """Open an entry with the line or append it to the one before."""
        self._lines_seen += 1
        parser = self.primary
        header = parser.header(line.text)
        if header is None:
            if line.text[:1] == "{" and "}{" in line.text:
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
        self._close_others(entry)
        self._streams[entry.stream] = self._entry = entry
        self._opened.append(entry)
        entry.touched = self._lines_seen
        self._hand_out(events)

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
            events.append(self._build(self._opened.popleft()))
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
            return self._foreign(text) or (self._console, plain(text))
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
        found = self._foreign(text)
        if found is not None:
            return found
        if line.cut or not entry.parser.multiline or type(entry.header) is Wrapped:
            return self._console, plain(text)
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
        if entry.severity != head.severity or entry.header.form != head.form:
            return False
        message = line.text[entry.column :] if entry.column else head.message
        if head.by_line and (not head.form or entry.blank or not message.strip()):
            fits = True
        elif entry.state:
            state = follow.advance(entry.state, message)
            fits = state != ""
            entry.state = state or entry.state
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

    def _foreign(self, text: str) -> tuple[Parser, Any] | None:
        """Return the first other parser that the line is a header of."""
        for parser in self._others:
            header = parser.foreign(text)
            if header is not None:
                return parser, header
        return None

    def _inner(self, header: Wrapped) -> tuple[Parser, Any] | None:
        """Return the parser of a wrapped text, and what it says; each channel is a file of its own."""
        for parser in self._parsers:
            if parser is self._console:
                console = self._consoles.get(header.channel, self._console)
                found: Any = console.within(header.text)
            else:
                found = parser.foreign(header.text)
            if found is not None and found is not DIRECTIVE:
                return parser, found
        return None

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
        if self._inner(header) is not None:
            return False
        if header.each and not entry.state and not follow.is_trace(header.text):
            return False
        if not self._goes_on(entry, header.text):
            if header.each or self._console.opens(header.text, entry.severity, entry.state):
                return False
            entry.state = follow.begins(header.text)
        self._append(entry, header.text, line)
        entry.partial = header.partial
        return True

    def _build(self, entry: Entry) -> Event:
        """Make the event and fill in what the format does not say."""
        lines = entry.body()
        event = self._event(entry.parser, entry.header, lines, 0)
        event.byte_start, event.byte_end = entry.start, entry.end
        event.truncated, event.provisional = entry.cut, False
        if not event.severity:
            event.severity, event.level_source = _guess(event)
        if event.occurred_at:
            self._nearest = event.occurred_at
        else:
            event.occurred_at = self._nearest or self._modified_at
            event.time_source = "file"
        event.channel = clean(event.channel or self._channel)
        self._limit(event)
        return event

    def _event(self, parser: Parser, header: Any, lines: Sequence[str], depth: int) -> Event:
        if type(header) is not Wrapped:
            self._clock.sure = NO_TIME
            event = parser.event(header, lines, self._clock)
            event.occurred_at = _usable(event.occurred_at)
            if event.severity not in RANK:
                event.severity = severity.by_name(event.severity)
            if event.severity and not event.level_source:
                event.level_source = "line" if event.access is None else "request"
            event.log_type, event.family = parser.log_type, parser.family
            return event
        if "#012" in header.text:
            header.text, *more = unescape_lines(header.text).split("\n")
            lines = [*more, *lines]
        inner = self._inner(header) if depth < MAX_DEPTH else None
        if inner is None:
            inner = self._console, plain(header.text)
        parser_within, header_within = inner
        event = self._event(parser_within, header_within, lines, depth + 1)
        if parser_within is self._console:
            event.log_type = parser.log_type
        self._date(event, header.stamp)
        if not event.severity and header.severity:
            event.severity, event.level_source = header.severity, "wrapper"
        event.channel = event.channel or header.channel
        event.server_name = event.server_name or header.server_name
        event.context = " ".join(part for part in (event.context, header.context) if part)
        return event

    def _date(self, event: Event, stamp: tuple[str, str]) -> None:
        """Choose between the time within and that of the wrapper: the one that says more of itself counts.

        A time without a zone is as sure as one with a zone where the operator set the zone of the file.
        """
        within = self._clock.sure if event.occurred_at else NO_TIME
        time = self._clock.read(*stamp) if stamp[0] else ""
        if not time:
            return
        if within < self._clock.sure and not (self._zone_known and within == NO_ZONE):
            event.occurred_at = time

    def _limit(self, event: Event) -> None:
        """Cut what is longer than stored."""
        if len(event.message) > self._message_limit:
            event.message = clip(event.message, self._message_limit)
            event.truncated = True
        if len(event.context) > self._context_limit:
            event.context = clip(event.context, self._context_limit)
            event.truncated = True
        if len(event.stack) > self._message_limit:
            event.stack = _middle_cut(event.stack, self._message_limit)
            event.truncated = True


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


def _middle_cut(text: str, limit: int) -> str:
    """Keep the first and the last lines of a stack, and say how many are gone."""
    head = text[: limit * 3 // 4 - 50]
    tail = text[len(text) - limit // 4 + 50 :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :]
    gone = text.count("\n", len(head), len(text) - len(tail))
    return f"{head}    … {gone} lines omitted …\n{tail}"


def _guess(event: Event) -> tuple[str, str]:
    """Return the severity of an entry that says none, and by what it was found."""
    if event.exceptions or event.stack:
        return "ERROR", "trace"
    found = by_words(event.message)
    return (found, "words") if found else ("INFO", "none")


def _usable(time: str) -> str:
    """Return a time of a parser in the contract's form, "" when it is none: a plugin need not have asked the clock."""
    if not time or times.is_time(time):
        return time
    try:
        return times.parse(time)
    except (TypeError, ValueError):
        return ""
