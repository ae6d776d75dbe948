"""Pages and cursors of lists."""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any

from snaglist.kernel.bodies import no_number
from snaglist.kernel.errors import Invalid
from snaglist.kernel.schemas import unsafe
from snaglist.kernel.text import digest

__all__ = ["decode_cursor", "encode_cursor", "meta"]

_MAX_CURSOR = 500


def meta(total: int, page: int, limit: int) -> dict[str, int]:
    """Return the `meta` of a page: total, page, limit and the number of pages (0 when empty)."""
    return {"total": total, "page": page, "limit": limit, "pages": -(-total // limit)}


def encode_cursor(scope: str, values: Sequence[Any]) -> str:
    """Return the opaque cursor that continues after `values`; it is only good for the same scope."""
    plain = json.dumps([digest(scope)[:12], *values], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def decode_cursor(cursor: str, scope: str) -> list[Any]:
    """Return the values of a cursor; Invalid when it is malformed or of other filters or another sort.

    Each is a text, number, boolean or null; whether they are of the list's own number and types is the
    list's to check.
    """
    problem = Invalid("cursor: not a cursor of this list; start again without it")
    if len(cursor) > _MAX_CURSOR or not cursor.isascii():
        raise problem
    try:
        plain = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        values = json.loads(plain.decode(), parse_constant=no_number)
    except (binascii.Error, ValueError, RecursionError) as error:
        raise problem from error
    if not isinstance(values, list) or not values or values[0] != digest(scope)[:12]:
        raise problem
    # Anybody can make a cursor: only single values that a database can compare get through.
    if any(unsafe(values, 1)):
        raise problem
    return values[1:]
