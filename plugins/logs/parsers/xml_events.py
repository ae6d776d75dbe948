"""XML layouts of loggers: `<log4j:event>` of log4j, NLog and log4net, `<Event>` of log4j 2, `<record>` of the JDK."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Final

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_text
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.severity import by_name
from snaglist.plugins.logs.parsers.stamps import find_stamp

_BEGIN = re.compile(
    r"\s{0,20}<(?:(?P<name>(?:log4(?:j|net|php):)?event|Event)\s(?=[^>]{0,2000}\blevel=)|(?P<record>record>))"
)
_ENDS: Final = ("event>", "</Event>", "</record>")
_ATTRIBUTE = re.compile(r'(\w{1,40})="([^"]{0,2000})"')
_ELEMENT = re.compile(
    r"<(?:[\w]{1,20}:)?(\w{1,40})(?:\s[^<>]{0,500})?>(?:<!\[CDATA\[(.*?)\]\]>|([^<]{0,100000}))</", re.DOTALL
)


class XmlEvents(Parser):
    """The channel is the logger. An event may have any number of lines."""

    log_type = "xml"

    def header(self, line: str) -> str | None:
        """Take the line that begins an event with a level, or a record."""
        return line if "<" in line[:21] and _BEGIN.match(line) else None

    def incomplete(self, line: str, before: bool) -> bool:
        """Wait for the end of the element."""
        return not line.rstrip().endswith(_ENDS)

    def event(self, header: str, lines: Sequence[str], clock: Clock) -> Event:
        """Read attributes and elements."""
        text = "\n".join([header, *lines])
        fields = {name.lower(): unescape(value) for name, value in _ATTRIBUTE.findall(header.partition(">")[0])}
        for name, raw, escaped in _ELEMENT.findall(text):
            fields.setdefault(name.lower(), raw or unescape(escaped).strip())
        message = fields.get("message", "")
        trace = fields.get("throwable") or fields.get("exception") or fields.get("thrown") or ""
        body = split_text(f"{message}\n{trace}" if trace else message)
        return Event(
            body.message,
            severity=by_name(fields.get("level", "")),
            occurred_at=_time(fields, clock),
            channel=fields.get("logger") or fields.get("loggername") or "",
            exceptions=body.exceptions,
            stack=body.stack,
            context=" ".join(f"{name}={fields[name]}" for name in ("thread", "class", "method") if fields.get(name)),
        )


def _time(fields: dict[str, str], clock: Clock) -> str:
    for name in ("millis", "timemillis", "timestamp", "date"):
        value = fields.get(name, "")
        if value.isdigit():
            return clock.epoch(int(value))
        stamp = find_stamp(value)
        if stamp is not None:
            return clock.read(stamp[0], stamp[1])
    return ""
