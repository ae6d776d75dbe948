"""Posting JSON through the outbound guard, which all types with an address do."""

import json
from collections.abc import Mapping
from typing import Any

from snaglist.kernel import BadGateway, Call, Invalid
from snaglist.plugins.alerting.channels import NotDelivered, Target
from snaglist.plugins.alerting.channels.contract import TOTAL_SECONDS
from snaglist.plugins.system import Refused


def check_url(call: Call, target: Target) -> str:
    """Return the host of the target's `url`; raises Invalid for one that may not be asked."""
    try:
        return str(call.service.outbound.check_url(target["url"]).host)
    except Refused as error:
        raise Invalid(f"url: {error.message}") from error


def post(call: Call, url: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    """Post a JSON body; raises NotDelivered unless the answer is 2xx."""
    sent = {"Content-Type": "application/json", "User-Agent": f"snaglist/{call.service.version}", **(headers or {})}
    try:
        answer = call.service.outbound.request("POST", url, headers=sent, body=body, timeout=TOTAL_SECONDS)
    except BadGateway as error:
        raise NotDelivered(error.message, answered=False) from error
    if not 200 <= answer.status < 300:
        raise NotDelivered(f"HTTP {answer.status}", answered=True)


def encode(document: Any) -> bytes:
    """Return a document as compact JSON."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
