"""The slow query log of MySQL and MariaDB: lines with `#` about a query, then its text."""

import re
from collections.abc import Sequence
from typing import Any, Self

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.stamps import find_stamp

_TIME, _USER = "# Time: ", "# User@Host: "
_SET = re.compile(r"SET timestamp=(\d{9,11})(?:\.\d{1,6})?;\s*$")
# What the server writes when it starts is of no query.
_STARTED = re.compile(r"\S{1,300}, Version: .{1,200}started with:|Tcp port: \d|Time {10,20}Id Command {1,8}Argument")


class SlowQueries(Parser):
    """The message is the query, what stands about it is context. Several queries of one second share its time."""

    log_type = "slow_query"

    def __init__(self) -> None:
        self._timed = False  # the line before gave the time of the query whose user comes now

    def fresh(self) -> Self:
        """Return a parser with the state of one file."""
        return type(self)()

    def header(self, line: str) -> Any | None:
        """Take the time, or the user of a query without one."""
        if not line.startswith("# "):
            return DIRECTIVE if line[:1] in ("/", "T") and _STARTED.match(line) else None
        if line.startswith(_TIME) and find_stamp(line, len(_TIME) + (line[len(_TIME) : len(_TIME) + 1] == " ")):
            self._timed = True
            return line
        if line.startswith(_USER):
            timed, self._timed = self._timed, False
            return None if timed else line
        return None

    def foreign(self, line: str) -> Any | None:
        """Require the time: other files have lines with `#` too."""
        return line if line.startswith(_TIME) and find_stamp(line, len(_TIME)) else None

    def incomplete(self, line: str, before: bool) -> bool:
        """A query may hold any text; the next header ends it."""
        return True

    def event(self, header: str, lines: Sequence[str], clock: Clock) -> Event:
        """Take the query out of the lines."""
        everything = [header, *lines]
        about = [line.removeprefix("# ").strip() for line in everything if line.startswith("# ")]
        query: list[str] = []
        time = ""
        for line in everything:
            given = _SET.match(line)
            if given:
                time = time or clock.read("epoch", given[1])
            elif not line.startswith("# ") and not line.lower().startswith("use "):
                query.append(line)
        stamp = find_stamp(header.removeprefix(_TIME).lstrip()) if header.startswith(_TIME) else None
        if stamp is not None:
            time = clock.read(stamp[0], stamp[1]) or time
        # Words of a query say nothing about how it went.
        return Event(
            "\n".join(query).strip(), severity="INFO", level_source="none", occurred_at=time, context="; ".join(about)
        )
