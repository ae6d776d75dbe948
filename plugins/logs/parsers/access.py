"""Access logs: common, combined and virtual-host lines, JSON objects, and W3C extended logs."""

import re
from collections.abc import Sequence
from typing import Any, Self

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.access_json import read_json_access
from snaglist.plugins.logs.parsers.access_line import (
    AccessHead,
    AccessLine,
    access_event,
    path_of,
    plain_address,
    plain_host,
    split_request,
    valid_status,
)
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser
from snaglist.plugins.logs.parsers.clock import Clock

_TIME = re.compile(r" \[(\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\] ")
_RESULT = re.compile(r'" (\d{3}) (\d{1,18}|-)(?= |$)')
_FIELD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}$|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,45}(?:%\w{1,15})?$")
_DIRECTIVE = re.compile(r"#(Version|Fields|Software|Date|Start-Date|End-Date|Remark): ?(.*)")
_MAX_PREFIX = 600
_MAX_FIELDS = 12


class Access(Parser):
    """Requests. A line of the layout that does not fit in the end is "not understood": its `access` is None.

    A whole number behind the agent is taken for milliseconds, a decimal one for seconds.
    """

    log_type = "access"
    family = "access"
    multiline = False

    def __init__(self) -> None:
        self._columns: list[str] = []

    def fresh(self) -> Self:
        """Return a parser with its own W3C columns."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Find the W3C columns, for a reader that begins behind them."""
        for line in lines:
            if line.startswith("#Fields:"):
                self._columns = line[8:].split()
                return

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
        if self._columns and first.isdigit():
            return _read_columns(line, self._columns)
        return _read_common(line)

    def event(self, header: AccessHead, lines: Sequence[str], clock: Clock) -> Event:
        """Make the event of a request."""
        return access_event(header, clock)


def _read_common(line: str) -> AccessHead | None:
    found = _TIME.search(line, 0, _MAX_PREFIX)
    if found is None:
        return None
    before = line[: found.start()]
    rest = line[found.end() :]
    if before.startswith('"') and rest.endswith('""'):
        before, rest = before[1:], rest[:-1]
    names = before.split()
    if len(names) < 3 or rest[:1] != '"':
        return None
    result = _RESULT.search(rest, 1)
    status = valid_status(result[1]) if result else None
    if result is None or status is None:
        return AccessHead(None, "named", found[1], line)
    request = rest[1 : result.start()]
    method, path, protocol = split_request(request)
    access = AccessLine(method, path, status, request, protocol=protocol)
    if len(names) > 3 and _ADDRESS.match(names[1]) and not _ADDRESS.match(names[0]):
        access.host = plain_host(names.pop(0))
    access.client = plain_address(names[0])
    access.size = int(result[2]) if result[2] != "-" else 0
    if result.end() < len(rest):
        _read_rest(access, rest[result.end() :])
    return AccessHead(access, "named", found[1], line)


def _read_rest(access: AccessLine, text: str) -> None:
    """Read what follows the size: referrer and agent in quotes, then a forwarded-for field or a duration."""
    quoted: list[str] = []
    for count, found in enumerate(_FIELD.finditer(text)):
        if count >= _MAX_FIELDS:
            break
        if found[1] is not None:
            quoted.append("" if found[1] == "-" else found[1])
        elif access.duration_ms is None:
            access.duration_ms = _duration(found[2])
    if quoted:
        access.referrer = quoted[0]
    if len(quoted) > 1:
        access.agent = quoted[1]
    if len(quoted) > 2:
        access.forwarded = quoted[2]


def _duration(text: str) -> float | None:
    try:
        number = float(text.removesuffix("ms").removesuffix("s"))
    except ValueError:
        return None
    if not 0 <= number < 1e12:
        return None
    seconds = "." in text and not text.endswith("ms")
    return number * 1000 if seconds else number


def _read_columns(line: str, columns: Sequence[str]) -> AccessHead | None:
    values = line.split()
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
    access = AccessLine(method, path, status, f"{method} {path}")
    access.client = plain_address(fields.get("c-ip", ""))
    access.agent = fields.get("cs(User-Agent)", "").replace("+", " ")
    access.referrer = fields.get("cs(Referer)", "")
    access.host = plain_host(fields.get("cs-host") or fields.get("cs(Host)") or "")
    access.protocol = fields.get("cs-version", "")
    access.forwarded = fields.get("x-forwarded-for") or fields.get("cs(X-Forwarded-For)") or ""
    access.size = int(fields["sc-bytes"]) if fields.get("sc-bytes", "").isdigit() else 0
    access.duration_ms = _duration(fields["time-taken"]) if fields.get("time-taken") else None
    return AccessHead(access, form, stamp, line)
