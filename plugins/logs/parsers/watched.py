"""Parsers of plugins: whatever one does wrong, it says which it was, so that the file is read without it."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ParamSpec, Self, TypeVar

from snaglist.kernel.containment import contained, describe
from snaglist.plugins.issues import Event, check_event
from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.clock import FORMS, Clock

P = ParamSpec("P")
T = TypeVar("T")
_METHODS = ("prime", "header", "foreign", "incomplete", "event")
_WRAPPED = {
    **dict.fromkeys(("text", "key", "severity", "channel", "context"), str),
    **dict.fromkeys(("partial", "each"), bool),
    "stamp": tuple,
}


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
        self.begins: str = parser.begins  # type: ignore[misc]

    def fresh(self) -> Self:
        """Return the parser for one file."""
        return self._ask(self._fresh)

    def prime(self, lines: Sequence[str]) -> None:
        """Learn from the first lines of the file."""
        self._ask(self._parser.prime, lines)

    def header(self, line: str) -> Any | None:
        """Return what a line says that opens an entry."""
        return self._ask(self._header, self._parser.header, line)

    def foreign(self, line: str) -> Any | None:
        """Return the same in a file of another format."""
        return self._ask(self._header, self._parser.foreign, line)

    def incomplete(self, line: str, before: bool) -> bool:
        """Tell whether an entry is still open behind a line of it."""
        return bool(self._ask(self._parser.incomplete, line, before))

    def event(self, header: Any, lines: Sequence[str], clock: Clock) -> Event:
        """Make the event of an entry, one that the reader can go on with."""
        return self._ask(self._event, header, lines, clock)

    def _fresh(self) -> Self:
        made: Any = self._parser.fresh()
        if not all(callable(getattr(made, name, None)) for name in _METHODS):
            raise TypeError(f"fresh() must return a parser, not {type(made).__name__}")
        watched = copy(self)  # what was looked at when it was registered stays
        watched._parser = made
        return watched

    def _header(self, ask: Callable[[str], Any], line: str) -> Any:
        found = ask(line)
        if type(found) is Wrapped:
            _check_wrapped(found)
        return found

    def _event(self, header: Any, lines: Sequence[str], clock: Clock) -> Event:
        return check_event("event()", self._parser.event(header, lines, clock))

    def _ask(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        try:
            return contained(function, *arguments, **named)
        except Exception as error:
            raise ParserFailed(self, error) from error


def _check_wrapped(found: Wrapped) -> None:
    for name, kind in _WRAPPED.items():
        if type(value := getattr(found, name)) is not kind:
            raise TypeError(f"header().{name}: must be {kind.__name__}, not {type(value).__name__}")
    if not isinstance(found.server_name, str | None):
        raise TypeError(f"header().server_name: must be str or None, not {type(found.server_name).__name__}")
    if len(found.stamp) != 2 or not all(type(one) is str for one in found.stamp):
        raise TypeError("header().stamp: must be two texts, the form of the time and the time")
    if found.stamp[0] and found.stamp[0] not in FORMS:
        raise ValueError(f"header().stamp: there is no form {found.stamp[0]!r:.60}")
