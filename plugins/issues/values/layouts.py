"""A message as its layout and its values: `Order 52045 failed after 30 ms` has two, in `Order … failed after … ms`.

The layout is what the grouping's template leaves fixed, to the letter and with its blanks and lines, so that layout and
values give the message back. Many events share a layout, which is kept once; their values are small.
(The idea of CLP: Rodrigues, Luo and Yuan, "CLP: Efficient and Scalable Search on Compressed Text Logs", OSDI 2021.)
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from snaglist.kernel import clip
from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.grouping import template
from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.storing.texts import clean

SEPARATOR = "\x1f"  # between the values of an event as they are stored
_SEPARATOR_SHOWN = "\u241f"  # stands for one that a message holds itself
MAX_VALUES = 2_000  # characters kept of an event's values; the rest is in its file, or among its texts
_LONGEST = 20_000  # characters of a message that are looked at

_JOINS = ".@-"  # within a word, as `words` has them
_JOINING = _JOINS + "_"

_OPEN = re.compile(
    r"[$#]?\{[\w.@$]{0,80}(?:[:,][^{}]{0,40})?\}|%(?:\(\w{1,80}\))?[-+ #0]{0,3}\d{0,3}(?:\.\d{1,3})?[a-zA-Z]"
)

Pieces = tuple[str, ...]


class Layout(NamedTuple):
    """What is fixed of a message, in front of, between and behind its values, and the values."""

    pieces: Pieces
    values: Pieces


WHOLE: Pieces = ("", "")  # of a message that is all value


def split_message(event: Event) -> Layout:
    """Return the layout of an event's message and its values: whole words, `web-3` of `web-<*>`."""
    return _widened(_split_message(event))


def _split_message(event: Event) -> Layout:
    message = clean(event.message[:_LONGEST])
    if SEPARATOR in message:
        message = message.replace(SEPARATOR, _SEPARATOR_SHOWN)
    if event.access is not None:
        found = _split((f"{event.access.method} ", f" → {event.access.status:03d}"), message)
        if found:
            return found
    if event.template is not None:
        found = _split(_left_open(event.template), message)
        if found and found.values:
            return found
    masked = template(message)
    return _split(_pieces(masked), message) or _by_token(masked, message) or Layout(WHOLE, (message,))


def message_of(pieces: Sequence[str], values: Sequence[str]) -> str:
    """Return the message of a layout and values; missing values are those that were cut."""
    parts = list(pieces)
    given = iter(values)
    return parts[0] + "".join(next(given, "") + piece for piece in parts[1:])


def stored_values(layout: Layout) -> str | None:
    """Return values as they are stored with an event, None without one."""
    return clip(SEPARATOR.join(layout.values), MAX_VALUES) if layout.values else None


def values_of(pieces: Sequence[str], stored: str | None) -> list[str]:
    """Return stored values, one for each place of the layout."""
    places = len(pieces) - 1
    if places < 2 or stored is None:
        return [stored or ""][:places]
    values = stored.split(SEPARATOR)
    return values + [""] * (places - len(values))


def _widened(layout: Layout) -> Layout:
    pieces, joins = _wide(layout.pieces)
    if not joins:
        return layout
    values: list[str] = []
    for value, (before, after, goes_on) in zip(layout.values, joins, strict=True):
        if goes_on:
            values[-1] += before + value + after
        else:
            values.append(before + value + after)
    return Layout(pieces, tuple(values))


@lru_cache(maxsize=8192)
def _wide(pieces: Pieces) -> tuple[Pieces, list[tuple[str, str, bool]]]:
    """Return pieces without the parts of words that touch a value, and for each value what goes to it.

    That is what stands before and behind it, and whether nothing is left between it and the value before.
    """
    begin = _tail(pieces[0])
    kept, before = [pieces[0][:begin]], pieces[0][begin:]
    joins: list[tuple[str, str, bool]] = []
    goes_on = False
    for number, piece in enumerate(pieces[1:], 2):
        last, end = number == len(pieces), _head(piece)
        if not last and (end == len(piece) or _tail(piece) < end):  # nothing but a part of a word, such as `x-`
            joins.append((before, piece, goes_on))
            before, goes_on = "", True
            continue
        begin = len(piece) if last else _tail(piece)
        joins.append((before, piece[:end], goes_on))
        kept.append(piece[end:begin])
        before, goes_on = piece[begin:], False
    return tuple(kept), joins if any(before or after or more for before, after, more in joins) else []


def _tail(piece: str) -> int:
    """Return where the part of a word begins that a piece ends with."""
    place = len(piece)
    while place and (piece[place - 1].isalnum() or piece[place - 1] in _JOINING):
        place -= 1
    while place < len(piece) and piece[place] in _JOINS:
        place += 1
    return place


def _head(piece: str) -> int:
    """Return where the part of a word ends that a piece begins with."""
    place = 0
    while place < len(piece) and (piece[place].isalnum() or piece[place] in _JOINING):
        place += 1
    while place and piece[place - 1] in _JOINS:
        place -= 1
    return place


@lru_cache(maxsize=8192)
def _left_open(written: str) -> Pieces:
    """Return the pieces of a logger's own template: `{Name}`, `{0:x}`, `%s`, `%(name)d` are left open."""
    return tuple(_OPEN.split(written))


@lru_cache(maxsize=8192)
def _pieces(masked: str) -> Pieces:
    return tuple(masked.split(PLACEHOLDER))


def _split(pieces: Pieces, message: str) -> Layout | None:
    """Find the fixed pieces in a message, in order; what stands between them are the values.

    Each piece is taken where it comes first, which finds them all wherever that is possible. A template lacks what
    trails a message as context, and has one blank for any run of them.
    """
    values = _between(pieces, message)
    if values is not None:
        return Layout(pieces, values)
    if pieces[-1]:
        values = _between((*pieces, ""), message)
        if values is not None:
            return Layout((*pieces, ""), values)
    loose = message.split()
    return None if " ".join(loose) == message else _split_loosely(pieces, message)


def _between(pieces: Pieces, message: str) -> Pieces | None:
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return () if message == first else None
    position, end = len(first), len(message) - len(last)
    if end < position or not message.startswith(first) or not message.endswith(last):
        return None
    values = []
    for piece in pieces[1:-1]:
        found = message.find(piece, position, end)
        if found < 0:
            return None
        values.append(message[position:found])
        position = found + len(piece)
    values.append(message[position:end])
    return tuple(values)


def _split_loosely(pieces: Pieces, message: str) -> Layout | None:
    """Find pieces whose blanks may be any run of white space; the layout keeps the white space of the message."""
    kept: list[str] = []
    values: list[str] = []
    position = 0
    for number, piece in enumerate(pieces):
        found = _loose(piece).search(message, position)
        if found is None or (number == 0 and message[: found.start()].strip()):
            return None
        if number:
            values.append(message[position : found.start()])
            kept.append(found[0])
        else:
            kept.append(message[: found.end()])
        position = found.end()
    rest = message[position:]
    if rest.strip():
        return Layout((*kept, ""), (*values, rest))
    kept[-1] += rest
    return Layout(tuple(kept), tuple(values))


@lru_cache(maxsize=8192)
def _loose(piece: str) -> re.Pattern[str]:
    blanks = r"\s+".join(re.escape(part) for part in piece.split(" "))
    return re.compile(blanks)


def _by_token(masked: str, message: str) -> Layout | None:
    """Compare word by word: what a template writes otherwise than the message (a plural for one) is a value."""
    words = re.split(r"(\s+)", message)
    fixed = masked.split()
    if len(words) // 2 + 1 != len(fixed):
        return None
    kept: list[str] = [""]
    values: list[str] = []
    for number, word in enumerate(words):
        if number % 2 or word == fixed[number // 2]:
            kept[-1] += word
            continue
        inside = _split(_pieces(fixed[number // 2]), word) or Layout(WHOLE, (word,))
        kept[-1] += inside.pieces[0]
        kept += inside.pieces[1:]
        values += inside.values
    return Layout(tuple(kept), tuple(values))
