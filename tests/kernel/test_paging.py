"""Pages and cursors."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel.errors import Invalid
from snaglist.kernel.paging import decode_cursor, encode_cursor, meta

values = st.lists(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20),
    max_size=3,
)


@given(st.text(), values)
def test_a_cursor_comes_back_for_its_own_scope(scope: str, row: list[Any]) -> None:
    cursor = encode_cursor(scope, row)
    assert decode_cursor(cursor, scope) == row
    with pytest.raises(Invalid, match=r"^cursor: "):
        decode_cursor(cursor, scope + "x")


@given(st.text(max_size=60))
def test_any_text_is_no_cursor(text: str) -> None:
    """`cursor=abc` → 422."""
    with pytest.raises(Invalid, match=r"^cursor: "):
        decode_cursor(text, "issues by last_seen")


@given(st.binary(max_size=60), st.integers(0, 59))
def test_a_damaged_cursor_is_refused_or_of_the_same_scope(noise: bytes, place: int) -> None:
    cursor = encode_cursor("scope", ["2026-01-03 10:00:00", 7])
    damaged = cursor[:place] + base64.urlsafe_b64encode(noise).decode().rstrip("=") + cursor[place:]
    try:
        row = decode_cursor(damaged, "scope")
    except Invalid:
        return
    assert all(isinstance(value, str | int | float | bool | None) for value in row)


@pytest.mark.parametrize("value", [[1], {}, 2**63, float("nan"), float("inf"), "\x00", "\ud800", [[]]])
def test_a_made_up_cursor_holds_single_values_only(value: Any) -> None:
    """The scope's digest is in every cursor, so anybody can make one."""
    head = json.loads(base64.urlsafe_b64decode(encode_cursor("scope", []) + "=="))
    made = base64.urlsafe_b64encode(json.dumps([*head, value]).encode()).decode().rstrip("=")
    with pytest.raises(Invalid):
        decode_cursor(made, "scope")


def test_a_cursor_over_500_characters_is_refused() -> None:
    with pytest.raises(Invalid):
        decode_cursor(encode_cursor("scope", ["x" * 500]), "scope")


@pytest.mark.parametrize(("total", "pages"), [(0, 0), (1, 1), (50, 1), (51, 2), (100, 2)])
def test_number_of_pages(total: int, pages: int) -> None:
    assert meta(total, 1, 50) == {"total": total, "page": 1, "limit": 50, "pages": pages}
