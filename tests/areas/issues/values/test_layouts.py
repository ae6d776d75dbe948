"""A message is its layout and its values, and both give it back to the letter."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from snaglist.plugins.issues import AccessInfo, Event
from snaglist.plugins.issues.values.layouts import (
    MAX_VALUES,
    SEPARATOR,
    message_of,
    split_message,
    stored_values,
    values_of,
)
from snaglist.plugins.issues.values.names import named


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("Payment of order 52045 failed after 3007 ms on web-1", ("52045", "3007 ms", "web-1")),
        ("Mail to user7@example.com bounced", ("user7@example.com",)),
        ("took 30ms", ("30ms",)),
        ("conn=9 op=1 RESULT tag=101", ("9", "1", "101")),
        ("user 'John Smith' failed", ("'John Smith'",)),
        ("two  blanks\tand 5\nthen", ("5",)),
        ("nothing differs here", ()),
    ],
)
def test_values_are_whole_words(message: str, values: tuple[str, ...]) -> None:
    layout = split_message(Event(message))
    assert layout.values == values
    assert message_of(layout.pieces, layout.values) == message


def test_messages_that_differ_in_values_share_a_layout() -> None:
    first, second = (split_message(Event(f"Order {n} failed after {n} ms")) for n in (7, 52045))
    assert first.pieces == second.pieces


def test_the_path_is_the_value_of_a_request() -> None:
    event = Event("GET /orders/7/pay → 502", access=AccessInfo("GET", "/orders/7/pay", 502))
    assert split_message(event).values == ("/orders/7/pay",)


def test_what_the_logger_left_open_is_a_value() -> None:
    event = Event("User alice could not pay", template="User {name} could not pay")
    assert split_message(event).values == ("alice",)


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("order=52045 after 12 ms", [("order", ""), ("after", "")]),
        ("Payment of order 52045 failed", [("order", "")]),
        ("port 7 and port 8", [("port", ""), ("port 2", "")]),
        ("10.0.0.7 refused", [("refused", "")]),
    ],
)
def test_values_are_called_by_what_stands_beside_them(message: str, names: list[tuple[str, str]]) -> None:
    assert named(split_message(Event(message)).pieces) == names


def test_a_unit_that_the_logger_wrote_behind_a_value_is_told() -> None:
    event = Event("copied 12 KiB in 3 s of 7 rows", template="copied {size} KiB in {time} s of {n} rows")
    assert named(split_message(event).pieces) == [("copied", "KiB"), ("in", "s"), ("of", "")]


@given(st.text(max_size=300))
def test_any_message_comes_back(message: str) -> None:
    layout = split_message(Event(message))
    stored = stored_values(layout)
    shown = message_of(layout.pieces, values_of(layout.pieces, stored))
    wanted = message.replace("\0", "\ufffd").replace(SEPARATOR, "\u241f")
    assert shown == "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in wanted)


_WORD = st.sampled_from(
    ["order", "52045", "3.5", "ms", "<*>", "{", "}", '"', "'", "a=1", "10.0.0.7", "x-1", "[", "]", "\n"]
)


@example(["<*>", "x-1"], "")
@example(["52045", "order", "-", "3.5"], "")
@given(st.lists(_WORD, max_size=30), st.sampled_from([" ", "  ", "\t", ""]))
def test_odd_messages_come_back(words: list[str], blank: str) -> None:
    message = blank.join(words)
    layout = split_message(Event(message))
    assert message_of(layout.pieces, values_of(layout.pieces, stored_values(layout))) == message


def test_long_values_are_cut_and_say_so() -> None:
    layout = split_message(Event("x " + "7" * 5_000))
    stored = stored_values(layout)
    assert stored is not None and len(stored) == MAX_VALUES and stored.endswith("…")
