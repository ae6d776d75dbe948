"""The error log of nginx: `2024/09/17 10:00:00 [error] 12#0: *5 message, client: …, server: …`."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_text
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.severity import by_name

_HEADER = re.compile(
    r"(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) \[(debug|info|notice|warn|error|crit|alert|emerg)\] \d+#\d+: (?:\*\d+ )?",
    re.ASCII,
)
_FACTS = (", client: ", ", server: ", ", request: ")
_UPSTREAM = re.compile(r"FastCGI sent in stderr: \"(.*)\" while reading", re.DOTALL)


class NginxError(Parser):
    """Facts behind the message (client, server, request …) are context."""

    log_type = "nginx_error"
    begins = "0123456789"

    def header(self, line: str) -> tuple[str, str, str] | None:
        """Match time, level and process."""
        found = _HEADER.match(line)
        return (found[1], found[2], line[found.end() :]) if found else None

    def event(self, header: tuple[str, str, str], lines: Sequence[str], clock: Clock) -> Event:
        """Split the message from the facts, and read what an application printed through the server."""
        time, level, text = header
        everything = "\n".join([text, *lines]) if lines else text
        place = everything.rfind(_FACTS[0])
        if place < 0:
            place = min((at for at in map(everything.find, _FACTS) if at >= 0), default=len(everything))
        message, facts = everything[:place], everything[place + 2 :]
        stderr = _UPSTREAM.search(message)
        body = split_text((stderr[1] if stderr else message).replace("\\n", "\n"))
        return Event(
            body.message,
            severity=by_name(level),
            occurred_at=clock.read("slashed", time),
            exceptions=body.exceptions,
            stack=body.stack,
            context=", ".join(part for part in (body.context, facts) if part),
        )
