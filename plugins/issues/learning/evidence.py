"""When a place is a value: how many distinct words it takes, given how much fixed text stands around.

Everything here only grows with the set of templates: more templates never close what was open. So what is open
depends on the set alone, not on the order in which templates came.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from snaglist.plugins.issues.learning.slots import Word
from snaglist.plugins.issues.learning.words import QUOTES, is_plain, is_proper, looks_said

# (fixed text, distinct words that it takes), for words that may be values. A word that no language has (digits,
# capitals or joints inside) counts twice, but five distinct ones it must be: fewer are a choice.
_STEPS = ((2.5, 5), (2.0, 6), (1.5, 8), (1.0, 12))
_FEWEST = 5
_FEWEST_FREE = 3  # beside these, doubtful words count half
_PROPER_FROM, _PROPER = 2.5, 4  # names with capitals, digits or joints are less often a choice
# The same where the template exists with a value in that place already.
_KNOWN_STEPS = ((4.0, 2), (2.5, 3), (1.5, 5))
# Names in a place where a choice may stand: such as the first word.
_PLACED_STEPS = ((4.0, 10), (2.5, 16))
# With dozens of words even those count that look like a choice, and names that were kept on purpose.
_WIDE_STEPS = ((1.5, 24), (1.0, 32))
# Words that are values in other templates are known by name: so many of them, counted as above.
_NAMED_FROM, _NAMES = 1.5, 3
TURNING = 3
_SUGGESTED_FROM, _SUGGESTED_WORDS = 1.5, 3
_BESIDE_FROM = 1.5
_NEVER = 1 << 30


@dataclass(frozen=True, slots=True)
class Member:
    """A template that has the slot. `opened`: it is an open slot itself, so places without a word are values."""

    node: int
    words: Mapping[int, Word]
    opened: bool


def is_value(fixed: float, members: Sequence[Member], *, known: bool, names: Collection[str]) -> bool:
    """Tell whether a slot is open.

    `known`: a template of just this text came from events; `names` are words that are values in other templates.
    """
    return any(
        all(_is_value(position, fixed, having, known, names) for position in positions)
        for positions, having in (*_by_positions(members, 1), *_by_positions(members, 2))
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """What follows for the members of a slot with two positions, short of it being open.

    `values` are members and the position that is a value beside their word at the other one. At `among`, members
    that have a value in the other position already differ in a value only.
    """

    values: Sequence[tuple[Member, int]] = ()
    among: Collection[int] = ()


def values_beside(fixed: float, members: Sequence[Member]) -> Beside:
    """Find positions that are values whatever stands in the other one.

    A position is a value beside every word of the other position when it is one beside one of them, or when enough
    of its words come with several words of the other: then the two change independently of each other.
    """
    if fixed < _BESIDE_FROM:
        return Beside()
    values: list[tuple[Member, int]] = []
    among: dict[int, None] = {}
    for positions, having in _by_positions(members, 2):
        for value, other in (positions, positions[::-1]):
            if _is_open(value, having) or _is_crossed(value, other, fixed, having):
                values += [(member, value) for member in having if other in member.words]
                if _is_open(other, having):
                    among[value] = None
    return Beside(values, among)


def turning(fixed: float, members: Sequence[Member]) -> list[Collection[str]]:
    """Return, for each place of a closed slot, the names that take turns there, when they are enough to look further.

    Names that no language has and that take turns in another sentence too are values; a few in one sentence are not.
    """
    if not says_enough(fixed):
        return []
    found: defaultdict[int, set[str]] = defaultdict(set)
    for member in members:
        if len(member.words) == 1:
            for position, word in member.words.items():
                if is_turning(word):
                    found[position].add(word.text)
    return [words for words in found.values() if len(words) >= TURNING]


def says_enough(fixed: float) -> bool:
    """Tell whether a slot has enough fixed text for words to be known by name in it."""
    return fixed >= _NAMED_FROM


def is_turning(word: Word) -> bool:
    """Tell whether a word is a name that no language has."""
    return not word.doubtful and is_name(word.text) and not is_plain(word.text) and is_proper(word.text)


def _by_positions(members: Sequence[Member], number: int) -> Iterator[tuple[tuple[int, ...], list[Member]]]:
    """Give each choice of positions with the members that have words at these only.

    One text may be the slot of templates that have a value of the first stage where others have a word.
    """
    everywhere = sorted({position for member in members for position in member.words})
    for positions in combinations(everywhere, number):
        having = [member for member in members if member.words.keys() <= set(positions)]
        if {position for member in having for position in member.words} == set(positions):
            yield positions, having


def _is_open(position: int, members: Sequence[Member]) -> bool:
    return any(member.opened and position not in member.words for member in members)


def _is_crossed(position: int, other: int, fixed: float, members: Sequence[Member]) -> bool:
    beside: defaultdict[Word, set[Word | None]] = defaultdict(set)
    for member in members:
        if position in member.words:
            beside[member.words[position]].add(member.words.get(other))
    open_beside = {member.words[position] for member in members if member.opened and position in member.words}
    return _is_enough([word for word, others in beside.items() if len(others) > 1 or word in open_beside], fixed)


def is_suggested(fixed: float, members: Sequence[Member]) -> bool:
    """Tell whether a closed slot is worth a look by people."""
    distinct = {word for member in members if len(member.words) == 1 for word in member.words.values()}
    return fixed >= _SUGGESTED_FROM and len(distinct) >= _SUGGESTED_WORDS


def _is_value(position: int, fixed: float, members: Sequence[Member], known: bool, names: Collection[str]) -> bool:
    words: set[Word] = set()
    for member in members:
        word = member.words.get(position)
        if word is not None:
            words.add(word)
        elif member.opened:
            return True
        else:
            known = True
    if known and _evidence(words) >= _needed(_KNOWN_STEPS, fixed):
        return True
    texts = {word.text for word in words}
    if len(texts) >= _needed(_WIDE_STEPS, fixed):
        return True
    if says_enough(fixed) and _evidence([word for word in words if word.text in names]) >= _NAMES:
        return True
    free = [text for text in texts if is_name(text)]
    if len(free) >= _needed(_PLACED_STEPS, fixed):
        return True
    return _is_enough(words, fixed)


def is_name(text: str) -> bool:
    """Tell whether a word that is a value in one template may be one in others too."""
    return text[0] not in QUOTES and not looks_said(text)


def _is_enough(words: Collection[Word], fixed: float) -> bool:
    free = [word for word in words if not word.doubtful]
    halves = (len(words) - len(free)) / 2
    if fixed >= _PROPER_FROM and sum(is_proper(word.text) for word in free) >= _PROPER:
        return True
    return (
        len(free) >= _FEWEST_FREE
        and len(free) + halves >= _FEWEST
        and _evidence(free) + halves >= _needed(_STEPS, fixed)
    )


def _evidence(words: Collection[Word]) -> int:
    return sum(1 if is_plain(word.text) else 2 for word in words)


def _needed(steps: Sequence[tuple[float, int]], fixed: float) -> int:
    return next((words for least, words in steps if fixed >= least), _NEVER)
