"""Raw lines as people see them."""

from snaglist.kernel import Call
from snaglist.plugins.issues import redaction_of


def shown_text(call: Call, data: bytes, encoding: str) -> str:
    """Return raw bytes of a log as text: everything that is shown of raw lines, to whomever, goes through here.

    What does not fit the encoding is replaced; byte order marks are no text. What is never stored (`privacy` settings)
    is not shown either.
    """
    return redaction_of(call).text(data.decode(encoding, "replace").removeprefix("\ufeff"))
