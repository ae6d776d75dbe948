"""Looking through a file in blocks finds the lines that looking at each line finds, wherever the blocks end."""

import io
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from snaglist.kernel import Invalid
from snaglist.plugins.logs.grep.matching import Pattern
from snaglist.plugins.logs.grep.scanning import LineNumbers, Scan

LINES = st.lists(st.text(alphabet="ab.é€\u0a0a\u010a \r", max_size=12), max_size=12)
WANTED = [
    ("ab", False), ("a", False), (".", False), ("é", False), ("^a", True), ("b.$", True), ("^$", True),
    (r"a[^b]+b", True), (r"\bb", True), ("é|€", True),
]  # fmt: skip
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "cp1252")


def starts(data: list[str], encoding: str, mark: int) -> list[tuple[int, str]]:
    """The first byte of each line, and its text without its end."""
    found, at = [], 0
    for number, line in enumerate(data):
        found.append((at, line.removesuffix("\r")))
        at += len((line + "\n").encode(encoding)) + (mark if number == 0 else 0)
    return found


@settings(max_examples=300)
@example(["b\r"], "utf-8", False, False, ("b.$", True), False, 40)
@example(["ba"], "utf-8", False, False, ("b.$", True), False, 40)
@given(
    lines=LINES,
    encoding=st.sampled_from(ENCODINGS),
    marked=st.booleans(),
    ended=st.booleans(),
    wanted=st.sampled_from(WANTED),
    ignore_case=st.booleans(),
    block=st.integers(40, 90),
)
def test_blocks_find_what_lines_have(
    lines: list[str], encoding: str, marked: bool, ended: bool, wanted: tuple[str, bool], ignore_case: bool, block: int
) -> None:
    if encoding == "cp1252":
        lines = [line.replace("\u0a0a", "").replace("\u010a", "") for line in lines]
    mark = "\ufeff" if marked and encoding != "cp1252" else ""
    data = (mark + "\n".join(lines) + ("\n" if ended and lines else "")).encode(encoding)
    text, regex = wanted
    pattern = Pattern(text, regex=regex, ignore_case=ignore_case)
    naive = re.compile(text if regex else re.escape(text), re.IGNORECASE if ignore_case else 0)
    ascii_word = re.compile(r"(?<![A-Za-z0-9_])b") if text == r"\bb" else naive
    placed = starts(lines, encoding, len(mark.encode(encoding)))
    if not ended and lines and not lines[-1]:
        placed.pop()  # behind the last line feed there is no line
    expected = [start for start, line in placed if ascii_word.search(line)]
    scan = Scan(io.BytesIO(data), pattern, encoding, size=len(data), block=block, longest=16, around=12)
    found = [one for one in scan if one is not None]
    assert [one.start for one in found] == expected
    assert scan.position == len(data)
    for one in found:
        assert one.whole and one.data == data[one.start : one.end]


def resumed(data: bytes, pattern: Pattern, every: int) -> list[int]:
    """The lines found by scans that each end with their first lines, and go on where the one before stopped."""
    found: list[int] = []
    position = 0
    while position < len(data):
        scan = Scan(io.BytesIO(data), pattern, "utf-8", size=len(data), position=position, block=64, longest=8)
        some = 0
        for one in scan:
            some += one is not None
            if one is not None:
                found.append(one.start)
            if some == every:
                break
        position = scan.position
    return found


def test_a_search_goes_on_where_it_stopped() -> None:
    data = b"".join(b"%d %s\n" % (number, b"hit" if number % 3 == 0 else b"miss") for number in range(100))
    assert resumed(data, Pattern("hit"), 1) == resumed(data, Pattern("hit"), 1000)
    assert len(resumed(data, Pattern("hit"), 7)) == 34


@pytest.mark.parametrize("place", [0, 70, 500, 1190])
def test_a_line_longer_than_a_block_is_one_find(place: int) -> None:
    long = "x" * place + "needle" + "x" * (1200 - place) + "needle"
    data = f"first\n{long}\nneedle last\n".encode()
    scan = Scan(io.BytesIO(data), Pattern("needle"), "utf-8", size=len(data), block=100, longest=16)
    found = [one for one in scan if one is not None]
    assert [one.start for one in found] == [6, 6 + len(long) + 1]
    assert not found[0].whole and b"needle" in found[0].data and len(found[0].data) < 100
    assert found[1].whole


def test_nothing_of_a_long_line_without_a_match_is_lost_or_kept() -> None:
    data = b"x" * 5000 + b"\nneedle"
    scan = Scan(io.BytesIO(data), Pattern("needle"), "utf-8", size=len(data), block=100, longest=16)
    assert [one.start for one in scan if one is not None] == [5001]


def test_lines_around() -> None:
    data = b"".join(b"line %d\n" % number for number in range(50))
    scan = Scan(io.BytesIO(data), Pattern("line 20"), "utf-8", size=len(data), around=64, block=128)
    (found,) = [(one, scan.before(one, 2), scan.after(one, 2)) for one in scan if one is not None]
    assert found[1:] == ([b"line 18\n", b"line 19\n"], [b"line 21\n", b"line 22\n"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_line_numbers_are_counted_on_demand_and_given_up_when_dear(encoding: str) -> None:
    lines = [f"line \u010a {number}\n".encode(encoding) for number in range(20)]
    places = [sum(map(len, lines[:number])) for number in range(20)]
    numbers = LineNumbers(lambda: io.BytesIO(b"".join(lines)), encoding, places[10], 0, 1)
    assert [numbers.at(places[number]) for number in (0, 3, 4, 9)] == [1, 4, 5, 10]
    assert LineNumbers(lambda: io.BytesIO(b"".join(lines)), encoding, places[10], 0, 1).at(places[11]) is None


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a(b", "pattern: missing ): a(b"),
        ("(?=x)", "RE2 has no look-around"),
        (r"\Aabc", r"pattern: \A cannot be used"),
        ("(?-m)^a", "pattern: (?-m cannot be used"),
        ("a\nb", "pattern: has a line break"),
        ("(a{1000}){1000}", "pattern: "),
        (r"(?:.?){900}\\d", "pattern: is too large"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(Invalid) as refused:
        Pattern(pattern, regex=True)
    assert said in refused.value.message


def test_less_is_looked_through_at_once_the_larger_a_pattern_is() -> None:
    literal, small, large = Pattern("x" * 500), Pattern("a.c", regex=True), Pattern(r"(?:\w?\d?){80}!", regex=True)
    assert literal.block > small.block > large.block > 16_000


def test_spans_are_characters() -> None:
    assert Pattern("é€").spans("aé€ é€", 10) == [[1, 3], [4, 6]]
    assert Pattern("x*", regex=True).spans("axxb", 10) == [[1, 3]]
    assert Pattern(r"\.", regex=False).spans(r"a\.b", 10) == [[1, 3]]
