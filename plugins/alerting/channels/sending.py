"""Opening a channel: its type and its secrets, which its failures must not tell."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Unavailable
from snaglist.plugins.alerting.channels import sealing
from snaglist.plugins.alerting.channels.contract import Message, NotDelivered, Opening, Send, types
from snaglist.plugins.system import without_secrets


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
        raise NotDelivered(without_secrets(error.message, target), answered=error.answered) from error
