"""Secrets at rest: sealed before they reach a database, and opened only where they belong.

What seals them is a part of the service that the area `system` brings.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

KEY_FILE = "secret.key"


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A sealed value where an area keeps it. `label` is what people know it by; `replace` stores it sealed anew."""

    field: str
    label: str
    sealed: bytes
    replace: Callable[[bytes], object]


class Secrets(Protocol):
    """Seals and opens the secrets of all applications."""

    def prepare(self) -> None:
        """Have the sealing key ready: deriving it takes a while, which no transaction should wait for.

        Raises Unavailable when no key can be had.
        """

    def seal(self, application: str, field: str, text: str) -> bytes:
        """Seal a text for a field (such as `connectors.7.secrets`) of an application; raises Unavailable."""

    def open(self, application: str, field: str, sealed: bytes) -> str:
        """Return the text; raises Unavailable when no key opens it for this application and field."""

    def reseal(self, application: str, field: str, sealed: bytes) -> bytes | None:
        """Return the value sealed with the first key; None when it is already, or cannot be: then the log says why."""


def decoded(text: str) -> bytes:
    """Return a sealed value that a setting holds in base64; what is damaged opens with no key."""
    try:
        return base64.b64decode(text)
    except ValueError:
        return b""
