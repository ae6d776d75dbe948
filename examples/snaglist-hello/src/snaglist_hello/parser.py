"""A log format: `@@ 2026-01-03T10:00:00Z ERROR checkout: Order failed`, lines below it belong to the entry."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import Event
from snaglist.plugins.logs import Clock, Parser

# Linear on any line: no repetition within a repetition, every part bounded.
_HEADER = re.compile(r"@@ (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) ([A-Z]{1,9}) ([\w.-]{1,100}): (.*)", re.ASCII | re.DOTALL)


class AtSigns(Parser):
    """Tells which lines open an entry, and makes an event of an entry."""

    log_type = "hello"

    def header(self, line: str) -> re.Match[str] | None:
        """Return what a line that opens an entry says."""
        return _HEADER.match(line)

    def event(self, header: re.Match[str], lines: Sequence[str], clock: Clock) -> Event:
        """Make the event; what stays empty is filled in by snaglist."""
        time, level, channel, message = header.groups()
        return Event(
            message="\n".join([message, *lines]),
            severity=level,
            occurred_at=clock.read("iso", time),
            channel=channel,
        )
