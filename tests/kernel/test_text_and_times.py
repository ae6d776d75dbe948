"""Text and time rules."""

import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import times
from snaglist.kernel.text import clip, digest, key


@pytest.mark.parametrize(
    ("one", "other"),
    [("Bug", "bug"), ("STRASSE", "straße"), ("\u00e9", "e\u0301"), ("ÜBERLAUF", "überlauf"), ("ΣΊΣΥΦΟΣ", "σίσυφος")],
)
def test_equal_keys(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(("one", "other"), [("u", "ü"), ("Ａ", "A"), ("a b", "ab"), ("½", "1/2")])
def test_different_keys(one: str, other: str) -> None:
    assert key(one) != key(other)


@given(st.text())
def test_key_is_the_rule_of_the_contract(text: str) -> None:
    """The short way for ASCII gives what the long way gives."""
    folded = unicodedata.normalize("NFC", text).casefold()
    assert key(text) == unicodedata.normalize("NFC", folded)


@given(st.text(), st.integers(1, 20))
def test_clip(text: str, limit: int) -> None:
    cut = clip(text, limit)
    assert len(cut) <= limit
    assert cut == text if len(text) <= limit else cut.endswith("…") and text.startswith(cut[:-1])


@given(st.text(st.characters()))
def test_digest_takes_every_text(text: str) -> None:
    assert len(digest(text)) == 64


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 30)), st.integers(-1439, 1439), st.sampled_from(["", ".9", ",5"])
)
def test_times_with_an_offset_become_utc(moment: datetime, minutes: int, fraction: str) -> None:
    """A fraction is cut, never rounded."""
    zone = timezone(timedelta(minutes=minutes))
    aware = moment.replace(microsecond=0, tzinfo=zone)
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = f"{aware.year:04}-{aware:%m-%dT%H:%M:%S}{fraction}{offset}"
    utc = aware.astimezone(UTC)
    assert times.parse(text) == f"{utc.year:04}-{utc:%m-%d %H:%M:%S}"
    assert times.read(times.parse(text)) == utc


@pytest.mark.parametrize(
    "text",
    [
        "", "2026-01-03", "2026-02-30 00:00:00", "2026-13-01 00:00:00", "2026-01-03 25:00:00", "2026-01-03 10:00",
        "2026-01-03 10:00:00 ", "2026-01-03 10:00:00\n", "٢٠٢٦-01-03 10:00:00", "2026-01-03 10:00:00+25:00",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "0000-01-01 00:00:00", "2026-01-03T10:00:00[UTC]",
    ],
)  # fmt: skip
def test_what_is_not_a_time(text: str) -> None:
    with pytest.raises(ValueError):
        times.parse(text)


@pytest.mark.parametrize("text", ["2026-02-30", "2026-1-03", "2026-01-03 ", "20260103", "2026-W01-1"])
def test_what_is_not_a_date(text: str) -> None:
    with pytest.raises(ValueError):
        times.parse_date(text)


@given(st.text(max_size=40))
def test_any_text_is_a_time_or_a_value_error(text: str) -> None:
    try:
        shown = times.parse(text)
    except ValueError:
        return
    assert times.parse(shown) == shown
    assert len(shown) == 19


@given(
    st.text(max_size=25) | st.datetimes().map(str) | st.from_regex(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", fullmatch=True)
)
def test_a_time_in_the_contracts_form_is_what_reading_leaves_as_it_is(text: str) -> None:
    try:
        expected = times.parse(text) == text
    except ValueError:
        expected = False
    assert times.is_time(text) == expected


@pytest.mark.parametrize("value", [None, 5, [], b"2026-01-03 10:00:00", "2026-W01-6 10:00:00", "2026-01-03 10:00:60"])
def test_what_is_no_time_in_the_contracts_form(value: object) -> None:
    assert not times.is_time(value)
