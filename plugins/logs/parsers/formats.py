"""The parsers that read one file: which of them is the file's own, what they learn of its first lines."""

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Any

from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser, Wrapped
from snaglist.plugins.logs.parsers.console import Console
from snaglist.plugins.logs.parsers.watched import ParserFailed

log = logging.getLogger("snaglist")

MAX_CHANNELS, MIN_LINES = 50, 5  # that are learned each for itself, and the lines that it takes


class Formats:
    """The parsers of a file. `primary` is that of its lines; `console`, always last, takes what is left.

    `sample` are the lines that they learned from, `wrapped` those of them that carry lines of other logs.
    """

    def __init__(self, parsers: Sequence[Parser], lines: Sequence[str], log_type: str | None) -> None:
        self.console = Console()
        fresh = [parser.fresh() for parser in parsers]
        self._all = [parser for parser in fresh if not isinstance(parser, Console)] + [self.console]
        self.sample = lines
        self._of_channels: dict[str, Console] = {}  # that a wrapper names
        self.primary = self._choose(lines, log_type)
        self._others = [parser for parser in self._all if parser is not self.primary]
        self._by_first, self._of_any = _by_first([parser for parser in self._all if parser is not self.console])
        self._learn(lines)

    def foreign(self, text: str) -> tuple[Parser, Any] | None:
        """Return the first other parser that a line is a header of, and what it says."""
        if self.primary.own:  # what it does not match goes on with an entry
            return None
        for parser in self._by_first.get(text[:1], self._of_any):
            if parser is not self.primary and (header := parser.foreign(text)) is not None:
                return parser, header
        if self.primary is not self.console and (header := self.console.foreign(text)) is not None:
            return self.console, header
        return None

    def console_of(self, channel: str) -> Console:
        """Return the console parser that knows the lines of a channel."""
        return self._of_channels.get(channel, self.console)

    def within(self, header: Wrapped) -> tuple[Parser, Any] | None:
        """Return the parser of a wrapped text, and what it says; each channel is a file of its own.

        The reader asks before it opens an entry, and again when it makes the event.
        """
        if header.seen is not header.text:
            header.seen, header.found = header.text, self._within(header.text, header.channel)
        return header.found

    def _within(self, text: str, channel: str) -> tuple[Parser, Any] | None:
        for parser in self._by_first.get(text[:1], self._of_any):
            found = parser.foreign(text)
            if found is not None and found is not DIRECTIVE:
                return parser, found
        head = self.console_of(channel).within(text)
        return (self.console, head) if head is not None else None

    def _choose(self, lines: Sequence[str], log_type: str | None) -> Parser:
        """Return the parser of the file: the known one, else the one with most headers in the sample.

        Parsers that fail at it take no part.
        """
        # The console parser learns much of the lines, and what it learns does not change while it reads them.
        trial = [parser if parser is self.console else parser.fresh() for parser in self._all]
        best = self._all.index(self.console)
        score = 0
        broken: list[int] = []
        last_own = max((index for index, parser in enumerate(trial) if parser.own), default=-1)
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
            if parser.log_type == self.console.log_type:
                claimed = claimed // 2  # any time in front is a header to it, so a tie is no choice
            if parser.own:
                claimed *= 2  # few lines may begin an entry that the others would take for several
            if claimed > score:
                best, score = index, claimed
            if log_type is None and score >= len(lines) > 0 and index >= last_own:
                break  # no other can have more
        chosen = self._all[best]
        self._all = [parser for index, parser in enumerate(self._all) if index not in broken]
        return chosen

    def _learn(self, lines: Sequence[str]) -> None:
        """Give the sample to the parser of the file, and what is wrapped in it to the others."""
        self.primary.prime(lines)
        headers = [self.primary.header(line) for line in lines]
        self.wrapped = wrapped = [header for header in headers if type(header) is Wrapped]
        texts = [header.text for header in wrapped]
        if texts:
            for parser in self._others:
                parser.prime(texts)
        # The console parser once more when it is the primary one: it forgets the times of the lines just seen.
        self.console.prime(texts or lines)
        for channel, count in Counter(header.channel for header in wrapped).most_common(MAX_CHANNELS):
            if MIN_LINES <= count < len(wrapped):
                console = self._of_channels[channel] = Console()
                console.prime([header.text for header in wrapped if header.channel == channel])


def _by_first(parsers: Sequence[Parser]) -> tuple[dict[str, tuple[Parser, ...]], tuple[Parser, ...]]:
    """Return the parsers that a line with a certain first character may be for, and those for any other line."""
    firsts = {first for parser in parsers for first in parser.begins}
    by_first = {
        first: tuple(parser for parser in parsers if not parser.begins or first in parser.begins) for first in firsts
    }
    return by_first, tuple(parser for parser in parsers if not parser.begins)
