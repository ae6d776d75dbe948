"""Access lines written as JSON objects, the field names of the usual servers and proxies."""

import re
from collections.abc import Mapping
from typing import Any

from snaglist.plugins.logs.parsers.access_line import (
    AccessHead,
    AccessLine,
    path_of,
    plain_address,
    plain_host,
    split_request,
    valid_status,
)
from snaglist.plugins.logs.parsers.context import load

_STATUS = ("status", "status_code", "statusCode", "response_status", "response_code", "DownstreamStatus")
_METHOD = ("method", "request_method", "requestMethod", "verb", "RequestMethod")
_TARGET = ("uri", "request_uri", "requestUrl", "path", "url", "RequestPath", "request_path")
_TIME = ("time_iso8601", "time_local", "time", "timestamp", "@timestamp", "ts", "date", "StartUTC")
_CLIENT = ("client_ip", "remote_addr", "remote_ip", "ip", "clientip", "client", "ClientHost", "remoteIp")
_FORWARDED = ("http_x_forwarded_for", "x_forwarded_for", "forwarded_for", "xff")
_SIZE = ("body_bytes_sent", "bytes_sent", "size", "bytes", "responseSize", "DownstreamContentSize")
_AGENT = ("http_user_agent", "user_agent", "userAgent", "agent", "ua")
_REFERRER = ("http_referer", "http_referrer", "referer", "referrer")
_HOST = ("host", "http_host", "server_name", "vhost", "RequestHost")
_PROTOCOL = ("server_protocol", "protocol", "proto", "RequestProtocol")
_SECONDS = ("request_time", "duration", "response_time_s", "latency")
_MILLISECONDS = ("duration_ms", "response_time_ms", "time_taken", "response_time", "elapsed_ms")
_MESSAGES = ("message", "msg", "error", "err", "exception")
_BYTES = re.compile(r"(?:\\x[0-9A-Fa-f]{2})+")


def read_json_access(line: str) -> AccessHead | None:
    """Read a line; `\\xHH` escapes, which are no JSON, are repaired first."""
    if '"' not in line or "tatus" not in line:
        return None
    value = load(line)
    if value is None and "\\x" in line:
        value = load(_BYTES.sub(_repair, line))
    return _head(value, line) if isinstance(value, dict) and is_access(value) else None


def is_access(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a request of a server: a status, a request, and no message of its own."""
    if valid_status(_first(value, _STATUS)) is None:
        return False
    request = value.get("request")
    if isinstance(request, Mapping):
        return bool(_first(request, _METHOD) and _first(request, _TARGET))
    if any(name in value for name in _MESSAGES):
        return False
    return isinstance(request, str) or bool(_first(value, _METHOD) and _first(value, _TARGET))


def _head(value: Mapping[str, Any], text: str) -> AccessHead | None:
    status = valid_status(_first(value, _STATUS))
    if status is None:
        return None
    inner = value.get("request")
    request: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
    fields = {**value, **request}
    headers = request.get("headers")
    if isinstance(headers, Mapping):
        for name, key in (("User-Agent", "user_agent"), ("Referer", "referer"), ("X-Forwarded-For", "x_forwarded_for")):
            given = headers.get(name)
            fields.setdefault(key, given[0] if isinstance(given, list) and given else given)
    if isinstance(inner, str):
        method, path, protocol = split_request(inner)
        shown = inner
    else:
        method, path = str(_first(fields, _METHOD)), path_of(str(_first(fields, _TARGET)))
        protocol, shown = "", f"{method} {path}"
    line = AccessLine(method, path, status, shown)
    line.protocol = protocol or _text(fields, _PROTOCOL).removesuffix(".0" if "HTTP/2" in str(fields) else "\0")
    line.client = plain_address(_text(fields, _CLIENT))
    line.forwarded = _text(fields, _FORWARDED)
    line.host = plain_host(_text(fields, _HOST))
    line.size = int(_number(fields, _SIZE) or 0)
    line.agent, line.referrer = _text(fields, _AGENT), _text(fields, _REFERRER)
    seconds = _number(fields, _SECONDS)
    line.duration_ms = seconds * 1000 if seconds is not None else _number(fields, _MILLISECONDS)
    form, stamp = _stamp(_first(value, _TIME))
    return AccessHead(line, form, stamp, text)


def _stamp(value: object) -> tuple[str, str]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "epoch", repr(value)
    text = value if isinstance(value, str) else ""
    if text[2:3] == "/":
        return "named", text
    if text[4:5] == "-":
        return "iso", text
    return ("epoch", text) if text.replace(".", "", 1).isdigit() else ("", "")


def _repair(found: re.Match[str]) -> str:
    text = bytes.fromhex(found.group().replace("\\x", "")).decode("utf-8", "replace")
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    for name in names:
        found = value.get(name)
        if found is not None and found != "" and not isinstance(found, Mapping):
            return found
    return None


def _text(value: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = _first(value, names)
    return found if isinstance(found, str) and found != "-" else ""


def _number(value: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    found = _first(value, names)
    try:
        number = float(found)
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < 1e15 else None
