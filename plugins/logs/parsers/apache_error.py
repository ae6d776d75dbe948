"""The error log of Apache httpd: `[time] [module:level] [pid …] [client …] message`, old style too."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_body
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.severity import by_name

_REFERER = ", referer: "
_HEADER = re.compile(
    r"\[((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})? \d{4})\]"
    r" \[(?:[\w-]{0,40}:)?(emerg|alert|crit|error|warn|notice|info|debug|trace[1-8])\]"
    r"(?: \[pid [^\]]{1,60}\])?(?: \[(?:client|remote) ([^\]]{1,100})\])? ?",
    re.ASCII,
)


class ApacheError(Parser):
    """The client is context; line breaks that the server wrote as `\\n` are expanded."""

    log_type = "apache_error"
    begins = "["

    def header(self, line: str) -> tuple[re.Match[str], str] | None:
        """Match time and level, with module, process and client when given."""
        if line[:1] != "[":
            return None
        found = _HEADER.match(line)
        return (found, line[found.end() :]) if found else None

    def event(self, header: tuple[re.Match[str], str], lines: Sequence[str], clock: Clock) -> Event:
        """Split message and trace."""
        found, text = header
        time, level, client = found.groups()
        facts = [f"client: {client}"] if client else []
        if "PHP " in text and _REFERER in text:  # the server's words behind those of the script
            text, _, referer = text.rpartition(_REFERER)
            facts.append(f"referer: {referer}")
        first, *inner = text.split("\\n")
        body = split_body(first, [*inner, *lines])
        return Event(
            body.message,
            severity=by_name(level.rstrip("12345678")),
            occurred_at=clock.read("ctime", time),
            exceptions=body.exceptions,
            stack=body.stack,
            context=", ".join([*([body.context] if body.context else []), *facts]),
        )
