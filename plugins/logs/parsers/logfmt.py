"""`key=value` lines, as Go services, firewalls and appliances write them."""

import re
from collections.abc import Mapping, Sequence
from string import ascii_letters

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import json_exceptions
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.fields import Fields, Names, joined_time, read_time
from snaglist.plugins.logs.parsers.json_levels import take_level

_FIRST = re.compile(r"[A-Za-z_@][\w.@-]{0,60}=")
_PAIR = re.compile(
    r"([A-Za-z_@][\w.@/-]{0,100})"
    r"""(?:=(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'(?=[\s,]|$)|([^\s"]\S*)?))?,?(?:\s{1,8}|$)"""
)
# The same with nothing but commas between the pairs.
_COMMAS = re.compile(r"[A-Za-z_@][\w.@-]{0,60}=(?:\"[^\"]{0,200}\"|[^\s,\"]{0,200}),[A-Za-z_@][\w.@-]{0,60}=")
_COMMA_PAIR = re.compile(
    r"([A-Za-z_@][\w.@/-]{0,100})"
    r"""(?:=(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'(?=,|$)|([^",][^,]*)?))?(?:,\s{0,8}|$)"""
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}
# Plain names, see fields.py.
_LEVELS = Names("level", "lvl", "severity", "loglevel", "levelname", "@level", "pri")
_MESSAGES = Names("msg", "message", "@message", "event", "logdesc")
_TIMES = Names("time", "ts", "timestamp", "@timestamp", "datetime", "t")
_ERRORS = Names("err", "error")
_LOGGERS = Names("logger", "loggername", "component")
_STACKS = Names("stacktrace", "stack", "exception", "traceback")


class Logfmt(Parser):
    """Lines of pairs with two of level, message and time. The channel is the logger."""

    log_type = "logfmt"
    multiline = False
    begins = ascii_letters + "_@"

    def header(self, line: str) -> Fields | None:
        """Read the pairs; text inside quotes is a value, whatever it looks like."""
        if _FIRST.match(line) is None:
            return None
        pairs: dict[str, str] = {}
        position = 0
        form = _COMMA_PAIR if "," in line[:200] and _COMMAS.match(line) else _PAIR
        while position < len(line):
            found = form.match(line, position)
            if found is None:
                return None
            name, double, single, bare = found.groups()
            quoted = single if double is None else double
            pairs.setdefault(name, _unescape(quoted) if quoted is not None else (bare or "").rstrip(","))
            position = found.end()
            while line[position : position + 1].isspace():
                position += 1
        fields = Fields(pairs)
        level, message, time = (bool(fields.text(names)) for names in (_LEVELS, _MESSAGES, _TIMES))
        if level + message + time < 2 and not (level and fields.text(_ERRORS)):
            return None
        return fields

    def event(self, header: Fields, lines: Sequence[str], clock: Clock) -> Event:
        """Read the fields; what has no meaning of its own is context."""
        fields = header.copy()
        event = Event("", severity=take_level(fields))
        event.occurred_at = _time(fields, clock)
        event.message = fields.take(_MESSAGES).strip()
        event.channel = fields.take(_LOGGERS)
        for name in _STACKS:
            if name in fields:
                event.exceptions, event.stack = json_exceptions.read(fields.get(name))
                if event.stack:
                    fields.drop(name)
                    break
        if not event.message:
            event.message = fields.text(_ERRORS) or " ".join(_shown(fields.rest))
        event.context = " ".join(_shown(fields.rest))
        return event


def _time(fields: Fields, clock: Clock) -> str:
    """Take out the time. Firewalls write date, time of day and zone apart, and the exact time once more."""
    pair = joined_time(fields.get("date"), fields.get("time"), fields.get("tz"))
    if pair:
        exact = "" if fields.get("tz") else read_time(fields.get("eventtime"), clock)
        for name in ("date", "time", "tz", "eventtime"):
            fields.drop(name)
        return exact or clock.read("iso", pair)
    for name in (*_TIMES, "eventtime"):
        read = read_time(fields.get(name), clock)
        if read:
            fields.drop(name)
            return read
    return ""


def _shown(fields: Mapping[str, str]) -> list[str]:
    return [
        f'{name}="{value}"' if " " in value or '"' in value else f"{name}={value}" for name, value in fields.items()
    ]


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text) if "\\" in text else text
