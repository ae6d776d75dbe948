"""Syslog lines: RFC 5424, RFC 3164, and the same with an ISO time. The text within is parsed again."""

import re
from collections.abc import Sequence
from typing import Any

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.severity import NAMES, SYSLOG

_OLD = re.compile(
    r"(?:<(\d{1,3})>)?(?:((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d)"
    r"|(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)))"
    r" ([\w.:%-]{1,255}) (.*)",
    re.DOTALL | re.ASCII,
)
_TAG = re.compile(r"([^\s:\[\]]{1,100}(?: \d[\w.]{0,10})?)(?:\[([^\]\s]{0,60})\])?: ?")
_NEW = re.compile(r"<(\d{1,3})>1 (\S{1,40}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) (?=[-\[])")


class Syslog(Parser):
    """Syslog. The channel is the program, the server name the host."""

    log_type = "syslog"

    def header(self, line: str) -> Wrapped | None:
        """Match the priority, time, host and program."""
        if not line or line[0] not in "<JFMASOND0123456789":
            return None
        if line[0] == "<":
            found = _NEW.match(line)
            if found:
                return _structured(line, found)
        found = _OLD.match(line)
        if found is None:
            return None
        priority, old, iso, host, rest = found.groups()
        tag = _TAG.match(rest)
        if iso and (tag is None or host.upper() in NAMES or tag[1].upper() in NAMES):
            return None  # a console line with a level where the host would be
        severity = SYSLOG[int(priority) & 7] if priority else ""
        return Wrapped(
            text=rest[tag.end() :] if tag else rest,
            stamp=("iso", iso) if iso else ("syslog", old),
            key=f"{host} {tag.group()}" if tag else host,
            severity=severity,
            channel=tag[1] if tag else "",
            server_name=host,
        )

    def event(self, header: Any, lines: Sequence[str], clock: Clock) -> Event:
        """Never called: the reader parses what is wrapped."""
        raise NotImplementedError


def _structured(line: str, found: re.Match[str]) -> Wrapped:
    priority, time, host, program, process, _ = found.groups()
    rest = line[found.end() :]
    data = ""
    if rest.startswith("["):
        end = _structured_end(rest)
        data, rest = rest[:end], rest[end:]
    else:
        rest = rest[1:]
    return Wrapped(
        text=rest.lstrip(" ").removeprefix("\ufeff"),
        stamp=("iso", time) if time != "-" else ("", ""),
        key=f"{host} {program} {process}",
        severity=SYSLOG[int(priority) & 7],
        channel="" if program == "-" else program,
        server_name=None if host == "-" else host,
        context=data,
    )


def _structured_end(text: str) -> int:
    """Return the end of the structured data: elements in brackets, with quoted values that may hold brackets."""
    quoted = escaped = False
    for place, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == "]" and not quoted and text[place + 1 : place + 2] != "[":
            return place + 1
    return len(text)
