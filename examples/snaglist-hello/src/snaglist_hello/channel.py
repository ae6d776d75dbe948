"""A type of alert channel: posts the line that sums an alert up to a URL."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from snaglist.kernel import BadGateway, Call, Invalid
from snaglist.plugins.alerting import ChannelType, Message, NotDelivered, Opening, Send


def check(call: Call, target: Mapping[str, Any]) -> str:
    """Look at the write-only fields of a channel, and return what may be shown of them."""
    host = urlsplit(target["url"]).hostname
    if not host:
        raise Invalid("url: must be a URL like https://chat.example.com/hook")
    return str(host)


@contextmanager
def open_channel(opening: Opening) -> Iterator[Send]:
    """Give a function that sends a message; `outbound` refuses addresses that are not public."""

    def send(message: Message) -> None:
        outbound = opening.call.service.outbound
        headers = {"Content-Type": "text/plain; charset=utf-8"}
        try:
            answer = outbound.request("POST", opening.target["url"], headers=headers, body=message.summary.encode())
        except BadGateway as error:
            raise NotDelivered(error.message, answered=False) from error
        if answer.status >= 300:
            raise NotDelivered(f"HTTP {answer.status}", answered=True)

    yield send


TYPE = ChannelType(("url",), check, open_channel)
