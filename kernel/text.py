"""Text rules that hold everywhere: trimming, cutting and the comparison key."""

import hashlib
import unicodedata


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


def digest(text: str) -> str:
    """SHA-256 of the text as 64 hex digits: how long values are indexed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def query_text(value: object) -> str:
    """Return a Python value as it stands in a query."""
    return str(value).lower() if isinstance(value, bool) else str(value)
