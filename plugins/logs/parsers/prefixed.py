"""Lines that another program put a name in front of: compose, process managers, log viewers of containers.

Which prefix a file has is found by evidence: nearly all of its lines have it, and what stands behind it are lines of a
log. Lines of one name belong together, also where those of another stand between.
"""

import re
from collections.abc import Sequence
from typing import Final, Self

from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.heads import read_head
from snaglist.plugins.logs.parsers.levels_first import begins_with_level
from snaglist.plugins.logs.parsers.special import special_head
from snaglist.plugins.logs.parsers.traces import follow

ENOUGH: Final = 0.9  # of the lines that have to begin with the prefix

# `web-1  | text` of compose, `07:30:15 web.1  | text` of foreman, `0|shop  | text` of pm2,
# `[pod/shop-6f9c/app] text` of kubectl, `shop-6f9c-x2 app text` of stern
_PREFIXES: Final = (
    re.compile(r"(?:(?P<clock>\d\d:\d\d:\d\d) )?(?P<name>[A-Za-z0-9][\w.-]{0,100})\s{1,60}\| ?"),
    re.compile(r"\d{1,4}\|(?P<name>[\w.@/-]{1,100})\s{1,60}\| ?"),
    re.compile(r"\[(?P<name>[\w.-]{1,100}/[\w./:-]{1,200})\] ?"),
    re.compile(r"(?P<name>[a-z][a-z0-9]{0,40}(?:-[a-z0-9]{1,40}){1,6}[ /][a-z][a-z0-9-]{0,62}) (?! )"),
)


class Prefixed(Parser):
    """The channel is the name in front; the text behind is framed as a file of its own for each name."""

    log_type = "prefixed"

    def __init__(self) -> None:
        self._prefix: re.Pattern[str] | None = None

    def fresh(self) -> Self:
        """Return a parser with the state of one file."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Find the prefix that nearly all lines have."""
        self._prefix = next((prefix for prefix in _PREFIXES if _holds(prefix, lines)), None)

    def header(self, line: str) -> Wrapped | None:
        """Take the name off."""
        found = self._prefix.match(line) if self._prefix is not None else None
        if found is None:
            return None
        parts = found.groupdict()
        stamp = ("time", parts["clock"]) if parts.get("clock") else ("", "")
        name = parts["name"].removeprefix("pod/")
        return Wrapped(line[found.end() :], stamp, name, each=False, channel=name)


def _holds(prefix: re.Pattern[str], lines: Sequence[str]) -> bool:
    """Tell whether nearly all lines have the prefix, and something behind it is of a log."""
    written = [line for line in lines if line.strip()]
    found = [match for match in map(prefix.match, written) if match is not None]
    if len(written) < 2 or len(found) < ENOUGH * len(written):
        return False
    texts = [match.string[match.end() :] for match in found]
    heads = sum(1 for text in texts if _is_log(text))
    return heads > 0 and heads * 5 >= sum(1 for text in texts if not follow.continues(text))


def _is_log(text: str) -> bool:
    return (
        text[:2] == '{"'
        or follow.begins(text) != ""
        or begins_with_level(text)
        or (special_head(text) or read_head(text)) is not None
    )
