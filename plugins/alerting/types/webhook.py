"""The type `webhook`: the message as JSON, signed."""

import hashlib
import hmac
from collections.abc import Iterator
from contextlib import contextmanager

from snaglist.plugins.alerting.channels import ChannelType, Message, Opening, Send
from snaglist.plugins.alerting.types.posting import check_url, encode, post

DELIVERY_HEADER = "X-Service-Delivery"
SIGNATURE_HEADER = "X-Service-Signature"


@contextmanager
def _open(opening: Opening) -> Iterator[Send]:
    def send(message: Message) -> None:
        body = encode(message.document)
        headers = {DELIVERY_HEADER: message.delivery}
        if opening.signing:
            digest = hmac.new(opening.signing.encode(), body, hashlib.sha256).hexdigest()
            headers[SIGNATURE_HEADER] = f"sha256={digest}"
        post(opening.call, opening.target["url"], body, headers)

    yield send


WEBHOOK = ChannelType(("url",), check_url, _open, signed=True)
