"""Regular expressions of people: RE2, whose time is linear in the text, whatever the expression."""

import re
from typing import Any

import re2  # type: ignore[import-untyped]

MAX_MEMORY = 8 << 20
_NAMED = re.compile(r"\(\?P?<(?![=!])(\w{1,100})>", re.ASCII)


class BadExpression(ValueError):
    """What is wrong with an expression, and where."""


def compile_linear(pattern: str, **chosen: bool) -> Any:
    """Return an expression as RE2 compiles it, `chosen` being options of RE2; raises BadExpression."""
    options = re2.Options()
    options.log_errors, options.max_mem = False, MAX_MEMORY
    for name, value in chosen.items():
        setattr(options, name, value)
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise BadExpression(_explained(pattern, error)) from error


class Expression:
    """A compiled expression; `groups` are the names of its groups."""

    def __init__(self, pattern: str) -> None:
        self._compiled = compile_linear(pattern)
        named = _NAMED.findall(pattern)
        self._numbers: dict[str, int] = dict(sorted(self._compiled.groupindex.items(), key=lambda one: one[1]))
        self.groups = tuple(self._numbers)
        for name in self.groups:
            if named.count(name) > 1:
                raise BadExpression(f"the group {name} stands twice; give each its own name")

    def find(self, line: str) -> dict[str, tuple[int, int]] | None:
        """Return where the named groups are that took part, in order; None when the line does not begin like that.

        What follows the match is the group "": nothing of a line is lost.
        """
        found = self._compiled.match(line)
        if found is None:
            return None
        spans = {name: found.span(number) for name, number in self._numbers.items()}
        there = {name: span for name, span in spans.items() if span[0] >= 0 and span[0] < span[1]}
        return {**there, "": (found.end(), len(line))} if found.end() < len(line) else there


def _explained(pattern: str, error: Exception) -> str:
    given = error.args[0] if error.args else ""
    said = given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)
    what, _, part = said.partition(": ")
    place = pattern.find(part) if part else -1
    at = f" at character {place + 1}" if place > 0 or (place == 0 and len(part) < len(pattern)) else ""
    hint = "; RE2 has no look-around and no back-references" if "perl operator" in what or "escape" in what else ""
    return f"{what}{at}: {part}{hint}" if part else what
