"""Who sent a webhook: an HMAC over the raw body, checked in constant time before the body is parsed."""

import base64
import hashlib
import hmac
import re
from typing import Any

from snaglist.kernel.bodies import parse_json
from snaglist.plugins.tracker.contract import Delivery, Provider

HEADER = "X-Service-Signature"
MAX_AGE = 300
MIN_KEY = 8
SECRET_FORM = f"a text of at least {MIN_KEY} characters, or whsec_ and the base64 of at least {MIN_KEY} bytes"
_HEX = re.compile(r"[0-9a-fA-F]{64}", re.ASCII)
_PREFIX = "sha256="
_WHSEC = "whsec_"


def is_usable(secret: str) -> bool:
    """Tell whether a secret can prove anything: everybody can sign with nothing, or with a mere prefix."""
    bare = secret.strip()
    key = _standard_key(bare) if bare.startswith(_WHSEC) else bare
    return key is not None and len(key) >= MIN_KEY


def sign(secret: str, body: bytes) -> str:
    """Return the hex digits of the HMAC-SHA256 of a body."""
    return hmac.new(_bytes(secret), body, hashlib.sha256).hexdigest()


def is_hex_of(given: str, secret: str, body: bytes) -> bool:
    """Tell whether a header holds the hex digits, in any case, of the HMAC-SHA256 of a body."""
    expected = sign(secret, body)
    return bool(_HEX.fullmatch(given)) and hmac.compare_digest(given.lower(), expected)


def is_prefixed(given: str, secret: str, body: bytes) -> bool:
    """The same with `sha256=` before it, as GitHub and Jira write it."""
    return given.startswith(_PREFIX) and is_hex_of(given.removeprefix(_PREFIX), secret, body)


def is_common(delivery: Delivery, secret: str) -> bool:
    """Tell whether `X-Service-Signature` is right, which every sender may use; the prefix may be left out."""
    return is_hex_of(delivery.header(HEADER).removeprefix(_PREFIX), secret, delivery.body)


def is_standard(delivery: Delivery, secret: str) -> bool:
    """Tell whether one of the signatures of Standard Webhooks is right (www.standardwebhooks.com, symmetric `v1`)."""
    named = (delivery.header("webhook-id"), delivery.header("webhook-timestamp"))
    key = _standard_key(secret) if secret.startswith(_WHSEC) else _bytes(secret)
    if key is None:
        return False
    signed = ".".join(named).encode("latin-1", "replace") + b"." + delivery.body
    expected = base64.b64encode(hmac.digest(key, signed, "sha256"))
    given = [part.removeprefix("v1,") for part in delivery.header("webhook-signature").split() if part[:3] == "v1,"]
    right = [hmac.compare_digest(one.encode("utf-8", "surrogatepass"), expected) for one in given]
    return all(named) and any(right)


def is_genuine(kind: Provider, delivery: Delivery, secret: str, now: float, *, allow_token: bool = False) -> bool:
    """Tell whether a delivery is signed with the secret and not too old; `now` in seconds since 1970.

    A delivery that says when it was sent is held to that; one with the vendor's own signature has to say so where
    the vendor always does. Raises BadRequest for a signed body that is no JSON.
    """
    if not is_usable(secret):
        return False
    own, common = kind.signed(delivery, secret), is_common(delivery, secret)
    token = bool(kind.token_header) and allow_token and _same(delivery.header(kind.token_header), secret)
    if not (own or common or token):
        return False
    document: Any = parse_json(delivery.body)
    sent_at = kind.sent_at(delivery, document if isinstance(document, dict) else {})
    if sent_at is None:
        return not (own and kind.timed)
    return abs(now - sent_at) <= MAX_AGE


def seconds(value: Any) -> float | None:
    """Return a number of seconds given as a number or digits; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e15 else None


def _standard_key(secret: str) -> bytes | None:
    """Return the key of a secret that begins with `whsec_`, None when what follows is no base64."""
    try:
        return base64.b64decode(secret.removeprefix(_WHSEC), validate=True)
    except ValueError:
        return None


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), _bytes(secret))


def _bytes(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogatepass")
