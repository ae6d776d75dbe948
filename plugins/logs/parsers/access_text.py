"""Request lines of servers that have a notation of their own: one expression each, with names for what it says.

Sources of the notations: the documentation of Gin, Fiber, chi, uWSGI, HAProxy, Envoy and Istio, Squid, AWS (load
balancers, S3), nginx-proxy-manager, PHP's and Django's development servers, Tornado, Uvicorn, morgan, Next.js, Ktor.
"""

import re

from snaglist.plugins.logs.parsers.access_line import (
    METHODS,
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
from snaglist.plugins.logs.parsers.durations import milliseconds

_METHOD = rf"(?P<method>{METHODS})"
_STATUS = r"(?P<status>\d{3})"
_TOOK = r"(?P<took>\d[\d.]{0,20} ?(?:ns|[µμu]s|ms|s)|(?:\d{1,4}h)?\d{1,4}m[\d.]{1,12}s)"
_QUOTED = r'"(?P<{}>(?:[^"\\]|\\.)*)"'
_REQUEST = _QUOTED.format("request")
_AGENT = _QUOTED.format("agent")
_ISO = r"(?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d))"
_ADDRESS = r"(?P<client>[\w.:%\[\]-]{1,100})"


def _notation(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.ASCII)


_GIN = _notation(
    r"\[GIN\] (?P<slashed>\d{4}/\d\d/\d\d - \d\d:\d\d:\d\d) \| {0,10}", _STATUS, r" {0,10}\| {0,40}", _TOOK,
    r" {0,10}\| {0,60}", _ADDRESS, r" \| {0,10}", _METHOD, r' {1,20}"?(?P<target>[^\s"]{1,8000})"?',
)  # fmt: skip
_FIBER = _notation(
    r"\[?(?P<time>\d\d:\d\d:\d\d)\]? (?:\| )?", _STATUS, r" (?:\||-) {0,20}", _TOOK, r" {1,20}(?:\| {0,60}", _ADDRESS,
    r" {0,20}\| )?", _METHOD, r" {0,20}(?:\| )?(?P<target>/\S{0,8000})(?: \|.{0,2000})?",
)  # fmt: skip
_UWSGI = _notation(
    r"(?:\[pid: [^\]]{1,100}\] )?", _ADDRESS, r" \([^)]{0,200}\) \{[^}]{1,100}\} \[(?P<ctime>[^\]]{24})\] ", _METHOD,
    r" (?P<target>\S{1,8000}) => generated (?P<size>\d{1,18}) bytes in (?P<took>\d{1,12} \w{1,10}) "
    r"\((?P<protocol>HTTP/[\d.]{1,5}) (?P<status>\d{3})\)",
)  # fmt: skip
_PROXY_MANAGER = _notation(
    r"\[(?P<named>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] (?:\S{1,20} \S{1,20} )?", _STATUS, " - ",
    _METHOD, r" https? (?P<host>\S{1,255}) ", _QUOTED.format("target"), r" \[Client ", _ADDRESS,
    r"\] \[Length (?P<size>\d{1,18}|-)\] \[Gzip [^\]]{1,20}\] (?:\[Sent-to [^\]]{1,255}\] )?", _AGENT, " ",
    _QUOTED.format("referrer"),
)  # fmt: skip
_ENVOY = _notation(
    r"\[", _ISO, r"\] ", _REQUEST, " ", _STATUS, r" (?:[A-Za-z,]{1,60}|-) "
    r'(?:[^\s"]{1,200} [^\s"]{1,200} "[^"]{0,500}" )?\d{1,18} (?P<size>\d{1,18}) (?P<took>\d{1,12}) (?:\d{1,12}|-) '
    r'"(?P<forwarded>[^"]{0,1000})" ', _AGENT, r' "[^"]{0,200}" "(?P<host>[^"]{0,300})"',
)  # fmt: skip
_PHP = _notation(
    r"\[(?P<ctime>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ", _ADDRESS, r" \[", _STATUS, r"\]: ",
    r"(?:", _METHOD, r" )?(?P<target>/\S{0,8000})(?: - (?P<said>.{1,8000}))?",
)  # fmt: skip
_BALANCER = _notation(
    r"(?:(?:https?|h2|wss?|grpcs?) )?", _ISO, r" \S{1,200} ", _ADDRESS, r" (?:\S{1,100}) "
    r"(?P<took>-?[\d.]{1,20} -?[\d.]{1,20} -?[\d.]{1,20}) ", _STATUS, r" (?:\d{3}|-|0) \d{1,18} (?P<size>\d{1,18}) ",
    _REQUEST, r"(?: ", _AGENT, r")?",
)  # fmt: skip
_SQUID = _notation(
    r"(?P<epoch>\d{9,10}\.\d{3}) {1,12}(?P<took>\d{1,12}) ", _ADDRESS, r" [A-Z_]{3,40}/", _STATUS,
    r" (?P<size>\d{1,18}) (?P<method>[A-Z_]{3,20}) (?P<target>\S{1,8000}) \S{1,200} [A-Z_]{4,40}/\S{1,300}",
)  # fmt: skip
_S3 = _notation(
    r"[0-9a-f]{16,64} \S{1,100} \[(?P<named>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] ", _ADDRESS,
    r" \S{1,300} \S{1,100} [A-Z0-9._-]{1,60} \S{1,3000} ", _REQUEST, " ", _STATUS,
    r" \S{1,60} (?P<size>\d{1,18}|-) (?:\d{1,18}|-) (?P<took>\d{1,12}|-) (?:\d{1,12}|-) ", _QUOTED.format("referrer"),
    " ", _AGENT,
)  # fmt: skip
_HAPROXY = _notation(
    _ADDRESS, r" \[(?P<named>\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d)(?:\.\d{3})?\] \S{1,200} \S{1,200}/\S{1,200} "
    r"-?\d{1,12}/-?\d{1,12}/-?\d{1,12}/-?\d{1,12}/\+?(?P<took>\d{1,12}) ", r"(?P<status>\d{3}|-1) \+?(?P<size>\d{1,18})"
    r' [^"]{0,4000}', _REQUEST,
)  # fmt: skip
_UVICORN = _notation(r"(?:INFO: {1,10})?", _ADDRESS, r" - ", _REQUEST, " ", _STATUS, r"(?: [A-Z][A-Za-z' -]{1,40})?")
_ACTIX = _notation(
    _ADDRESS, " ", _REQUEST, " ", _STATUS, r" (?P<size>\d{1,18}|-) ", _QUOTED.format("referrer"), " ", _AGENT,
    r" (?P<took>\d{1,9}\.\d{1,9})",
)  # fmt: skip
_CHI = _notation(
    _REQUEST, r" from (?P<client>[\w.:%\[\]-]{1,100}) - ", _STATUS, r" (?P<size>\d{1,18})B in ", _TOOK,
)  # fmt: skip
_TORNADO = _notation(_STATUS, " ", _METHOD, r" (?P<target>\S{1,8000}) \(", _ADDRESS, r"\) ", _TOOK)
_KTOR = _notation(_STATUS, r" [A-Z][A-Za-z' -]{1,40}: ", _METHOD, r" - (?P<target>\S{1,8000}) in ", _TOOK)
# morgan's `dev` and `tiny`, koa's logger, Next.js.
_SHORT = _notation(
    r"(?:--> )?", _METHOD, r" (?P<target>/\S{0,8000}) (?:HTTP/[\d.]{1,5} )?", _STATUS,
    r"(?: (?P<size>\d{1,18}|-) -| in)? ", _TOOK, r"(?: - (?P<length>\d{1,18}|-)| [\d.]{1,12}k?b)?",
)  # fmt: skip
_MORGAN = _notation(
    _ADDRESS, r" \S{1,100} ", _METHOD, r" (?P<target>\S{1,8000}) (?P<protocol>HTTP/[\d.]{1,5}) ", _STATUS,
    r" (?P<size>\d{1,18}|-) - ", _TOOK,
)  # fmt: skip

# What a line has to begin with; those that begin with a number or an address are looked for by a text within.
_BY_FIRST = {
    "[": (_GIN, _FIBER, _UWSGI, _PROXY_MANAGER, _ENVOY, _PHP),
    '"': (_CHI,),
    "I": (_UVICORN,),
    "h": (_BALANCER,), "w": (_BALANCER,), "g": (_BALANCER,),
    **dict.fromkeys("GPHDOCTMRLUQ-", (_SHORT,)),
}  # fmt: skip
_BY_TEXT = (
    (" => generated ", _UWSGI), ("Z ", _BALANCER), ("] ", _HAPROXY), (" TCP_", _SQUID), (" UDP_", _SQUID),
    (' - "', _UVICORN), ("ms", _MORGAN), ("ms", _TORNADO), (" in ", _KTOR), (" | ", _FIBER), ('" ', _ACTIX),
)  # fmt: skip
_S3_OWNER = re.compile(r"[0-9a-f]{16,64} ")
_ADDRESSES = frozenset("0123456789abcdef:")
_FORMS = ("iso", "named", "slashed", "ctime", "time", "epoch")
# A line may go on behind these; all else of a notation is the whole line.
_OPEN = frozenset((_SQUID, _UWSGI, _ENVOY, _PHP, _BALANCER, _S3, _HAPROXY, _PROXY_MANAGER))


def read_text_access(line: str) -> AccessHead | None:
    """Read a line of one of the notations, None for any other."""
    for notation in _BY_FIRST.get(line[:1], ()):
        head = _read(notation, line)
        if head is not None:
            return head
    if line[:1] in _ADDRESSES:
        for text, notation in _BY_TEXT:
            if text in line:
                head = _read(notation, line)
                if head is not None:
                    return head
    return _read(_S3, line) if _S3_OWNER.match(line) else None


def _read(notation: re.Pattern[str], line: str) -> AccessHead | None:
    found = notation.match(line) if notation in _OPEN else notation.fullmatch(line.rstrip())
    if found is None:
        return None
    said = {name: value if value is not None and value != "-" else "" for name, value in found.groupdict().items()}
    status = valid_status("000" if said["status"] == "-1" else said["status"])
    if status is None:
        return None
    request = said.get("request", "")
    if "request" in said:
        method, path, protocol = split_request(request)
        target = request.split(" ")[1] if method != "-" else ""
    else:
        target = said["target"]
        method, path, protocol = said["method"] or "GET", path_of(target), said.get("protocol", "")
    access = AccessLine(method, path, status, request or f"{method} {path}", protocol=protocol)
    access.client = plain_address(said.get("client", ""))
    access.host = plain_host(said.get("host", "")) or host_of(target)
    access.forwarded = said.get("forwarded", "")
    access.referrer, access.agent = unescape(said.get("referrer", "")), unescape(said.get("agent", ""))
    access.size = int(said.get("size") or said.get("length") or 0)
    took = said.get("took", "")
    if notation is _BALANCER:
        parts = [float(part) for part in took.split() if not part.startswith("-") and part.count(".") < 2]
        access.duration_ms = sum(parts) * 1000 if len(parts) == 3 else None
    else:
        access.duration_ms = milliseconds(took) if took else None
    form = next((name for name in _FORMS if said.get(name)), "")
    stamp = said[form] if form else ""
    return AccessHead(access, form, stamp.replace(" - ", " "), line, said.get("said", ""))
