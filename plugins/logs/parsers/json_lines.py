"""One JSON object per line, with the field names of the common loggers."""

from collections.abc import Mapping, Sequence
from typing import Any

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import json_exceptions, severity
from snaglist.plugins.logs.parsers.access_json import is_access
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.context import dump, load

_TIMES = ("time", "timestamp", "@timestamp", "ts", "@t", "datetime", "asctime", "t", "date", "eventTime", "instant")
_LEVELS = (
    "level",
    "severity",
    "levelname",
    "level_name",
    "log.level",
    "@l",
    "lvl",
    "loglevel",
    "logLevel",
    "severity_text",
)
_MESSAGES = ("message", "msg", "@m", "short_message", "event", "text", "body", "log", "textPayload")
_TEMPLATES = ("@mt", "message_template", "messageTemplate", "MessageTemplate", "msg_template")
_CHANNELS = ("logger", "logger_name", "loggerName", "log.logger", "channel", "SourceContext", "name", "category")
_EXCEPTIONS = (
    "exception", "err", "error", "@x", "exc_info", "thrown", "stack_trace", "stacktrace", "stackTrace", "stack",
    "traceback", "exc", "error.stack_trace",
)  # fmt: skip
_TIME_PARTS = ("date", "$date", "epochSecond", "seconds")
_SERVERS = ("hostname", "host", "server_name", "server", "host.name")
_RELEASES = ("release", "service.version", "app_version")
_KNOWN = frozenset((*_TIMES, *_LEVELS, *_MESSAGES, *_TEMPLATES)) - {"t", "text", "body", "date"}  # too common in data


class JsonLines(Parser):
    """JSON objects that say a message, a level or a time. The channel is the logger's name."""

    log_type = "json"
    multiline = False

    def header(self, line: str) -> dict[str, Any] | None:
        """Decode the line; an object without any known field is somebody's data."""
        if line[:1] != "{" or line.rstrip()[-1:] != "}":
            return None
        value = load(line)
        if not isinstance(value, dict) or _KNOWN.isdisjoint(value) or is_access(value):
            return None
        return value

    def event(self, header: dict[str, Any], lines: Sequence[str], clock: Clock) -> Event:
        """Read the fields; what has no meaning of its own is context."""
        fields = _flat(header)
        event = Event("", severity="", log_type=self.log_type)
        event.occurred_at = _time(fields, clock)
        event.severity = _level(fields)
        template = _pop_text(fields, _TEMPLATES)
        if template and "@t" in header:
            event.severity = event.severity or "INFO"
        event.template = template or None
        message = _pop_text(fields, _MESSAGES)
        event.message = (message or _render(template, fields)).strip()
        event.channel = _pop_text(fields, _CHANNELS)
        event.environment = _pop_text(fields, ("environment", "env")) or event.environment
        event.server_name = _pop_text(fields, _SERVERS) or None
        event.release = _pop_text(fields, _RELEASES) or None
        for name in _EXCEPTIONS:
            if name in fields:
                event.exceptions, event.stack = json_exceptions.read(fields[name])
                if event.exceptions or event.stack:
                    del fields[name]
                    break
        if not event.message and event.exceptions:
            event.message = event.exceptions[-1].message or event.exceptions[-1].type
        if not event.message and isinstance(fields.get("error"), str):
            event.message = fields.pop("error")
        if not event.message:
            event.message = dump(fields)
        elif fields:
            event.context = dump(fields)
        if event.exceptions and not event.severity:
            event.severity, event.level_source = "ERROR", "trace"
        return event


def _flat(header: dict[str, Any]) -> dict[str, Any]:
    """Copy the fields; a message or an exception one level down comes up."""
    fields = dict(header)
    for name, wanted in (("fields", "message"), ("jsonPayload", "message"), ("context", "exception")):
        nested = fields.get(name)
        if isinstance(nested, dict) and wanted in nested and wanted not in fields:
            rest = dict(nested)
            fields[wanted] = rest.pop(wanted)
            fields[name] = rest
    return {name: value for name, value in fields.items() if value not in ({}, [])} if "extra" in fields else fields


def _time(fields: dict[str, Any], clock: Clock) -> str:
    for name in _TIMES:
        value = fields.get(name)
        if value is None:
            continue
        if isinstance(value, Mapping):  # a date object with its zone
            value = next((value[part] for part in _TIME_PARTS if part in value), None)
        read = read_time(value, clock)
        if read:
            del fields[name]
            return read
    return ""


def read_time(value: object, clock: Clock) -> str:
    """Read a time given as text in ISO form, or as a number since 1970."""
    if isinstance(value, str):
        if value[4:5] == "-" and value[10:11] in ("T", " "):
            return clock.iso(value)
        if value[2:3] == "/" and value[11:12] == ":":
            return clock.read("named", value)
        if value[4:5] == "/" and value[10:11] == " ":
            return clock.read("slashed", value)
        try:
            value = float(value)
        except ValueError:
            return ""
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        return clock.epoch(value)
    return ""


def _level(fields: dict[str, Any]) -> str:
    for name in ("level_name", *_LEVELS):
        value = fields.get(name)
        found = ""
        if isinstance(value, str):
            found = severity.by_name(value)
            if not found and value.isdigit():
                found = severity.by_number(int(value[:9]))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = severity.by_number(value)
        elif isinstance(value, Mapping):
            found = severity.by_name(value.get("name"))
        if found:
            del fields[name]
            if name == "level_name":
                fields.pop("level", None)
            return found
    letter = fields.get("s")
    if isinstance(letter, str) and letter[:1] in severity.LETTERS and "c" in fields:
        return severity.LETTERS[fields.pop("s")[:1]]
    nested = fields.get("log")
    return severity.by_name(nested.get("level")) if isinstance(nested, Mapping) else ""


def _pop_text(fields: dict[str, Any], names: Sequence[str]) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value:
            del fields[name]
            return value
    return ""


def _render(template: str, fields: Mapping[str, Any]) -> str:
    """Fill `{Name}` holes with the properties; a hole without its property stays."""
    if "{" not in template:
        return template
    parts = template.split("{")
    shown = [parts[0]]
    for part in parts[1:]:
        hole, closed, rest = part.partition("}")
        name = hole.lstrip("@$").split(":", 1)[0].split(",", 1)[0]
        if closed and name in fields:
            value = fields[name]
            shown.append((value if isinstance(value, str) else dump(value)) + rest)
        else:
            shown.append("{" + part)
    return "".join(shown)
