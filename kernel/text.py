"""Text rules that hold everywhere: trimming, cutting, the comparison key, and what names and screens may hold."""

import hashlib
import re
import unicodedata

__all__ = ["CONTROLS", "harmless", "one_line", "query_text", "slug", "storable", "visible"]

CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")  # line breaks too
_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SEPARATORS = re.compile(r"[^a-z0-9]+")
# They turn the direction of what follows, so that a text reads otherwise than it is.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def key(text: str) -> str:
    """Return the comparison key: NFC, case folding, NFC.

    It decides uniqueness of names, tag rules and search equally on every database.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def clip(text: str, limit: int) -> str:
    """Cut `text` to `limit` characters, the last of them `…` when something was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def storable(text: str) -> str:
    """Replace U+0000 and halves of surrogates by `?`: databases refuse them, and with them what stands beside them."""
    return text if text.isascii() and "\0" not in text else text.replace("\0", "?").encode("utf-8", "replace").decode()


def one_line(text: str) -> str:
    """Return a name that comes from elsewhere on one line: control characters and line breaks become a space."""
    return CONTROLS.sub(" ", text).strip()


def visible(text: str) -> str:
    """Show characters that turn the direction of a text, such as `\\u202e`; right-to-left letters are left alone."""
    return text if text.isascii() else _TURNING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def harmless(text: str) -> str:
    """Return a text for a terminal, which file names and log texts must not steer: control characters are replaced.

    So is what no text can hold; line breaks stay, and what turns the direction is visible.
    """
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", visible(text))


def digest(text: str) -> str:
    """SHA-256 of the text as 64 hex digits: how long values are indexed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def query_text(value: object) -> str:
    """Return a Python value as it stands in a query."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def slug(text: str) -> str:
    """Return the slug of a name: lower case, every run of other characters than a-z and 0-9 one dash."""
    return _SEPARATORS.sub("-", text.lower()).strip("-")
