"""Paths as text: every name that a file system allows can be stored, shown on one line and found again.

A byte that is not UTF-8, and each byte of a character that would break or turn the line it is shown in, is written as
`\\xNN` (two digits of 0-9, a-f); so is the backslash of a name that holds such a text itself. All other names are
their own text.
"""

import re
from pathlib import Path

# Control characters, line and paragraph separators, direction marks, and the escapes of bytes that are not UTF-8.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]|\\(?=x[0-9a-f]{2})")
_WRITTEN = re.compile(rb"\\x([0-9a-f]{2})")


def path_text(path: str | Path) -> str:
    """Return a path as text of one line that every database takes."""
    return _UNFIT.sub(_escape, str(path))


def path_of(text: str) -> Path:
    """Return the path that a text of `path_text` stands for."""
    if "\\x" not in text:
        return Path(text)
    written = text.encode("utf-8", "surrogateescape")
    return Path(_WRITTEN.sub(_unescape, written).decode("utf-8", "surrogateescape"))


def _escape(found: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in found[0].encode("utf-8", "surrogateescape"))


def _unescape(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode())
