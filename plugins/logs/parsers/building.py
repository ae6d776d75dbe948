"""From an entry to its event: unwrapping, choosing between two times, and filling in what a format does not say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from snaglist.kernel import clip, times
from snaglist.plugins.issues import RANK, Event, clean
from snaglist.plugins.logs.parsers import severity
from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.clock import NO_TIME, NO_ZONE, Clock
from snaglist.plugins.logs.parsers.entry import Entry
from snaglist.plugins.logs.parsers.escaped import unescape_lines
from snaglist.plugins.logs.parsers.formats import Formats
from snaglist.plugins.logs.parsers.heads import Head
from snaglist.plugins.logs.parsers.levels_first import plain
from snaglist.plugins.logs.parsers.traces import follow
from snaglist.plugins.logs.parsers.words import by_words

MAX_DEPTH: Final = 4  # of wrappers within wrappers


@dataclass(frozen=True, slots=True)
class Limits:
    """How many characters of a message and of a context are kept."""

    message: int
    context: int


class Builder:
    """Make the events of one file. `nearest` is the time read last, for entries that have none."""

    def __init__(
        self, formats: Formats, clock: Clock, limits: Limits, *, channel: str, modified_at: str, zone_known: bool
    ) -> None:
        self._formats = formats
        self._clock = clock
        self._limits = limits
        self._channel = channel
        self._modified_at = modified_at
        self._zone_known = zone_known
        self.nearest = ""

    @property
    def dayless(self) -> bool:
        """Tell whether a time without a date was read."""
        return self._clock.relative == "day"

    def build(self, entry: Entry) -> Event:
        """Make the event of an entry."""
        lines = entry.body()
        event = self._event(entry.parser, entry.header, lines, 0)
        event.byte_start, event.byte_end = entry.start, entry.end
        event.truncated, event.provisional = entry.cut, False
        if not event.severity:
            event.severity, event.level_source = _guess(event, entry)
        if event.occurred_at:
            self.nearest = event.occurred_at
        else:
            event.occurred_at = self.nearest or self._modified_at
            event.time_source = "file"
        event.channel = clean(event.channel or self._channel)
        self._limit(event)
        return event

    def _event(self, parser: Parser, header: Any, lines: Sequence[str], depth: int) -> Event:
        if type(header) is Wrapped:
            return self._unwrap(parser, header, lines, depth)
        if type(header) is Head and (header.pairs or header.message[:1] == "{"):
            found = self._carried(header, lines, depth)
            if found is not None:
                return found
        self._clock.sure = NO_TIME
        event = parser.event(header, lines, self._clock)
        event.occurred_at = usable(event.occurred_at)
        if event.severity not in RANK:
            event.severity = severity.by_name(event.severity)
        if event.severity and not event.level_source:
            event.level_source = "line" if event.access is None else "request"
        event.log_type, event.family = parser.log_type, parser.family
        return event

    def _unwrap(self, parser: Parser, header: Wrapped, lines: Sequence[str], depth: int) -> Event:
        """Make the event of what is within, and add what the wrapper says."""
        if "#012" in header.text:
            header.text = unescape_lines(header.text)
        if "\n" in header.text and header.text[0] != "{":
            header.text, *more = header.text.split("\n")
            lines = [*more, *lines]
        found = self._formats.within(header) if depth < MAX_DEPTH else None
        parser_within, header_within = found or (self._formats.console, plain(header.text))
        event = self._event(parser_within, header_within, lines, depth + 1)
        if parser_within is self._formats.console:
            event.log_type = parser.log_type
        self._date(event, header.stamp)
        if not event.severity and header.severity:
            event.severity, event.level_source = header.severity, "wrapper"
        event.channel = event.channel or header.channel
        event.server_name = event.server_name or header.server_name
        event.context = " ".join(part for part in (event.context, header.context) if part)
        return event

    def _carried(self, head: Head, lines: Sequence[str], depth: int) -> Event | None:
        """Make the event of an object or of pairs that stand behind a time; None when they are plain text."""
        carried = Wrapped(head.pairs or head.message)
        found = self._formats.within(carried) if depth < MAX_DEPTH else None
        if found is None or found[0] is self._formats.console:
            return None
        event = self._event(*found, lines, depth + 1)
        self._date(event, (head.form, head.stamp))
        if not event.severity and head.severity:
            event.severity, event.level_source = head.severity, "line"
        return event

    def _date(self, event: Event, stamp: tuple[str, str]) -> None:
        """Choose between the time within and that of the wrapper: the one that says more of itself counts.

        A time without a zone is as sure as one with a zone where the operator set the zone of the file.
        """
        within = self._clock.sure if event.occurred_at else NO_TIME
        time = self._clock.read(*stamp) if stamp[0] else ""
        around = self._clock.sure if time else NO_TIME
        if within < around and not (self._zone_known and within == NO_ZONE):
            event.occurred_at = time
        self._clock.sure = max(within, around)

    def _limit(self, event: Event) -> None:
        """Cut what is longer than stored."""
        if len(event.message) > self._limits.message:
            event.message = clip(event.message, self._limits.message)
            event.truncated = True
        if len(event.context) > self._limits.context:
            event.context = clip(event.context, self._limits.context)
            event.truncated = True
        if len(event.stack) > self._limits.message:
            event.stack = _middle_cut(event.stack, self._limits.message)
            event.truncated = True


def _guess(event: Event, entry: Entry) -> tuple[str, str]:
    """Return the severity of an entry that says none, and by what it was found."""
    if event.exceptions or event.stack:
        # The head of a file may be the middle of a trace that began in another file.
        orphan = not event.exceptions and follow.is_orphan((entry.text, *entry.body()))
        return ("INFO", "none") if orphan else ("ERROR", "trace")
    found = by_words(event.message)
    return (found, "words") if found else ("INFO", "none")


def usable(time: str) -> str:
    """Return a time of a parser in the contract's form, "" when it is none: a plugin need not have asked the clock."""
    if not time or times.is_time(time):
        return time
    try:
        return times.parse(time)
    except (TypeError, ValueError):
        return ""


def _middle_cut(text: str, limit: int) -> str:
    """Keep the first and the last lines of a stack, and say how many are gone."""
    head = text[: limit * 3 // 4 - 50]
    tail = text[len(text) - limit // 4 + 50 :]
    head, tail = head[: head.rfind("\n") + 1] or head, tail[tail.find("\n") + 1 :]
    gone = text.count("\n", len(head), len(text) - len(tail))
    return f"{head}    … {gone} lines omitted …\n{tail}"
