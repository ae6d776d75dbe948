"""Raw lines as people see them."""

from collections.abc import Iterable

from snaglist.kernel import Call
from snaglist.plugins.issues import redaction_of


def shown_text(call: Call, data: bytes, encoding: str) -> str:
    """Return raw bytes of a log as text: everything that is shown of raw lines, to whomever, goes through here.

    What does not fit the encoding is replaced; byte order marks are no text. What is never stored (`privacy` settings)
    is not shown either.
    """
    return redaction_of(call).text(_text(data, encoding))


def shown_lines(call: Call, lines: Iterable[bytes], encoding: str, earlier: bytes = b"") -> list[str]:
    """Return raw lines as texts without their ends; `earlier` is the line before them."""
    without, before = redaction_of(call), _text(earlier, encoding)
    shown = []
    for line in lines:
        text = _text(line, encoding).rstrip("\r\n")
        shown.append(without.line(text, before))
        before = text or before
    return shown


def _text(data: bytes, encoding: str) -> str:
    return data.decode(encoding, "replace").removeprefix("\ufeff")
