"""`key=value` lines, as Go services write them."""

import re
from collections.abc import Mapping, Sequence

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import json_exceptions
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.json_lines import read_time
from snaglist.plugins.logs.parsers.severity import by_name

_FIRST = re.compile(r"[A-Za-z_@][\w.@-]{0,60}=")
_PAIR = re.compile(r'([A-Za-z_@][\w.@/-]{0,100})(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s"]\S*)?))?(?: |$)')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}
_LEVELS = ("level", "lvl", "severity")
_MESSAGES = ("msg", "message", "event")
_TIMES = ("time", "ts", "timestamp", "t")
_LOGGERS = ("logger", "component")
_STACKS = ("stacktrace", "stack", "exception", "traceback")


class Logfmt(Parser):
    """Lines of pairs with a level and a message or time. The channel is the logger."""

    log_type = "logfmt"
    multiline = False

    def header(self, line: str) -> dict[str, str] | None:
        """Read the pairs; text inside quotes is a value, whatever it looks like."""
        if _FIRST.match(line) is None:
            return None
        fields: dict[str, str] = {}
        position = 0
        while position < len(line):
            found = _PAIR.match(line, position)
            if found is None or found.end() == position:
                return None
            name, quoted, bare = found.groups()
            fields.setdefault(name, _unescape(quoted) if quoted is not None else bare or "")
            position = found.end()
            while line[position : position + 1] == " ":
                position += 1
        level = _any(fields, _LEVELS)
        return fields if level and (_any(fields, _MESSAGES) or _any(fields, _TIMES)) else None

    def event(self, header: dict[str, str], lines: Sequence[str], clock: Clock) -> Event:
        """Read the fields; what has no meaning of its own is context."""
        fields = dict(header)
        event = Event("", severity=by_name(_pop(fields, _LEVELS)))
        event.occurred_at = read_time(_pop(fields, _TIMES), clock)
        event.message = _pop(fields, _MESSAGES).strip()
        event.channel = _pop(fields, _LOGGERS)
        for name in _STACKS:
            if name in fields:
                event.exceptions, event.stack = json_exceptions.read(fields[name])
                if event.stack:
                    del fields[name]
                    break
        if not event.message:
            event.message = fields.get("err") or fields.get("error") or " ".join(_shown(fields))
        event.context = " ".join(_shown(fields))
        return event


def _shown(fields: Mapping[str, str]) -> list[str]:
    return [
        f'{name}="{value}"' if " " in value or '"' in value else f"{name}={value}" for name, value in fields.items()
    ]


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text) if "\\" in text else text


def _any(fields: Mapping[str, str], names: Sequence[str]) -> str:
    return next((fields[name] for name in names if fields.get(name)), "")


def _pop(fields: dict[str, str], names: Sequence[str]) -> str:
    return next((fields.pop(name) for name in names if name in fields), "")
