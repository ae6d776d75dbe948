"""Hosts: who the request says it speaks to, whether that is allowed, and whether a browser may write."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from snaglist.kernel.errors import BadRequest, Forbidden

__all__ = ["Host", "Network", "is_loopback", "parse_host", "parse_networks"]

_HOST = re.compile(
    r"(\[[0-9a-fA-F:.]{2,45}\]|[a-zA-Z0-9_](?:[a-zA-Z0-9_.-]{0,252}[a-zA-Z0-9_.])?)(?::([0-9]{1,5}))?", re.ASCII
)
_ORIGIN = re.compile(r"(https?)://([^/?#@\\%\s]+)", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
WRITING = ("POST", "PUT", "PATCH", "DELETE")


def parse_networks(texts: Iterable[str]) -> list[Network]:
    """Read CIDR networks; raises ValueError."""
    return [ipaddress.ip_network(text, strict=False) for text in texts]


@dataclass(frozen=True, slots=True)
class Host:
    """A host name in lower case and its port, None when none is given."""

    name: str
    port: int | None

    def __str__(self) -> str:
        """Show it as in a URL."""
        return self.name if self.port is None else f"{self.name}:{self.port}"

    def matches(self, other: "Host", scheme: str) -> bool:
        """Compare hosts; an absent port stands for the default of the scheme."""
        default = _DEFAULT_PORTS[scheme]
        return self.name == other.name and (self.port or default) == (other.port or default)


def parse_host(header: str) -> Host | None:
    """Read a Host header: one name, or a list that repeats one name; None when it is not that."""
    names = {part.strip().lower() for part in header.split(",")}
    found = _HOST.fullmatch(names.pop()) if len(names) == 1 else None
    if not found or (found[2] and not 0 < int(found[2]) < 65536):
        return None
    return Host(found[1].rstrip("."), int(found[2]) if found[2] else None)


def is_url(text: str) -> bool:
    """Tell whether a text is an http(s) URL of a host."""
    found = _ORIGIN.match(text)
    return found is not None and text[found.end() :][:1] in ("", *"/?#") and parse_host(found[2]) is not None


@dataclass(frozen=True, slots=True)
class Peer:
    """Where a request comes from and how it was addressed, proxies taken into account."""

    host: Host
    forwarded: Host | None
    scheme: str
    address: str

    @property
    def shown(self) -> Host:
        """The host as the client knows it."""
        return self.forwarded or self.host


def read_peer(environ: Mapping[str, Any], proxies: list[Network]) -> Peer:
    """Return the peer of a WSGI request; BadRequest when Host is missing or names two hosts."""
    header = environ.get("HTTP_HOST")
    if header is None and environ.get("SERVER_PROTOCOL") == "HTTP/1.0":
        header = f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    host = parse_host(header or "")
    if host is None:
        raise BadRequest("Host: must name exactly one host")
    address = environ.get("REMOTE_ADDR") or "unknown"
    if not _within(address, proxies):
        return Peer(host, None, scheme_of(environ, proxies), address)
    hops = [hop.strip() for hop in environ.get("HTTP_X_FORWARDED_FOR", "").split(",") if hop.strip()]
    client = next((hop for hop in reversed(hops) if not _within(hop, proxies)), address)
    return Peer(host, parse_host(environ.get("HTTP_X_FORWARDED_HOST", "")), scheme_of(environ, proxies), client)


def scheme_of(environ: Mapping[str, Any], proxies: list[Network]) -> str:
    """Return the scheme the client used; `X-Forwarded-Proto` counts from a trusted proxy only."""
    scheme: str = environ.get("wsgi.url_scheme", "http")
    forwarded: str = environ.get("HTTP_X_FORWARDED_PROTO", "").strip().lower()
    if forwarded in _DEFAULT_PORTS and _within(environ.get("REMOTE_ADDR") or "", proxies):
        return forwarded
    return scheme


def _within(address: str, networks: list[Network]) -> bool:
    if not networks:
        return False
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    # A socket that serves both protocols shows IPv4 peers as ::ffff:10.0.0.1.
    plain = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(plain in network for network in networks)


class Hosts:
    """Which hosts are served, and which origins may write."""

    def __init__(self, allowed: Iterable[str], url: str, *, open_loopback: bool, bound: str) -> None:
        names = {name.lower().rstrip(".") for name in allowed}
        self._loopback = "auto" in names
        self._any = "*" in names or (self._loopback and not open_loopback)
        self._own = parse_host(urlsplit(url).netloc) if url else None
        if self._loopback:
            names.add(bound.lower())
        if self._own:
            names.add(self._own.name)
        self._names = names - {"auto", ""}

    def check_host(self, peer: Peer) -> None:
        """Raise Forbidden for a host that is not served here."""
        if not (self._any or all(self._serves(host) for host in (peer.host, peer.forwarded) if host)):
            raise Forbidden("Host not allowed: set SERVICE_URL or SERVICE_ALLOWED_HOSTS.")

    def check_origin(self, peer: Peer, origin: str | None) -> None:
        """Raise Forbidden when a browser sent the origin of another site."""
        if not origin:
            return
        found = _ORIGIN.fullmatch(origin)
        theirs = parse_host(found[2]) if found and "," not in found[2] else None
        ours = [host for host in (peer.host, peer.forwarded, self._own) if host]
        if not (found and theirs and any(theirs.matches(host, found[1].lower()) for host in ours)):
            raise Forbidden("Cross-origin requests may not write.")

    def _serves(self, host: Host) -> bool:
        if host.name in self._names or host.name.strip("[]") in self._names:
            return True
        return self._loopback and is_loopback(host.name)


def is_loopback(name: str) -> bool:
    """Tell whether a host name or address is this machine's own."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
