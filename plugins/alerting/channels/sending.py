"""Opening a channel: its type and its secrets, which its failures must not tell."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from sqlalchemy import Row

from snaglist.kernel import Call, Unavailable
from snaglist.plugins.alerting.channels import sealing
from snaglist.plugins.alerting.channels.contract import Message, NotDelivered, Opening, Send, types

_SHORTEST = 4  # what is shorter would hide more than a secret


@contextmanager
def opened(call: Call, channel: Row[Any]) -> Iterator[Send]:
    """Give the function that sends through a channel; outside a transaction. All failures are NotDelivered."""
    kind = types(call).get(channel.type)
    if kind is None:
        raise NotDelivered(f"the channel type {channel.type} is not installed", answered=True)
    try:
        opening = Opening(call, sealing.open_target(call, channel), sealing.open_signing(call, channel))
    except Unavailable as error:
        raise NotDelivered(error.message, answered=True) from error

    with _telling_no_secrets(opening.target), kind.open(opening) as send:

        def send_guarded(message: Message) -> None:
            with _telling_no_secrets(opening.target):
                send(message)

        yield send_guarded


@contextmanager
def _telling_no_secrets(target: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except NotDelivered as error:
        raise NotDelivered(_without(target, error.message), answered=error.answered) from error


def _without(target: Mapping[str, Any], message: str) -> str:
    for value in target.values():
        for text in value if isinstance(value, list) else (value,):
            for form in {str(text), unquote(str(text))}:
                if len(form) >= _SHORTEST:
                    message = message.replace(form, "…")
    return message
