"""Text that every database takes: logs are hostile input, and one bad code point must not stop a batch."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

REPLACEMENT = "\ufffd"


def clean(text: str) -> str:
    """Replace U+0000 and lone surrogates, which databases refuse."""
    if "\0" in text:
        text = text.replace("\0", REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in text)
    return text


def short(text: str, limit: int) -> str:
    """Clean a short field and cut it to its column; remembered, because the values of a log repeat."""
    return _clean_short(text if len(text) <= limit else text[:limit])


_clean_short = lru_cache(maxsize=4096)(clean)


def clean_json(value: Any) -> Any:
    """Clean all texts inside a JSON value."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(name)): clean_json(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean_json(item) for item in value]
    return value
