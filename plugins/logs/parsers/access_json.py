"""Access lines written as JSON objects, the field names of the usual servers, proxies and load balancers."""

import re
from collections.abc import Sequence
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
from snaglist.plugins.logs.parsers.fields import Fields, Names, stamp_of

# Plain names, see fields.py.
_STATUS = Names(
    "status", "statuscode", "responsestatus", "responsecode", "downstreamstatus", "edgeresponsestatus", "httpstatus",
    "httpstatuscode", "responsestatuscode", "scstatus",
)  # fmt: skip
_METHOD = Names("method", "requestmethod", "verb", "clientrequestmethod", "httpmethod", "csmethod")
_TARGET = Names(
    "uri", "requesturi", "requesturl", "path", "url", "requestpath", "clientrequesturi", "originalurl", "resourcepath",
    "csuristem", "clientrequestpath",
)  # fmt: skip
_TIME = Names(
    "timeiso8601", "timelocal", "time", "timestamp", "@timestamp", "ts", "date", "startutc", "starttime",
    "edgestarttimestamp", "requesttime", "startedat", "datetime",
)  # fmt: skip
_CLIENT = Names(
    "clientip", "remoteaddr", "remoteip", "ip", "client", "clienthost", "clientaddr", "remoteaddress",
    "downstreamremoteaddress", "remotehost", "sourceip",
)  # fmt: skip
_USER = Names("remoteuser", "authuser", "clientusername", "csusername", "userid", "username", "user")
_FORWARDED = Names("httpxforwardedfor", "xforwardedfor", "forwardedfor", "xff", "clientxforwardedfor")
_SIZE = Names(
    "bodybytessent", "bytessent", "size", "bytes", "responsesize", "downstreamcontentsize", "edgeresponsebytes",
    "bytesout", "responselength", "byteswritten", "resbytes",
)  # fmt: skip
_AGENT = Names("httpuseragent", "useragent", "agent", "ua", "requestuseragent", "clientrequestuseragent")
_REFERRER = Names(
    "httpreferer", "httpreferrer", "referer", "referrer", "requestreferer", "requestreferrer", "clientrequestreferer",
)  # fmt: skip
_HOST = Names(
    "host", "httphost", "servername", "vhost", "requesthost", "clientrequesthost", "authority", "xforwardedhost"
)
_PROTOCOL = Names(
    "serverprotocol", "protocol", "proto", "requestprotocol", "clientrequestprotocol", "httpversion",
)  # fmt: skip
_DURATION = Names(
    "requesttime", "duration", "responsetimes", "latency", "durationms", "responsetimems", "timetaken", "responsetime",
    "elapsedms", "service", "elapsed", "took", "originresponsetime", "latencyms", "requestduration",
)  # fmt: skip
# Whole numbers of these are seconds, as a server that counts them writes.
_SECONDS = ("requesttime", "duration", "responsetimes", "latency")
_NANOSECONDS = Names("downstreamstatus", "edgeresponsestatus", "latencyhuman")  # Traefik, Cloudflare, Echo
_MILLISECONDS = Names("responsecode", "controller")  # Envoy, Rails
# Objects of the request and of the answer; what the answer says wins.
_PARTS = Names("httprequest", "request", "req", "response", "res")
_MESSAGES = Names("message", "msg", "@message", "textpayload")
_FAILURES = Names("error", "err", "exception", "excinfo", "stacktrace")
_MET = re.compile(
    r"(?:handled request|(?:incoming |http )?request(?: completed| finished| served| handled)?|access(?:[ _-]?log)?"
    r"|http|[A-Z]{3,10} /.*)",
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


def json_head(value: dict[str, Any], text: str) -> AccessHead | None:
    """Return the request that the fields of a line are, None when they are none."""
    fields = Fields(value)
    merged = _request_in(fields)
    return _head(fields, merged, text) if merged is not None else None


def is_access(fields: Fields) -> bool:
    """Tell whether an object is a request of a server: a status, a request, and no message of its own."""
    return _request_in(fields) is not None


def _request_in(fields: Fields) -> Fields | None:
    """Return all fields of the request that an object is, None when it is none."""
    parts = [part for name in fields.among(_PARTS) if isinstance(part := fields.get(name), dict)]
    if not fields.among(_STATUS) and not any(Fields(part).among(_STATUS) for part in parts):
        return None
    merged = _merged(fields, parts)
    if not merged.among(_STATUS) or valid_status(_first(merged, _STATUS)) is None:
        return None
    if any(merged.get(name) for name in merged.among(_FAILURES)):
        return None
    request = fields.get("request")
    method, target = _text(merged, _METHOD), _text(merged, _TARGET)
    message = next((found for name in fields.among(_MESSAGES) if (found := fields.get(name))), "")
    if not isinstance(message, str) or not (not message or message == target or _MET.fullmatch(message)):
        return None
    if method and target:
        return merged
    # Whoever sends a status and a "request" without the form of one is no server.
    return merged if isinstance(request, str) and (not message or split_request(request)[0] != "-") else None


def _merged(fields: Fields, parts: Sequence[dict[str, Any]]) -> Fields:
    """Return all fields of the object and of the request and answer in it."""
    if not parts:
        return fields
    merged: dict[str, Any] = {}
    for part in (*parts, fields.rest):
        merged.update(part)
    return Fields(merged)


def _head(given: Fields, fields: Fields, text: str) -> AccessHead | None:
    status = valid_status(_first(fields, _STATUS))
    if status is None:
        return None
    if given is not fields:
        _take_headers(given, fields)
    request = given.get("request")
    if isinstance(request, str) and not _text(fields, _METHOD):
        method, path, protocol = split_request(request)
        shown = request
    else:
        method, path = _text(fields, _METHOD).upper(), path_of(_text(fields, _TARGET))
        protocol, shown = "", f"{method} {path}"
    line = AccessLine(method, path, status, shown, user=_text(fields, _USER))
    line.protocol = _protocol(protocol or _text(fields, _PROTOCOL))
    line.client = plain_address(_text(fields, _CLIENT))
    line.forwarded = _text(fields, _FORWARDED)
    line.host = plain_host(_text(fields, _HOST)) or host_of(_text(fields, _TARGET))
    line.size = _size(_first(fields, _SIZE))
    line.agent, line.referrer = unescape(_text(fields, _AGENT)), unescape(_text(fields, _REFERRER))
    line.duration_ms = _duration(fields)
    form, stamp = next((found for name in given.among(_TIME) if (found := stamp_of(given.get(name)))[0]), ("", ""))
    return AccessHead(line, form, stamp, text)


def _take_headers(given: Fields, fields: Fields) -> None:
    """Take what the headers of the request say, where the server logs them."""
    for name in ("request", "req"):
        request = given.get(name)
        headers = request.get("headers") if isinstance(request, dict) else None
        if not isinstance(headers, dict):
            continue
        for key, value in Fields(headers).rest.items():
            plain = key.lower().replace("-", "")
            if plain in ("useragent", "referer", "xforwardedfor", "host") and plain not in fields:
                fields.put(plain, value[0] if isinstance(value, list) and value else value)


def _duration(fields: Fields) -> float | None:
    for name in fields.among(_DURATION):
        value = fields.get(name)
        if value is None:
            continue
        whole = "s" if name in _SECONDS else "ms"
        if fields.among(_NANOSECONDS):
            whole = "ns"
        elif fields.among(_MILLISECONDS):
            whole = "ms"
        found = milliseconds(value, whole, "ms" if whole == "ms" and name not in ("elapsed", "took") else "s")
        if found is not None:
            return found
    latencies = fields.get("latencies")  # Kong
    return milliseconds(latencies.get("request")) if isinstance(latencies, dict) else None


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


def _first(fields: Fields, names: Names) -> Any:
    for name in fields.among(names):
        found = fields.get(name)
        if found is not None and found != "" and not isinstance(found, dict):
            return found
    return None


def _text(fields: Fields, names: Names) -> str:
    found = fields.text(names)
    return "" if found == "-" else found
