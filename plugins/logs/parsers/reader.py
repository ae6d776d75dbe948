"""From the bytes of one file to events: choosing the format, framing entries, filling in what they lack."""

import logging
from collections.abc import Sequence
from typing import Any

from snaglist.kernel import clip, times
from snaglist.plugins.issues import RANK, Event, clean
from snaglist.plugins.logs.parsers import severity
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser, Wrapped
from snaglist.plugins.logs.parsers.built_in import BUILT_IN
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.console import Console, Head, plain
from snaglist.plugins.logs.parsers.entry import Entry
from snaglist.plugins.logs.parsers.glued import is_glued, split_objects
from snaglist.plugins.logs.parsers.journal_export import ExportLines, is_export
from snaglist.plugins.logs.parsers.lines import Line, Lines, sniff
from snaglist.plugins.logs.parsers.traces import follow
from snaglist.plugins.logs.parsers.watched import ParserFailed

log = logging.getLogger("snaglist")

SAMPLE_BYTES = 65536
MAX_DEPTH = 4  # of wrappers within wrappers
MAX_WAITING = 1000  # entries held back while another stream's line within them is incomplete


class Reader:
    """Read one file. Feed it the bytes from `start` on, in pieces of any size; the events are the same.

    `sample` is the beginning of the file. `log_type` and `encoding`, when given, are what an earlier
    reader of the same file chose. `complete` is the byte up to which everything was handed out, `primary` the parser of
    the file. `layout`: where its lines have what, as a JSON document; its `sentence` is for people. `whole`, after
    `close`: the last line has its end.
    """

    def __init__(
        self,
        sample: bytes,
        *,
        start: int = 0,
        zone: str = "UTC",
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
        self._dates = (zone, modified_at, now)
        self._parsers = [parser.fresh() for parser in parsers]
        self._console = Console()  # always last, whoever else takes part
        self._parsers = [parser for parser in self._parsers if not isinstance(parser, Console)] + [self._console]
        self._entry: Entry | None = None
        self._waiting: list[Event] = []  # entries that end within an interrupted one
        self._suspended: Entry | None = None
        lines = _sample_lines(sample, self.encoding, mark, fallback_encoding)
        self.primary = self._choose(lines, log_type)
        self._others = [parser for parser in self._parsers if parser is not self.primary]
        self.log_type = self.primary.log_type
        self._learn(lines)
        self._clock = Clock(*self._dates)
        self._nearest = ""
        if not start:
            self._look_ahead(lines)
        self.layout: dict[str, Any] | None = None
        self.complete = start
        self.whole = True
        self.undecoded = 0

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes and return the events that they completed."""
        events: list[Event] = []
        for line in self._lines.feed(data):
            self._frame(line, events)
        opened = self._suspended or self._entry
        self.complete = opened.start if opened else self._lines.position
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
        self._flush(events)
        self._resume(events)
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
        inner = [header.text for header in headers if type(header) is Wrapped]
        # The console parser once more when it is the primary one: it forgets the times of the lines just seen.
        self._console.prime(inner or lines)

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
        if type(header) is Wrapped:
            if self._joins(parser, header, line, events):
                return
        elif header is DIRECTIVE:
            self._flush(events)
            return
        self._flush(events)
        self._entry = entry = Entry(parser, header, line, self._capture_limit)
        if type(header) is Head:
            entry.severity = header.severity
            entry.state = follow.begins(header.message)
        elif type(header) is Wrapped:
            entry.partial = header.partial
            entry.state = follow.begins(header.text)

    def _other(self, line: Line) -> tuple[Parser, Any] | None:
        """Handle a line that is no header of the file's format: None when it was appended or is nothing."""
        text, entry = line.text, self._entry
        if entry is None:
            if not text.strip():
                return None
            return self._foreign(text) or (self._console, plain(text))
        if entry.open:
            entry.open = entry.parser.incomplete(text, True)
            entry.add(text, line)
            return None
        if self._goes_on(entry, text):
            entry.add(text, line)
            return None
        found = self._foreign(text)
        if found is not None:
            return found
        if line.cut or not entry.parser.multiline or type(entry.header) is Wrapped:
            return self._console, plain(text)
        if entry.parser is self._console and self._console.opens(text, entry.severity, entry.state):
            return self._console, plain(text)
        entry.state = follow.begins(text)
        entry.add(text, line)
        return None

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

    def _inner(self, text: str) -> tuple[Parser, Any] | None:
        """Return the parser of a wrapped text."""
        for parser in self._parsers:
            header = parser.foreign(text)
            if header is not None and header is not DIRECTIVE:
                return parser, header
        return None

    def _joins(self, parser: Parser, header: Wrapped, line: Line, events: list[Event]) -> bool:
        """Append a wrapped line to the entry it goes on with; False when it opens one."""
        suspended = self._suspended
        if suspended is not None and suspended.header.key == header.key:
            suspended.extend(header.text, line)
            suspended.partial = header.partial
            if not header.partial:
                self._resume(events)
            return True
        entry = self._entry
        if entry is None or entry.parser is not parser:
            return False
        if entry.header.key != header.key:
            if entry.partial and suspended is None:
                self._suspended, self._entry = entry, None
            return False
        if entry.partial:
            entry.extend(header.text, line)
            entry.partial = header.partial
            return True
        if self._inner(header.text) is not None:
            return False
        if header.each and not entry.state and not follow.is_trace(header.text):
            return False
        if not self._goes_on(entry, header.text):
            if header.each or self._console.opens(header.text, entry.severity, entry.state):
                return False
            entry.state = follow.begins(header.text)
        entry.add(header.text, line)
        entry.partial = header.partial
        return True

    def _flush(self, events: list[Event]) -> None:
        """Finish the open entry."""
        entry = self._entry
        if entry is None:
            return
        self._entry = None
        event = self._build(entry)
        if self._suspended is None:
            events.append(event)
            return
        self._waiting.append(event)
        if len(self._waiting) >= MAX_WAITING:
            self._resume(events)

    def _resume(self, events: list[Event]) -> None:
        """Finish the interrupted entry, then those that waited for it."""
        if self._suspended is not None:
            events.append(self._build(self._suspended))
            self._suspended = None
        events.extend(self._waiting)
        self._waiting.clear()

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
            event = parser.event(header, lines, self._clock)
            event.occurred_at = _usable(event.occurred_at)
            if event.severity not in RANK:
                event.severity = severity.by_name(event.severity)
            if event.severity and not event.level_source:
                event.level_source = "line" if event.access is None else "request"
            event.log_type, event.family = parser.log_type, parser.family
            return event
        inner = self._inner(header.text) if depth < MAX_DEPTH else None
        if inner is None:
            inner = self._console, plain(header.text)
        parser_within, header_within = inner
        event = self._event(parser_within, header_within, lines, depth + 1)
        if parser_within is self._console:
            event.log_type = parser.log_type
        time = self._clock.read(*header.stamp) if header.stamp[0] else ""
        event.occurred_at = event.occurred_at or time
        if not event.severity and header.severity:
            event.severity, event.level_source = header.severity, "wrapper"
        event.channel = event.channel or header.channel
        event.server_name = event.server_name or header.server_name
        event.context = " ".join(part for part in (event.context, header.context) if part)
        return event

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
    found = severity.by_words(event.message)
    return (found, "words") if found else ("INFO", "none")


def _usable(time: str) -> str:
    """Return a time of a parser in the contract's form, "" when it is none: a plugin need not have asked the clock."""
    if not time or times.is_time(time):
        return time
    try:
        return times.parse(time)
    except (TypeError, ValueError):
        return ""
