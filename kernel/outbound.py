"""Requests to other hosts, as areas send them; what sends them is a part of the service that the area `system` brings.

A name is resolved once, every address must be public, and only those are connected to. Redirects are not followed,
answers are bounded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from snaglist.kernel.addresses import Network

MAX_ANSWER = 1024 * 1024
TIMEOUT = 15.0


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


class Outbound(Protocol):
    """The guard; `allowed` are the networks of `outbound.allow_private`."""

    allowed: Sequence[Network]

    def check_url(self, url: str, *, schemes: Sequence[str] = ("https",)) -> Target:
        """Resolve the host of a URL; raises Refused, with what is wrong, when it may not be asked.

        `http` passes, unless it is in `schemes`, only to addresses in `outbound.allow_private`.
        """

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
