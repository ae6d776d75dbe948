"""Access lines written as JSON objects, the field names of the usual servers, proxies and load balancers."""

import re
from collections.abc import Mapping
from typing import Any

from snaglist.plugins.logs.parsers.access_line import (
    AccessHead,
    AccessLine,
    host_of,
    path_of,
    plain_address,
    plain_host,
    split_request,
    unescape,
    valid_status,
)
from snaglist.plugins.logs.parsers.context import load
from snaglist.plugins.logs.parsers.durations import milliseconds
from snaglist.plugins.logs.parsers.fields import Fields, stamp_of

# Plain names, see fields.py.
_STATUS = (
    "status", "statuscode", "responsestatus", "responsecode", "downstreamstatus", "edgeresponsestatus", "httpstatus",
    "httpstatuscode", "responsestatuscode", "scstatus",
)  # fmt: skip
_METHOD = ("method", "requestmethod", "verb", "clientrequestmethod", "httpmethod", "csmethod")
_TARGET = (
    "uri", "requesturi", "requesturl", "path", "url", "requestpath", "clientrequesturi", "originalurl", "resourcepath",
    "csuristem", "clientrequestpath",
)  # fmt: skip
_TIME = (
    "timeiso8601", "timelocal", "time", "timestamp", "@timestamp", "ts", "date", "startutc", "starttime",
    "edgestarttimestamp", "requesttime", "startedat", "datetime",
)  # fmt: skip
_CLIENT = (
    "clientip", "remoteaddr", "remoteip", "ip", "client", "clienthost", "clientaddr", "remoteaddress",
    "downstreamremoteaddress", "remotehost", "sourceip",
)  # fmt: skip
_FORWARDED = ("httpxforwardedfor", "xforwardedfor", "forwardedfor", "xff", "clientxforwardedfor")
_SIZE = (
    "bodybytessent", "bytessent", "size", "bytes", "responsesize", "downstreamcontentsize", "edgeresponsebytes",
    "bytesout", "responselength", "byteswritten", "resbytes",
)  # fmt: skip
_AGENT = ("httpuseragent", "useragent", "agent", "ua", "requestuseragent", "clientrequestuseragent")
_REFERRER = (
    "httpreferer", "httpreferrer", "referer", "referrer", "requestreferer", "requestreferrer", "clientrequestreferer",
)  # fmt: skip
_HOST = ("host", "httphost", "servername", "vhost", "requesthost", "clientrequesthost", "authority", "xforwardedhost")
_PROTOCOL = (
    "serverprotocol", "protocol", "proto", "requestprotocol", "clientrequestprotocol", "httpversion",
)  # fmt: skip
_DURATION = (
    "requesttime", "duration", "responsetimes", "latency", "durationms", "responsetimems", "timetaken", "responsetime",
    "elapsedms", "service", "elapsed", "took", "originresponsetime", "latencyms", "requestduration",
)  # fmt: skip
# Whole numbers of these are seconds, as a server that counts them writes.
_SECONDS = ("requesttime", "duration", "responsetimes", "latency")
# Objects of the request and of the answer; what the answer says wins.
_PARTS = ("httprequest", "request", "req", "response", "res")
_MESSAGES = ("message", "msg", "@message", "textpayload")
_FAILURES = ("error", "err", "exception", "excinfo", "stacktrace")
_MET = re.compile(
    r"(?:handled request|(?:incoming |http )?request(?: completed| finished| served| handled)?|access(?:[ _-]?log)?"
    r"|http|[A-Z]{3,10} /.*)?",
    re.IGNORECASE | re.DOTALL,
)
_BYTES = re.compile(r"(?:\\x[0-9A-Fa-f]{2})+")


def read_json_access(line: str) -> AccessHead | None:
    """Read a line; `\\xHH` escapes, which are no JSON, are repaired first."""
    if '"' not in line or not ("tatus" in line or "ode" in line):
        return None
    value = load(line)
    if value is None and "\\x" in line:
        value = load(_BYTES.sub(_repair, line))
    if not isinstance(value, dict):
        return None
    return json_head(value, line)


def json_head(value: Mapping[str, Any], text: str) -> AccessHead | None:
    """Return the request that the fields of a line are, None when they are none."""
    fields = Fields(value)
    return _head(fields, text) if is_access(fields) else None


def is_access(fields: Fields) -> bool:
    """Tell whether an object is a request of a server: a status, a request, and no message of its own."""
    merged = _merged(fields)
    if valid_status(_first(merged, _STATUS)) is None:
        return False
    if any(merged.get(name) for name in _FAILURES):
        return False
    request = fields.get("request")
    method, target = _text(merged, _METHOD), _text(merged, _TARGET)
    message = next((found for name in _MESSAGES if (found := fields.get(name))), "")
    if not isinstance(message, str) or not (_MET.fullmatch(message) or message == target):
        return False
    if method and target:
        return True
    # Whoever sends a status and a "request" without the form of one is no server.
    return isinstance(request, str) and (not message or split_request(request)[0] != "-")


def _merged(fields: Fields) -> Fields:
    """Return all fields of the object and of the request and answer in it."""
    parts = [part for name in _PARTS if isinstance(part := fields.get(name), Mapping)]
    if not parts:
        return fields
    merged: dict[str, Any] = {}
    for part in (*parts, fields.rest):
        merged.update(part)
    return Fields(merged)


def _head(given: Fields, text: str) -> AccessHead | None:
    fields = _merged(given)
    status = valid_status(_first(fields, _STATUS))
    if status is None:
        return None
    _take_headers(given, fields)
    request = given.get("request")
    if isinstance(request, str) and not _text(fields, _METHOD):
        method, path, protocol = split_request(request)
        shown = request
    else:
        method, path = _text(fields, _METHOD).upper(), path_of(_text(fields, _TARGET))
        protocol, shown = "", f"{method} {path}"
    line = AccessLine(method, path, status, shown)
    line.protocol = _protocol(protocol or _text(fields, _PROTOCOL))
    line.client = plain_address(_text(fields, _CLIENT))
    line.forwarded = _text(fields, _FORWARDED)
    line.host = plain_host(_text(fields, _HOST)) or host_of(_text(fields, _TARGET))
    line.size = _size(_first(fields, _SIZE))
    line.agent, line.referrer = unescape(_text(fields, _AGENT)), unescape(_text(fields, _REFERRER))
    line.duration_ms = _duration(fields)
    form, stamp = next((found for name in _TIME if (found := stamp_of(given.get(name)))[0]), ("", ""))
    return AccessHead(line, form, stamp, text)


def _take_headers(given: Fields, fields: Fields) -> None:
    """Take what the headers of the request say, where the server logs them."""
    for name in ("request", "req"):
        request = given.get(name)
        headers = request.get("headers") if isinstance(request, Mapping) else None
        if not isinstance(headers, Mapping):
            continue
        for key, value in Fields(headers).rest.items():
            plain = key.lower().replace("-", "")
            if plain in ("useragent", "referer", "xforwardedfor", "host") and plain not in fields:
                fields.put(plain, value[0] if isinstance(value, list) and value else value)


def _duration(fields: Fields) -> float | None:
    for name in _DURATION:
        value = fields.get(name)
        if value is None:
            continue
        whole = "s" if name in _SECONDS else "ms"
        if "downstreamstatus" in fields or "edgeresponsestatus" in fields or "latencyhuman" in fields:
            whole = "ns"  # Traefik, Cloudflare, Echo
        elif "responsecode" in fields or "controller" in fields:
            whole = "ms"  # Envoy, Rails
        found = milliseconds(value, whole, "ms" if whole == "ms" and name not in ("elapsed", "took") else "s")
        if found is not None:
            return found
    latencies = fields.get("latencies")  # Kong
    return milliseconds(latencies.get("request")) if isinstance(latencies, Mapping) else None


def _protocol(text: str) -> str:
    """Return `HTTP/1.1`, given so or as the number alone; a scheme is none."""
    if text[:1].isdigit():
        text = f"HTTP/{text}"
    return ("HTTP/2" if text == "HTTP/2.0" else text) if text.startswith("HTTP/") else ""


def _size(value: object) -> int:
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        value = int(value[:18])
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e15 else 0


def _repair(found: re.Match[str]) -> str:
    text = bytes.fromhex(found.group().replace("\\x", "")).decode("utf-8", "replace")
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _first(fields: Fields, names: tuple[str, ...]) -> Any:
    for name in names:
        found = fields.get(name)
        if found is not None and found != "" and not isinstance(found, Mapping):
            return found
    return None


def _text(fields: Fields, names: tuple[str, ...]) -> str:
    found = _first(fields, names)
    return found if isinstance(found, str) and found != "-" else ""
