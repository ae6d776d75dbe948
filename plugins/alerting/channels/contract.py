"""What a channel type is: the contract of `register_channel_types()`.

A type says which fields of `alert-channels` it takes and how they are checked, and sends. Everything else is the
same for all types: keeping secrets, when to send, repeating.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from snaglist.kernel import BadGateway, Call, hookspec

Target = Mapping[str, Any]
CONNECT_SECONDS = 5.0
TOTAL_SECONDS = 10.0
MAX_NAME = 16  # of a type, as long as its column


class NotDelivered(BadGateway):
    """A message was not taken; the text is shown, so it holds no secret.

    `answered` tells whether the other side said so itself: a channel that says nothing is left alone for a while.
    """

    def __init__(self, message: str, *, answered: bool) -> None:
        super().__init__(message)
        self.answered = answered


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent. `delivery` is the same for all attempts; `document` is the JSON that webhooks get."""

    delivery: str
    document: Mapping[str, Any]

    @property
    def summary(self) -> str:
        """What happened, in one line."""
        return str(self.document["summary"])


Send = Callable[[Message], None]


@dataclass(frozen=True, slots=True)
class Opening:
    """What `ChannelType.open` gets; `signing` is the key of a signed channel, empty when it has none."""

    call: Call
    target: Target
    signing: str


@dataclass(frozen=True, slots=True)
class ChannelType:
    """A type of channel.

    `fields` names the write-only fields of the body that make the target. `schemas` is the folder that holds
    `definitions/channel-<type>.json`, the schema of these fields, by which they are checked, and from which the
    dashboard makes its form; without it a form has the bare names. `check(call, target)` looks, outside a
    transaction, at what a schema cannot, and returns what may be shown of the target; it raises Invalid.
    `open(opening)` gives a function that sends a message and raises NotDelivered; it may serve several messages.
    `signed`: the type takes a signing key. `needs` names settings without which it cannot send.
    """

    fields: tuple[str, ...]
    check: Callable[[Call, Target], str]
    open: Callable[[Opening], AbstractContextManager[Send]]
    signed: bool = False
    needs: tuple[str, ...] = ()
    schemas: Traversable = field(default_factory=lambda: files("snaglist.schemas"))


@hookspec
def register_channel_types() -> Mapping[str, ChannelType]:  # type: ignore[empty-body]
    """Collect. Return types of alert channels by name, like `my_type`, at most 16 characters. Since 0.2.

    Of an optional area: mark it `hookimpl(optionalhook=True)`.
    """


def types(call: Call) -> Mapping[str, ChannelType]:
    """Return the types of all plugins by name."""
    return call.service.plugins.types(register_channel_types)


def check_added(name: str, value: Any) -> None:
    """Look at a type that a plugin adds; raises for what does not fit."""
    if len(name) > MAX_NAME:
        raise ValueError(f"{name}: the name must have at most {MAX_NAME} characters")
    if not (callable(value.check) and callable(value.open)):
        raise TypeError(f"{name}: must be a ChannelType with the functions check and open, not {value!r:.60}")
    if not isinstance(value.fields, tuple | list) or not all(isinstance(name, str) for name in value.fields):
        raise TypeError(f"{name}: fields: must be a tuple of texts")
