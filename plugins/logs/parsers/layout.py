"""What the first lines of a file have in common: where the time stands, which token is the level, what is a header.

A file is hundreds of examples of its own layout. A token whose values over many lines are a few words, nearly all of
them levels, is the level though no format is known; a token with two hundred different words is not, though one of
them is `error`. Decisions depend on the lines alone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from snaglist.plugins.logs.parsers.dates import possible_orders
from snaglist.plugins.logs.parsers.heads import LETTER, NOTHING_KNOWN, Head, Layout, read_head, tokens
from snaglist.plugins.logs.parsers.levels_first import begins_with_level
from snaglist.plugins.logs.parsers.severity import VAGUE, by_name
from snaglist.plugins.logs.parsers.stamps import find_stamp
from snaglist.plugins.logs.parsers.traces import follow

MAX_LINES: Final = 400
MIN_LINES: Final = 3
ENOUGH: Final = 0.8  # of the values at a place that have to be levels
# A quiet file has one level only; more of it has to be seen then.
MANY_LINES: Final = 10
ALL_BUT_FEW: Final = 0.95


@dataclass(slots=True)
class Place:
    """What stands at one place behind the time, over all lines."""

    values: Counter[str] = field(default_factory=Counter)

    def is_level(self) -> bool:
        """Tell whether the values are levels: words of the vocabulary, or its letters, and more than one of them."""
        total = self.values.total()
        words: Counter[str] = Counter()
        letters = 0
        for value, count in self.values.items():
            severity = by_name(value)
            if severity:
                words[severity] += count
            elif len(value) <= 2 and LETTER.fullmatch(value):
                letters += count
        if total < MIN_LINES:
            return False
        if len(words) >= 2 and words.total() >= ENOUGH * total:
            return True
        if len(words) == 1 and total >= MANY_LINES and words.total() >= ALL_BUT_FEW * total:
            return all(value.isupper() and value not in VAGUE for value in self.values if by_name(value))
        return letters >= ENOUGH * total and sum(1 for value in self.values if LETTER.fullmatch(value)) >= 2

    def is_upper(self) -> bool:
        """Tell whether the levels are in capitals."""
        return all(value.isupper() for value in self.values if by_name(value) and value.upper() not in VAGUE)


def learn(lines: Sequence[str]) -> Layout:
    """Return what the lines have in common."""
    lines = [line for line in lines if line.strip()][:MAX_LINES]
    places: dict[int, Place] = {}
    before: Counter[int] = Counter()
    stamps: list[str] = []
    indented: Counter[int] = Counter()
    flush = timed = late = 0
    for line in lines:
        text = line.lstrip(" ")
        found = find_time(text)
        if found is None:
            continue
        index, form, stamp, end = found
        if len(text) < len(line):
            if read_head(text, Layout(times_at=frozenset((index,)))) is not None:
                indented[len(line) - len(text)] += 1
            continue
        flush += 1
        timed += 1
        before[index] += 1
        late += index > 0
        if form == "written":
            stamps.append(stamp)
        for place, token in enumerate(tokens(line, end)):
            if token.kind != "pair":
                places.setdefault(place, Place()).values[token.text.rstrip(".-!")] += 1
    level = next((place for place in sorted(places) if places[place].is_level()), -1)
    return Layout(
        level_place=level,
        upper=level >= 0 and places[level].is_upper(),
        times_at=frozenset(index for index, count in before.items() if index and count >= MIN_LINES),
        level_first=_level_first(lines),
        indents=_indents(indented, flush, late),
        order=_order(stamps),
    )


def find_time(line: str) -> tuple[int, str, str, int] | None:
    """Return the first time near the beginning of a line: how many tokens stand before it, and what it is."""
    for index, token in enumerate(tokens(line, 0)):
        stamp = find_stamp(line, token.start)
        if stamp is not None:
            return index, *stamp
        if index > 4 or token.end > 100:
            return None
    return None


def _level_first(lines: Sequence[str]) -> bool:
    """Tell whether lines begin with their level and have no time: half of those that are headers of any kind."""
    if sum(map(begins_with_level, lines)) < 2:
        return False
    leading = others = 0
    previous: Head | None = None
    for line in lines:
        head = read_head(line, NOTHING_KNOWN)
        if head is None and begins_with_level(line):
            # Below a header without a level it is the second line of that header.
            leading += previous is None or bool(previous.severity)
        elif head is None and not follow.continues(line):
            others += 1
        previous = head
    return leading >= 2 and leading >= others


def _indents(indented: Counter[int], flush: int, late: int) -> frozenset[int]:
    """Return the blanks that may stand before a header.

    Where all headers are indented alike they are headers; and where the first column can be empty, a single blank.
    """
    if not flush:
        return frozenset(indented)
    return frozenset((1,)) if late * 2 > flush and indented[1] else frozenset()


def _order(stamps: Sequence[str]) -> str:
    """Return the order of day, month and year that all dates of numbers allow, "" when there are none."""
    orders: list[str] | None = None
    for stamp in stamps:
        allowed = possible_orders(stamp.partition(":")[0].rpartition(" ")[0] or stamp[:10])
        if allowed:
            orders = allowed if orders is None else [order for order in orders if order in allowed]
    return orders[0] if orders else ""
