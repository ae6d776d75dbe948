"""The parser of a format of one's own."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Self

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.own_formats.pattern import CHANNELS, LEVEL, MESSAGE, PLACED, TIME, Format, compiled
from snaglist.plugins.logs.parsers import severity
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_body
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.context import dump
from snaglist.plugins.logs.parsers.stamps import find_stamp


class OwnFormat(Parser):
    """Lines that begin as the expression says; every other line belongs to the entry before it."""

    own = True

    def __init__(self, given: Format) -> None:
        self.log_type: str = given.log_type  # type: ignore[misc]
        self._expression = compiled(given.pattern)
        self._zone = given.zone
        self._clocks: tuple[Clock, Clock] | None = None

    def fresh(self) -> Self:
        """Return the parser for one file, whose clock is that file's."""
        return copy(self)

    def header(self, line: str) -> Mapping[str, str] | None:
        """Return the texts of the groups."""
        found = self._expression.find(line)
        return None if found is None else {name: line[start:end] for name, (start, end) in found.items()}

    def event(self, header: Mapping[str, str], lines: Sequence[str], clock: Clock) -> Event:
        """Take the groups; those without a meaning of their own are context."""
        body = split_body(header.get(MESSAGE, "") + header.get("", ""), lines)
        more = {name: text for name, text in header.items() if name not in PLACED}
        return Event(
            body.message,
            severity=level_of(header.get(LEVEL, "")),
            occurred_at=read_time(header.get(TIME, ""), self._clock(clock)),
            channel=next((header[name] for name in CHANNELS if name in header), ""),
            server_name=header.get("host"),
            exceptions=body.exceptions,
            stack=body.stack,
            context=" ".join(part for part in (body.context, dump(more) if more else "") if part),
        )

    def _clock(self, clock: Clock) -> Clock:
        """Return the clock of the format's zone."""
        if self._zone is None:
            return clock
        if self._clocks is None or self._clocks[0] is not clock:
            self._clocks = clock, clock.in_zone(self._zone)
        return self._clocks[1]


def read_time(text: str, clock: Clock) -> str:
    """Read the text of the group `time`, "" when it is no time."""
    stamp = find_stamp(text.strip())
    return clock.read(stamp[0], stamp[1]) if stamp else ""


def level_of(text: str) -> str:
    """Return the severity of the text of the group `level`: a name, or a letter; "" when it is none."""
    word = text.strip(" \t[]<>():-|").upper()
    return severity.by_name(word) or severity.LETTERS.get(word, "")
