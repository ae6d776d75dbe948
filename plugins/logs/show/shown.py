"""Raw lines as people see them."""

from snaglist.kernel import Call


def shown_text(call: Call, data: bytes, encoding: str) -> str:
    """Return raw bytes of a log as text: everything that is shown of raw lines, to whomever, goes through here.

    What does not fit the encoding is replaced; byte order marks are no text.
    """
    return data.decode(encoding, "replace").removeprefix("\ufeff")
