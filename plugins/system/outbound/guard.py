"""What sends requests to other hosts: a part of the service. Only addresses that were checked are connected to.

A name that means a public address when it is checked and a private one a moment later (DNS rebinding) leads
nowhere, because the connection goes to the checked address. Redirects are not followed, answers are bounded.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from snaglist.kernel import BadGateway
from snaglist.kernel.origin import Network, parse_networks
from snaglist.kernel.service import Service
from snaglist.plugins.system.outbound.addresses import Refused, check_address, is_listed

MAX_URL = 2000
MAX_ANSWER = 1024 * 1024
TIMEOUT = 15.0
CONNECT_SECONDS = 5.0
_PORTS = {"https": 443, "http": 80, "ftp": 21}
_FORBIDDEN = frozenset(map(chr, range(0x21))) | {"\x7f", "\\"}


@dataclass(frozen=True, slots=True)
class Target:
    """A checked URL: its parts, and the addresses that its host had when it was checked."""

    scheme: str
    host: str
    port: int
    path: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request got; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Guard:
    """`call.service.outbound`; `allowed` are the networks of `outbound.allow_private`."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self.allowed = tuple(allowed)

    def check_url(self, url: str, *, schemes: Sequence[str] = ("https",)) -> Target:
        """Resolve the host of a URL; raises Refused, with what is wrong, when it may not be asked.

        `http` passes, unless it is in `schemes`, only to addresses in `outbound.allow_private`.
        """
        if len(url) > MAX_URL or _FORBIDDEN.intersection(url):
            raise Refused(f"must be a URL of at most {MAX_URL} characters")
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS.get(parts.scheme, 443)
            host = (parts.hostname or "").encode("idna").decode()
        except (ValueError, UnicodeError) as error:
            raise Refused("must be a URL like https://host/path") from error
        if "@" in parts.netloc:
            raise Refused("must not hold a user name or password")
        if not host or parts.scheme not in (*schemes, "http"):
            raise Refused(f"must be a URL that begins with {' or '.join(f'{scheme}://' for scheme in schemes)}")
        addresses = self._resolve(host, port)
        let_through = all(is_listed(ipaddress.ip_address(address), self.allowed) for address in addresses)
        if parts.scheme not in schemes and not let_through:
            raise Refused("must begin with https://")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return Target(parts.scheme, host, port, path, addresses)

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = TIMEOUT,
        max_answer: int = MAX_ANSWER,
    ) -> Answer:
        """Send a request and return what came, redirects included; the body is cut at `max_answer` bytes.

        Raises BadGateway when the host may not be asked, cannot be reached, or is not done after `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        try:
            target = self.check_url(url)
        except Refused as error:
            raise BadGateway(f"{_host(url)}: {error.message}") from error
        connection = _PinnedConnection(target, deadline)
        # Each read has its timeout; a server that sends a byte now and then is stopped by the clock.
        watchdog = threading.Timer(max(0.0, deadline - time.monotonic()), connection.abort)
        watchdog.daemon = True
        watchdog.start()
        try:
            connection.request(method, target.path, body, {"User-Agent": "snaglist", **(headers or {})})
            response = connection.getresponse()
            content = response.read(max_answer)
            # An answer that the clock cut off among its headers looks like one that ended there.
            if time.monotonic() >= deadline or (len(content) < max_answer and response.length):
                raise http.client.IncompleteRead(content, response.length)
            return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, content)
        except (OSError, http.client.HTTPException, ValueError) as error:
            late = time.monotonic() >= deadline or isinstance(error, TimeoutError)
            if isinstance(error, ConnectionRefusedError):
                raise BadGateway(f"Could not connect to {target.host}:{target.port}: connection refused") from error
            raise BadGateway(f"{target.host}: {'no answer in time' if late else _reason(error)}") from error
        finally:
            watchdog.cancel()
            connection.close()

    def _resolve(self, host: str, port: int) -> tuple[str, ...]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Refused("the host name cannot be resolved") from error
        addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        for address in addresses:
            check_address(address, self.allowed)
        return addresses


class _PinnedConnection(http.client.HTTPConnection):
    """A connection to a checked address that speaks to the URL's host."""

    def __init__(self, target: Target, deadline: float) -> None:
        super().__init__(target.host, target.port)
        self._target = target
        self._deadline = deadline
        self.default_port = _PORTS[target.scheme]  # so that `Host` names the port only where it is another

    def connect(self) -> None:
        """Connect to the first of the addresses that answers."""
        for number, address in enumerate(self._target.addresses, 1):
            try:
                left = max(0.01, min(CONNECT_SECONDS, self._deadline - time.monotonic()))
                plain = socket.create_connection((address, self._target.port), left)
                plain.settimeout(max(0.01, self._deadline - time.monotonic()))
                break
            except OSError:
                if number == len(self._target.addresses):
                    raise
        self.sock = plain
        if self._target.scheme == "https":
            self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self._target.host)

    def abort(self) -> None:
        """End whatever waits for the other side."""
        with suppress(OSError, AttributeError):  # there may be no socket yet, or none any more
            self.sock.shutdown(socket.SHUT_RDWR)


def guard_of(service: Service) -> Guard:
    """Return the guard that the configuration describes."""
    return Guard(parse_networks(service.settings["outbound.allow_private"]))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "the URL"
    except ValueError:
        return "the URL"


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not valid: {error.verify_message}"
    return getattr(error, "strerror", None) or type(error).__name__
