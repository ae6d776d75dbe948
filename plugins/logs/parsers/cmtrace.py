"""Logs of Microsoft's deployment tools, which CMTrace shows: `<![LOG[message]LOG]!><time="…" date="…" type="3">`."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_text
from snaglist.plugins.logs.parsers.clock import Clock

_BEGIN, _END = "<![LOG[", "]LOG]!>"
_FACT = re.compile(r'(\w{1,20})="([^"\n]{0,300})"')
_TIME = re.compile(r"(\d{1,2}:\d{2}:\d{2})(?:\.\d{1,9})?([+-]\d{1,4})?")
_TYPES = {"1": "INFO", "2": "WARNING", "3": "ERROR"}


class CmTrace(Parser):
    """The channel is the component. The offset in the time is the minutes that local time is behind UTC."""

    log_type = "cmtrace"

    def header(self, line: str) -> str | None:
        """Take a line that begins a message, which may have several lines."""
        return line if line.startswith(_BEGIN) else None

    def incomplete(self, line: str, before: bool) -> bool:
        """Wait for the end of the message."""
        return _END not in line

    def event(self, header: str, lines: Sequence[str], clock: Clock) -> Event:
        """Split the message from the facts behind it."""
        text, _, behind = "\n".join([header, *lines]).removeprefix(_BEGIN).partition(_END)
        facts = dict(_FACT.findall(behind))
        body = split_text(text)
        return Event(
            body.message,
            severity=_TYPES.get(facts.get("type", ""), ""),
            occurred_at=_read(facts.get("time", ""), facts.get("date", ""), clock),
            channel=facts.get("component", ""),
            exceptions=body.exceptions,
            stack=body.stack,
            context=" ".join(f"{name}={facts[name]}" for name in ("context", "thread", "file") if facts.get(name)),
        )


def _read(time: str, date: str, clock: Clock) -> str:
    found = _TIME.match(time)
    if found is None or not date:
        return ""
    zone = ""
    if found[2]:
        behind = int(found[2])
        zone = f"{'-' if behind > 0 else '+'}{abs(behind) // 60:02d}:{abs(behind) % 60:02d}"
    month, _, rest = date.partition("-")
    day, _, year = rest.partition("-")
    return clock.at(f"{year}-{month:0>2}-{day:0>2} {found[1][:-3]:0>5}", found[1][-2:], zone)
