"""Places in generated scripts, as traces write them: `at f (file:1:2)`, `at file:1:2`, `f@file:1:2`."""

import re
from typing import NamedTuple

_TAIL = re.compile(r"\.[cm]?js(?:[?#][^\s():]{0,500})?:(\d{1,9}):(\d{1,9})(?![:\d])")
_FUNCTION = re.compile(r"\s*at (?:async )?(?:new )?(\S+)(?: \[as [^\]]*\])? $")
_SCRIPT = re.compile(r"\.[cm]?js(?:[?#].*)?\Z", re.DOTALL)
_MAX_LINE = 5_000


class Spot(NamedTuple):
    """A place on a line of a trace: what it says, and where it stands. Lines and columns count from 1.

    `function` is the span of the function's name, None where the line has none; the place ends at `end`.
    """

    file: str
    line: int
    column: int
    start: int
    end: int
    function: tuple[int, int] | None


def is_script(file: str) -> bool:
    """Tell whether a file may be a generated script."""
    return "js" in file and _SCRIPT.search(file) is not None


def find_spot(text: str) -> Spot | None:
    """Return the place that a line of a trace names; None for another line, or one that was resolved before."""
    tail = _TAIL.search(text) if "js" in text else None
    if tail is None or len(text) > _MAX_LINE or text.startswith(" (", tail.end()):
        return None
    function: tuple[int, int] | None = None
    opened = text.rfind("(", 0, tail.start())
    if opened >= 0 and ")" not in text[opened : tail.start()]:
        start = opened + 1
        named = _FUNCTION.fullmatch(text, 0, opened)
        function = named.span(1) if named else None
    else:
        start = max(text.rfind(" ", 0, tail.start()), text.rfind("\t", 0, tail.start())) + 1
        before, at, _ = text[start : tail.start()].partition("@")
        if at and "/" not in before:  # else it is a part of the path: node_modules/@scope
            function = (start, start + len(before)) if before else None
            start += len(before) + 1
    file = text[start : tail.end()].rsplit(":", 2)[0]
    return Spot(file, int(tail[1]), int(tail[2]), start, tail.end(), function)
