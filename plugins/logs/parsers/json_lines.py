"""One JSON object per line, with the field names of the common loggers in any case and with any separators."""

from collections.abc import Mapping, Sequence
from typing import Any

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import json_exceptions
from snaglist.plugins.logs.parsers.access_json import is_access
from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.context import dump, load
from snaglist.plugins.logs.parsers.fields import Fields, Names, joined_time, read_time, stamp_of
from snaglist.plugins.logs.parsers.json_levels import LEVELS, NUMBERS, find_level, take_level
from snaglist.plugins.logs.parsers.within import is_log_line, is_trace_line

# Plain names (see fields.py), the surest first.
TIMES = Names(
    "time", "timestamp", "@timestamp", "ts", "@t", "datetime", "eventtime", "asctime", "instant", "logtime",
    "timeunixnano", "timecreated", "eventtimestamp", "timestampms", "utctime", "isotime", "stagetimestamp",
)  # fmt: skip
# Names that data has as well: times only where none of the others is.
WEAK_TIMES = Names("t", "date", "created", "createdat", "starttime", "startedat", "when", "datetimeutc", "localtime")
MESSAGES = Names(
    "message", "msg", "@message", "@m", "shortmessage", "renderedmessage", "formattedmessage", "logmessage",
    "textpayload", "event", "body",
)  # fmt: skip
WEAK_MESSAGES = Names("text", "log", "output", "resultdescription", "description", "line", "rawmessage", "raw")
TEMPLATES = Names("@mt", "messagetemplate", "msgtemplate", "{originalformat}")
CHANNELS = Names("logger", "loggername", "loglogger", "sourcecontext", "categoryname")
WEAK_CHANNELS = Names("channel", "name", "category", "component", "target", "providername", "sourcename", "app")
EXCEPTIONS = Names(
    "exception", "err", "error", "@x", "excinfo", "thrown", "stacktrace", "stack", "traceback", "exc",
    "errorstacktrace", "exceptiondetail",
)  # fmt: skip
SERVERS = Names("hostname", "host", "servername", "server", "computer", "computername", "machinename", "agenthostname")
RELEASES = Names("release", "serviceversion", "appversion")
# Objects that loggers and shippers put the record into.
_HOLDERS = Names(
    "fields", "@fields", "jsonpayload", "record", "log", "attributes", "data", "properties", "state", "context",
    "payload", "winlog", "source",
)  # fmt: skip
_ALL_LEVELS = Names(*LEVELS, *NUMBERS)
_ALL_MESSAGES = Names(*MESSAGES, *WEAK_MESSAGES)
_ALL_TIMES = Names(*TIMES, *WEAK_TIMES)
_ALL_CHANNELS = Names(*CHANNELS, *WEAK_CHANNELS)
_LIFTED = (MESSAGES, _ALL_LEVELS, TIMES, CHANNELS, EXCEPTIONS, TEMPLATES)
_EMPTY = (dict, list)  # which say nothing when they are
_ENVIRONMENTS = Names("environment", "env")
_REASONS = Names("error", "err", "reason")
_STRING_VALUES = ("stringValue", "string_value", "Str", "text")
# What makes an object a record of a logger; short names and those of data are too common elsewhere.
_KNOWN = Names(
    *({*TIMES, *LEVELS, *NUMBERS, *MESSAGES, *TEMPLATES, "log", "output"} - {"body", "priority", "prio", "pri"})
)
# Where a shipper says whose line it carries.
_ORIGINS = {
    "container": ("name",),
    "kubernetes": ("container_name",),
    "service": ("name",),
    "docker": ("container_name",),
}
_HOSTS = {"host": ("name",), "agent": ("hostname",), "beat": ("hostname",), "kubernetes": ("host",)}
_STREAMS = {
    "log": ("file", "path"),
    "kubernetes": ("pod_name",),
    "container": ("id",),
    "source": (),
    "path": (),
    "file": (),
}
_VERSIONS = {"service": ("version",)}


class JsonLines(Parser):
    """JSON objects that say a message, a level or a time. The channel is the logger's name.

    An object without a level whose message is the line of another log is a shipper's envelope: its text is
    parsed again.
    """

    log_type = "json"
    multiline = False
    begins = "{"

    def header(self, line: str) -> Fields | Wrapped | None:
        """Decode the line; an object without any known field is somebody's data."""
        if line[:1] != "{" or line.rstrip()[-1:] != "}":
            return None
        value = load(line)
        if not isinstance(value, dict):
            return None
        nested = False
        if len(value) == 1:  # the kind of the record around it: `{"http": {"ts": …}}`
            (inner,) = value.values()
            if isinstance(inner, dict) and len(inner) > 1 and Fields(inner).among(_KNOWN):
                value, nested = inner, True
        fields = Fields(value)
        if not fields.among(_KNOWN) and not _is_held(fields):
            return _envelope(fields)  # nobody's record, unless it carries a line
        if is_access(fields) and not nested:  # the parser of requests reads it
            return None
        _lift(fields)
        return _envelope(fields) or fields

    def event(self, header: Fields, lines: Sequence[str], clock: Clock) -> Event:
        """Read the fields."""
        return record_event(header, clock)


def record_event(record: Fields, clock: Clock) -> Event:
    """Make the event of a record, whatever notation it came in; what has no meaning of its own is context."""
    fields = record.copy()
    event = Event("", severity="")
    event.occurred_at = _time(fields, clock)
    event.severity = take_level(fields)
    template = fields.take(TEMPLATES)
    if template and "@t" in record.rest:
        event.severity = event.severity or "INFO"  # the compact form leaves its usual level out
    event.template = template or None
    message = fields.take(_ALL_MESSAGES)
    event.message = (message or _render(template, fields)).strip()
    event.channel = fields.take(_ALL_CHANNELS)
    event.environment = fields.take(_ENVIRONMENTS) or event.environment
    event.server_name = fields.take(SERVERS) or _inside(fields, _HOSTS) or None
    event.release = fields.take(RELEASES) or _inside(fields, _VERSIONS) or None
    _fill_exceptions(event, fields)
    if not event.message and event.exceptions:
        event.message = event.exceptions[-1].message or event.exceptions[-1].type
    if not event.message:
        event.message = fields.take(_REASONS)
    rest = {name: value for name, value in fields.rest.items() if value or value.__class__ not in _EMPTY}
    if not event.message:
        event.message = dump(fields.rest)
    elif rest:
        event.context = dump(rest)
    if event.exceptions and not event.severity:
        event.severity, event.level_source = "ERROR", "trace"
    return event


def _is_held(fields: Fields) -> bool:
    """Tell whether the record stands in an object of the object, whole with its level and message."""
    for holder in fields.among(_HOLDERS):
        nested = fields.get(holder)
        if isinstance(nested, dict):
            inner = Fields(nested)
            if inner.text(MESSAGES) and find_level(inner):
                return True
    return False


def _lift(fields: Fields) -> None:
    """Bring up what says a message, a level, a time … one object down, where the record does not say it itself."""
    body = fields.get("body")
    if isinstance(body, dict):
        text = next((body[name] for name in _STRING_VALUES if isinstance(body.get(name), str)), "")
        if text:
            fields.put("body", text)
    for holder in fields.among(_HOLDERS):
        nested = fields.get(holder)
        if not isinstance(nested, dict):
            continue
        inner = Fields(dict(nested))
        for group in _LIFTED:
            if any(_says(fields.get(name)) for name in fields.among(group)):
                continue
            plain = next((name for name in inner.among(group) if _says(inner.get(name))), "")
            if plain:
                fields.put(plain, inner.drop(plain))
        if len(inner.rest) != len(nested):
            fields.put(holder, inner.rest)


def _says(value: object) -> bool:
    return value is not None and value != "" and value != {}


def _envelope(fields: Fields) -> Wrapped | None:
    """Return the line that a shipper's object carries, None for a record of its own."""
    text = fields.text(_ALL_MESSAGES)
    if not text or find_level(fields) is not None:
        return None
    if any(_says(fields.get(name)) for group in (EXCEPTIONS, TEMPLATES) for name in fields.among(group)):
        return None
    of_trace = is_trace_line(text)
    if not of_trace and not is_log_line(text):
        return None
    rest = fields.copy()
    rest.take(_ALL_MESSAGES)
    stamp = next((found for name in rest.among(_ALL_TIMES) if (found := stamp_of(rest.get(name)))[0]), ("", ""))
    channel = rest.text(CHANNELS) or _inside(rest, _ORIGINS)
    server = rest.text(SERVERS) or _inside(rest, _HOSTS)
    for name in rest.among(_ALL_TIMES):
        if stamp[0] and stamp_of(rest.get(name)) == stamp:
            rest.drop(name)
            break
    return Wrapped(
        text.strip("\r\n"),
        stamp,
        "\0".join((server, channel, *(_inside(rest, {root: way}) for root, way in _STREAMS.items()))),
        each=not of_trace,
        channel=channel,
        server_name=server or None,
        context=dump(rest.rest) if rest.rest else "",
    )


def _inside(fields: Fields, ways: Mapping[str, Sequence[str]]) -> str:
    """Return the first text that one of the ways through objects leads to; a way is a field and names within it."""
    for root, way in ways.items():
        found = fields.rest.get(root)
        if found is None:
            continue
        for name in way:
            found = found.get(name) if isinstance(found, dict) else None
        if isinstance(found, str) and found:
            return found
    return ""


def _time(fields: Fields, clock: Clock) -> str:
    """Take out the time; of two the one with a zone, as a number has it, wins over the one without."""
    pair = joined_time(fields.get("date"), fields.get("time")) if "date" in fields else ""
    if pair:
        fields.drop("date")
        fields.drop("time")
        return clock.read("iso", pair)
    second = ""
    for name in fields.among(_ALL_TIMES):
        value = fields.get(name)
        if value is None or (second and name != "created"):
            continue
        read = read_time(value, clock)
        if not read:
            continue
        fields.drop(name)
        if name != "asctime" or not isinstance(fields.get("created"), float):
            return read
        second = read
    return second


def _fill_exceptions(event: Event, fields: Fields) -> None:
    for name in fields.among(EXCEPTIONS):
        value = fields.get(name)
        if value is None:
            continue
        event.exceptions, event.stack = json_exceptions.read(value)
        if event.exceptions or event.stack:
            fields.drop(name)
            break
    text = fields.get("text")  # loguru: the record with its trace as it would stand in a file
    if isinstance(text, str) and event.message and event.message in text:
        fields.drop("text")
        if "\n" in text and not event.stack:
            exceptions, stack = json_exceptions.read(text.strip("\n"))
            if exceptions:
                event.exceptions, event.stack = exceptions, stack


def _render(template: str, fields: Fields) -> str:
    """Fill `{Name}` holes with the properties; a hole without its property stays."""
    if "{" not in template:
        return template
    values: dict[str, Any] = {}
    for holder in ("properties", "state"):
        nested = fields.get(holder)
        if isinstance(nested, dict):
            values.update(nested)
    values.update(fields.rest)
    parts = template.split("{")
    shown = [parts[0]]
    for part in parts[1:]:
        hole, closed, rest = part.partition("}")
        name = hole.lstrip("@$").split(":", 1)[0].split(",", 1)[0]
        if closed and name in values:
            value = values[name]
            shown.append((value if isinstance(value, str) else dump(value)) + rest)
        else:
            shown.append("{" + part)
    return "".join(shown)
