"""Access logs: common, combined and virtual-host lines, JSON objects, pairs, W3C extended logs, others' notations."""

import re
from collections.abc import Sequence
from typing import Any, Self
from urllib.parse import unquote

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.access_json import json_head, read_json_access
from snaglist.plugins.logs.parsers.access_line import (
    AccessHead,
    AccessLine,
    access_event,
    host_of,
    path_of,
    plain_address,
    plain_host,
    split_request,
    unescape,
    valid_status,
)
from snaglist.plugins.logs.parsers.access_text import read_text_access
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.durations import milliseconds
from snaglist.plugins.logs.parsers.severity import NAMES

_TIME = re.compile(
    r"\[(?:(?P<named>\d{2}/[A-Z][a-z]{2}/\d{4}[: ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?: (?:[+-]\d{4}|[A-Z]{3,5}))?)"
    r"|(?P<iso>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})))\] "
)
# The usual line, read at once; what differs from it in anything is read part by part.
_USUAL = re.compile(
    r"([\d.]{7,15}|[0-9a-f:]{3,45}) - ([^\s\"]{1,100}) \[(\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\] "
    r'"(([A-Z]{3,10}) (/[^\s"\\?#%]{0,2000})(?:[?#][^\s"\\%]{0,2000})? (HTTP/[\d.]{1,3}))" (\d{3}) (\d{1,18}|-)'
    r'(?: "([^"\\]{0,2000})" "([^"\\]{0,1000})")?$'
)
_RESULT = re.compile(r'(?<!\\)" (\d{3})(?= |$)(?: (\d{1,18}|-)(?= |$))?')
_FIELD = re.compile(r'(?:\w{1,40}=)?"((?:[^"\\]|\\.)*)"|(\S+)')
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}$|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,45}(?:%\w{1,15})?$")
_CLIENT = re.compile(
    r"-$|unix:$|(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?$|\[?[0-9A-Fa-f:.]{2,45}(?:%\w{1,15})?\]?(?::\d{1,5})?$"
    r"|[A-Za-z][\w.-]{0,254}$|[\w-]{1,63}(?:\.[\w-]{1,63}){1,10}(?::\d{1,5})?$"
)
_DIRECTIVE = re.compile(r"#(Version|Fields|Software|Date|Start-Date|End-Date|Remark): ?(.*)")
# What IIS writes as long as nobody chose other columns, for a part of a file without its directives.
_USUAL_COLUMNS = (
    "date", "time", "s-ip", "cs-method", "cs-uri-stem", "cs-uri-query", "s-port", "cs-username", "c-ip",
    "cs(User-Agent)", "cs(Referer)", "sc-status", "sc-substatus", "sc-win32-status", "time-taken",
)  # fmt: skip
_USUAL_W3C = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [\d.:a-f%]{2,60} [A-Z]{3,20} /\S{0,2000} \S{1,4000} \d{1,5} "
    r"(?:\S{1,2000} ){4}[1-5]\d\d \d{1,4} \d{1,12} \d{1,12} ?$",
    re.ASCII,
)
_VALUE = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_PAIR = re.compile(r'([A-Za-z_][\w.-]{0,60})=(?:"((?:[^"\\]|\\.)*)"|(\S*))')
_TAKES = re.compile(r"(?:rt|request_time|reqtime|time|took|duration|elapsed|D|T)[=:]\"?([\d.]{1,20}\w{0,2})\"?$")
_MAX_PREFIX = 600
_MAX_NAMES = 12
_MAX_FIELDS = 24
# Whole numbers behind the agent are milliseconds, unless the sample has such as no server takes them to answer.
_MICROSECONDS_FROM = 5_000
_MIN_SAMPLE = 5


class Access(Parser):
    """Requests. A line of the layout that does not fit in the end is "not understood": its `access` is None.

    A decimal number behind the agent is taken for seconds, a whole one for milliseconds, or for microseconds where
    the first lines of the file have such numbers as no server takes to answer.
    """

    log_type = "access"
    family = "access"
    multiline = False

    def __init__(self) -> None:
        self._columns: list[str] = []
        self._whole = "ms"

    def fresh(self) -> Self:
        """Return a parser with its own W3C columns."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Find the W3C columns, for a reader that begins behind them, and the unit of durations."""
        columns = next((line[8:].split() for line in lines if line.startswith("#Fields:")), [])
        self._columns, self._whole = columns, "ms"
        heads = [head for line in lines if line[:1] != "{" and type(head := self.header(line)) is AccessHead]
        taken = sorted(head.line.duration_ms or 0 for head in heads if head.line and head.line.whole_number)
        if len(taken) >= _MIN_SAMPLE and taken[len(taken) // 2] >= _MICROSECONDS_FROM:
            self._whole = "us"
        self._columns = columns  # the lines may have named others

    def header(self, line: str) -> Any | None:
        """Read any of the notations."""
        first = line[:1]
        if first == "{":
            return read_json_access(line)
        if first == "#":
            found = _DIRECTIVE.match(line)
            if found is None:
                return None
            if found[1] == "Fields":
                self._columns = found[2].split()
            return DIRECTIVE
        if first.isdigit():
            columns = self._columns or (_USUAL_COLUMNS if _USUAL_W3C.match(line) else None)
            if columns:
                return _read_columns(line, columns)
        return _read_text(line, self._whole)

    def event(self, header: AccessHead, lines: Sequence[str], clock: Clock) -> Event:
        """Make the event of a request."""
        return access_event(header, clock)


def _read_text(line: str, whole: str) -> AccessHead | None:
    usual = _USUAL.match(line)
    if usual is not None:
        head = _usual(usual, line)
        if head is not None:
            return head
    other = read_text_access(line) if line[:1] == "[" else None
    if other is not None:
        return other
    head = _read_common(line, whole) if "[" in line[:_MAX_PREFIX] else None
    if line[:1] == "[" or (head is not None and head.line is not None):
        return head
    other = read_text_access(line)
    if other is None and "status=" in line and "method=" in line:
        other = _read_pairs(line)
    return other or head


def _usual(found: re.Match[str], text: str) -> AccessHead | None:
    client, user, stamp, request, method, path, protocol, code, size, referrer, agent = found.groups()
    status = valid_status(code)
    if status is None:
        return None
    line = AccessLine(method, path, status, request, client, protocol=protocol, user="" if user == "-" else user)
    if size != "-":
        line.size = int(size)
    if agent is not None:
        line.referrer = "" if referrer == "-" else referrer
        line.agent = "" if agent == "-" else agent
    return AccessHead(line, "named", stamp, text)


def _read_common(line: str, whole: str) -> AccessHead | None:
    """Read what begins with client, identity and user, a time in brackets, and the request in quotes."""
    found = _TIME.search(line, 0, _MAX_PREFIX)
    if found is None or (found.start() and line[found.start() - 1] != " "):
        return None
    before = line[: found.start()]
    rest = line[found.end() :]
    if before.startswith('"') and rest.endswith('""'):
        before, rest = before[1:], rest[:-1]
    named = before.replace('"', " ").split()
    if rest[:1] != '"' or len(named) > _MAX_NAMES:
        return None
    names = [name for name in named if name[-1] != ","]
    passed = [name.rstrip(",") for name in named if name[-1] == ","]
    if passed and names and _ADDRESS.match(names[0]):
        passed.append(names[0])  # the last of the list
        if len(names) > 1 and _ADDRESS.match(names[1]):
            names.pop(0)
    if names and (_CLIENT.match(names[0]) is None or any(name.strip("[]:").upper() in NAMES for name in names[:-1])):
        return None
    form = found.lastgroup or ""
    result = _RESULT.search(rest, 1)
    status = valid_status(result[1]) if result else None
    if result is None or status is None:
        return AccessHead(None, form, found[form], line) if len(names) > 2 else None
    request = rest[1 : result.start()]
    method, path, protocol = split_request(request)
    if method == "-" and len(names) < 3:
        return None
    access = AccessLine(method, path, status, request, protocol=protocol, forwarded=", ".join(passed))
    access.host = host_of(request.split(" ")[1]) if method != "-" else ""
    if len(names) > 3 and _ADDRESS.match(names[1]) and not _ADDRESS.match(names[0]):
        access.host = plain_host(names.pop(0))
    elif len(names) == 3 and "." in names[1] and _ADDRESS.match(names[0]):
        access.host = plain_host(names[1])  # where the identity would stand
    access.client = plain_address(names[0]) if names else ""
    access.user = " ".join(name for name in names[2:] if name != "-")
    access.size = int(result[2]) if result[2] and result[2] != "-" else 0
    if result.end() < len(rest):
        _read_rest(access, rest[result.end() :], whole)
    return AccessHead(access, form, found[form], line)


def _read_rest(access: AccessLine, text: str, whole: str) -> None:
    """Read what follows the size: referrer and agent in quotes, then a forwarded-for field, durations and others."""
    quoted: list[str] = []
    durations: dict[str, str] = {}  # how sure it is → the first such text
    for count, found in enumerate(_FIELD.finditer(text)):
        if count >= _MAX_FIELDS:
            break
        if found[1] is not None and found[0][0] == '"':
            quoted.append("" if found[1] == "-" else found[1])
            continue
        named = _TAKES.match(found[0]) if "=" in found[0] or ":" in found[0] else None
        kind, value = ("named", named[1]) if named else (_kind(found[0]), found[0])
        durations.setdefault(kind, value)
    if quoted:
        access.referrer = unescape(quoted[0])
    if len(quoted) > 1:
        access.agent = unescape(quoted[1])
    if len(quoted) > 2 and _is_forwarded(quoted[2]):
        access.forwarded = quoted[2]
    taken = next((durations[kind] for kind in ("named", "unit", "decimal", "whole") if kind in durations), "")
    access.duration_ms = milliseconds(taken, whole) if taken else None
    access.whole_number = taken.isdecimal()


def _kind(text: str) -> str:
    """Tell what a bare field behind the size may be as a duration."""
    if not text[0].isdigit():
        return ""
    if text[-1] == "s":
        return "unit"
    number = text.replace(".", "", 1)
    if not (number.isdecimal() and number.isascii()):
        return ""
    return "decimal" if "." in text else "whole"


def _is_forwarded(text: str) -> bool:
    first = text.partition(",")[0].strip()
    return _ADDRESS.match(plain_address(first)) is not None or first == "unknown"


def _read_pairs(line: str) -> AccessHead | None:
    """Read `method=GET path=/x status=200 …`, as routers of platforms and some frameworks write requests."""
    if _PAIR.match(line) is None:
        return None
    pairs = {name: quoted or bare for name, quoted, bare in _PAIR.findall(line)}
    return json_head(pairs, line)


def _read_columns(line: str, columns: Sequence[str]) -> AccessHead | None:
    values = _split_columns(line, columns)
    if len(values) != len(columns):
        return AccessHead(None, "", "", line)
    fields = {name: "" if value == "-" else value for name, value in zip(columns, values, strict=True)}
    stamp = f"{fields.get('date', '')} {fields.get('time', '')}Z"
    form = "iso" if len(stamp) >= 20 else ""
    status = valid_status(fields.get("sc-status"))
    method = fields.get("cs-method", "")
    if status is None or not method:
        return AccessHead(None, form, stamp, line)
    path = path_of(fields.get("cs-uri-stem") or fields.get("cs-uri") or "/")
    access = AccessLine(method, path, status, f"{method} {path}", user=fields.get("cs-username", ""))
    access.client = plain_address(fields.get("c-ip", ""))
    access.agent = _agent_of(fields.get("cs(User-Agent)", ""))
    access.referrer = fields.get("cs(Referer)", "")
    access.host = plain_host(fields.get("cs-host") or fields.get("cs(Host)") or fields.get("x-host-header") or "")
    access.protocol = fields.get("cs-version") or fields.get("cs-protocol-version") or ""
    access.forwarded = fields.get("x-forwarded-for") or fields.get("cs(X-Forwarded-For)") or ""
    access.size = int(fields["sc-bytes"]) if fields.get("sc-bytes", "").isdigit() else 0
    access.duration_ms = milliseconds(fields["time-taken"]) if fields.get("time-taken") else None
    return AccessHead(access, form, stamp, line)


def _split_columns(line: str, columns: Sequence[str]) -> list[str]:
    """Split a W3C line at blanks or tabs; a value in quotes may hold both."""
    if '"' in line:
        return [found[2] or found[1].replace('""', '"') for found in _VALUE.finditer(line)]
    values = line.split("\t")
    return values if len(values) == len(columns) else line.split()


def _agent_of(text: str) -> str:
    """Return a user agent of a W3C log, whose blanks are written as plus signs or percent escapes."""
    if " " in text:
        return text
    return unquote(text) if "%20" in text else text.replace("+", " ")
