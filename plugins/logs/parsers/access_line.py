"""What an access line says, whatever its notation, and the event made of it."""

import re
from dataclasses import dataclass

from snaglist.plugins.issues import AccessInfo, Event
from snaglist.plugins.logs.parsers.clock import Clock

METHODS = (
    "GET|POST|PUT|HEAD|DELETE|PATCH|OPTIONS|CONNECT|TRACE|PROPFIND|PROPPATCH|REPORT|MKCOL|COPY|MOVE|LOCK|UNLOCK|PURGE"
)
_TARGETS = ("/", "*", "http:", "https:")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|([\"\\ntrbfv]))")
_ESCAPED_BYTES = re.compile(r"(?:\\x[0-9A-Fa-f]{2}){1,4096}")
_HIGH_BYTES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f]){1,4096}")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "v": ""}


@dataclass(slots=True)
class AccessLine(AccessInfo):
    """A request. `method` and `path` are "-" when the client sent no valid request line.

    `client` is the address of the peer and `forwarded` the logged forwarded-for field as it came;
    `host` has no port, `duration_ms` is None when the line has no duration.
    """

    request: str = ""
    client: str = ""
    forwarded: str = ""
    host: str = ""
    size: int = 0
    referrer: str = ""
    agent: str = ""
    protocol: str = ""
    duration_ms: float | None = None
    whole_number: bool = False  # the duration stood there without a unit

    @property
    def malformed(self) -> bool:
        """Tell whether the client sent no valid request line."""
        return self.method == "-"


@dataclass(slots=True)
class AccessHead:
    """A header: the request, None when no layout fits the line, its time, and what else is said about it."""

    line: AccessLine | None
    form: str
    stamp: str
    text: str
    context: str = ""


def valid_status(text: object) -> int | None:
    """Return a status from 100 to 599, or 0 written as 000, given as number or text."""
    if isinstance(text, str) and text.isdigit() and len(text) == 3:
        text = int(text)
    if isinstance(text, int) and not isinstance(text, bool) and (100 <= text <= 599 or text == 0):
        return text
    return None


def unescape(text: str) -> str:
    """Return a quoted value as it was sent: `\\"` and `\\x22` are a quote, `\\xC3\\xA9` is a letter."""
    if "\\" not in text:
        return text
    text = _ESCAPED_BYTES.sub(lambda found: bytes.fromhex(found[0].replace("\\x", "")).decode("utf-8", "replace"), text)
    return _ESCAPE.sub(lambda found: _CONTROL.get(found[2], found[2]) if found[2] else found[0], text)


def _one_spelling(path: str) -> str:
    """Write a path in one way: what is beyond ASCII as letters, all else that was escaped with a percent sign."""
    if "\\" in path:
        path = unescape(_ESCAPED_BYTES.sub(lambda found: found[0].replace("\\x", "%").upper(), path)).replace(
            '"', "%22"
        )
    if "%" in path:
        path = _HIGH_BYTES.sub(_letters, path)
    return path


def _letters(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found[0].replace("%", "")).decode()
    except UnicodeDecodeError:
        return found[0].upper()


def split_request(request: str) -> tuple[str, str, str]:
    """Return method, path without query, and protocol; "-" for both when it is no request line."""
    method, _, rest = request.partition(" ")
    if not rest or not method.replace("-", "").replace("_", "").isalpha() or not method.isascii() or len(method) > 20:
        return "-", "-", ""
    target, protocol = rest.strip(), ""
    place = target.rfind(" HTTP/")
    if place >= 0:
        target, protocol = target[:place].rstrip(), target[place + 1 :]
    if not target.startswith(_TARGETS) and method != "CONNECT":
        return "-", "-", ""
    return method, path_of(target), protocol


def path_of(target: str) -> str:
    """Return the path of a request target: no query, no scheme and host; one spelling of what is escaped."""
    path = target.partition("?")[0].partition("#")[0]
    if path.startswith(("http://", "https://")):
        path = "/" + path.split("/", 3)[3] if path.count("/") >= 3 else "/"
    return _one_spelling(path) or "/"


def host_of(target: str) -> str:
    """Return the host of a request target that is a whole address, "" for none."""
    return plain_host(target.split("/", 3)[2]) if target.startswith(("http://", "https://")) else ""


def plain_address(text: str) -> str:
    """Return a client address without port, zone, brackets and the IPv6 form of IPv4."""
    address = text.strip()
    host, _, port = address.rpartition(":")
    if port.isdecimal() and host and (":" not in host or host[-1] == "]"):
        address = host
    address = address.partition("%")[0].strip("[]")
    return address[7:] if address.lower().startswith("::ffff:") and "." in address else address


def plain_host(text: str) -> str:
    """Return a host name without its port."""
    name, _, port = text.rpartition(":")
    return (name if name and port.isdigit() else text).strip("[]")


def access_event(head: AccessHead, clock: Clock) -> Event:
    """Make the event; a line that no layout fits keeps its text and has no `access`."""
    event = Event(head.text, severity="INFO", family="access", log_type="access")
    event.occurred_at = clock.read(head.form, head.stamp) if head.form else ""
    line = head.line
    if line is None:
        event.level_source = "none"
        return event
    shown = line.request if line.malformed else f"{line.method} {line.path}"
    event.message = f"{shown or '-'} → {line.status:03d}"
    event.severity = "ERROR" if line.status >= 500 else "WARNING" if line.status >= 400 else "INFO"
    event.access, event.context = line, head.context
    event.server_name = line.host or None
    return event
