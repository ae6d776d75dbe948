"""Windows events as XML: `<Event>` elements, one a line or over several, as exports and dumps write them."""

import re
from collections.abc import Sequence
from html import unescape
from typing import Any

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser
from snaglist.plugins.logs.parsers.body import split_text
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.context import dump
from snaglist.plugins.logs.parsers.glued import is_glued
from snaglist.plugins.logs.parsers.json_levels import WINDOWS

_BEGIN = re.compile(r"\s{0,20}(?:<\?xml [^>]{0,200}\?>)?\s{0,20}(?:<Events[^>]{0,200}>)?\s{0,20}<Event[ >]")
# What an export puts around its events.
_AROUND = re.compile(
    r"\s{0,20}(?:<\?xml [^>]{0,200}\?>\s{0,20})?(?:</?Events[^>]{0,200}>\s{0,20})?$|Record \d{1,18}\s{0,20}$"
)
_PROVIDER = re.compile(r"<Provider [^>]{0,300}?\bName=[\"']([^\"'>]{1,300})")
_LEVEL = re.compile(r"<Level>\s{0,20}(\d)\s{0,20}</Level>")
_TIME = re.compile(r"<TimeCreated [^>]{0,100}?\bSystemTime=[\"']([^\"'>]{10,50})")
_NAMED = {
    name: re.compile(rf"<{name}(?: [^>]{{0,200}})?>([^<]{{1,300}})<") for name in ("EventID", "Channel", "Computer")
}
_MESSAGE = re.compile(r"<Message>([^<]+)</Message>")
_DATA = re.compile(r"<Data(?: Name=[\"']([^\"'>]{0,300})[\"'])?[^>/]{0,300}>([^<]*)</Data>")
_END = "</Event>"


class WindowsEvents(Parser):
    """The channel is the provider, the server name the computer. Without a rendered message the data is it."""

    log_type = "windows_events"

    def __init__(self) -> None:
        self._events = False

    def fresh(self) -> "WindowsEvents":
        """Return a parser that has seen no event."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Look whether the file holds events: only then is what stands around them none."""
        self._events = any(_BEGIN.match(line) for line in lines)

    def header(self, line: str) -> Any | None:
        """Match the beginning of an element."""
        if self._events and _AROUND.match(line):
            return DIRECTIVE if line.strip() else None
        return self.foreign(line)

    def foreign(self, line: str) -> str | None:
        """Match an element only; the reader cuts a line that holds several."""
        return line if "<Event" in line[:600] and _BEGIN.match(line) and not is_glued(line) else None

    def incomplete(self, line: str, before: bool) -> bool:
        """Tell whether the element has not ended."""
        return _END not in line

    def event(self, header: str, lines: Sequence[str], clock: Clock) -> Event:
        """Read what `System` says, and the data."""
        text = "\n".join([header, *lines])
        event = Event("")
        level = _LEVEL.search(text)
        event.severity = WINDOWS[int(level[1])] if level and int(level[1]) < len(WINDOWS) else ""
        time = _TIME.search(text)
        if time:  # always UTC, whether it says so or not
            event.occurred_at = clock.iso(time[1] if time[1].endswith("Z") or "+" in time[1] else f"{time[1]}Z")
        said = {name: unescape(found[1].strip()) for name, regex in _NAMED.items() if (found := regex.search(text))}
        provider = _PROVIDER.search(text)
        event.channel = unescape(provider[1]) if provider else said.get("Channel", "")
        event.server_name = said.pop("Computer", None)
        data = [(name, unescape(value).strip()) for name, value in _DATA.findall(text)]
        message = _MESSAGE.search(text)
        words = (
            unescape(message[1]).strip() if message else " ".join(value for name, value in data if not name and value)
        )
        body = split_text((words or f"{event.channel} event {said.get('EventID', '')}".strip()).replace("\r", ""))
        event.message, event.stack, event.exceptions = body.message, body.stack, body.exceptions
        named = {name: value for name, value in data if name}
        event.context = dump({**said, **named}) if said or named else ""
        return event
