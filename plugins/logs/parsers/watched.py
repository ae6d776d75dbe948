"""Parsers of plugins: whatever one does wrong, it says which it was, so that the file is read without it."""

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Self, TypeVar

from snaglist.kernel.containment import contained, describe
from snaglist.plugins.issues import Event, check_event
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.clock import Clock

P = ParamSpec("P")
T = TypeVar("T")


class ParserFailed(Exception):
    """A parser of a plugin raised, or gave what is no event; the cause says what it was."""

    def __init__(self, parser: "Watched", error: Exception) -> None:
        self.plugin, self.log_type, self.reason = parser.plugin, parser.log_type, describe(error)
        super().__init__(f"the parser {self.log_type} of the plugin {self.plugin} failed: {self.reason}")

    def is_of(self, parser: "Watched") -> bool:
        """Tell whether it was this parser, or one that it made for the file."""
        return parser.plugin == self.plugin and parser.log_type == self.log_type


class Watched(Parser):
    """A parser of a plugin; all that it raises is ParserFailed."""

    def __init__(self, parser: Parser, plugin: str) -> None:
        self._parser, self.plugin = parser, plugin
        self.log_type: str = parser.log_type  # type: ignore[misc]
        self.family: str = parser.family  # type: ignore[misc]
        self.multiline: bool = parser.multiline  # type: ignore[misc]

    def fresh(self) -> Self:
        """Return the parser for one file."""
        return type(self)(self._ask(self._parser.fresh), self.plugin)

    def prime(self, lines: Sequence[str]) -> None:
        """Learn from the first lines of the file."""
        self._ask(self._parser.prime, lines)

    def header(self, line: str) -> Any | None:
        """Return what a line says that opens an entry."""
        return self._ask(self._parser.header, line)

    def foreign(self, line: str) -> Any | None:
        """Return the same in a file of another format."""
        return self._ask(self._parser.foreign, line)

    def event(self, header: Any, lines: Sequence[str], clock: Clock) -> Event:
        """Make the event of an entry, one that the reader can go on with."""
        return self._ask(self._event, header, lines, clock)

    def _event(self, header: Any, lines: Sequence[str], clock: Clock) -> Event:
        return check_event("event()", self._parser.event(header, lines, clock))

    def _ask(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        try:
            return contained(function, *arguments, **named)
        except Exception as error:
            raise ParserFailed(self, error) from error
