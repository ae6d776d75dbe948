"""When a place is a value: how many distinct words it takes, given how much fixed text stands around.

Everything here only grows with the set of templates: more templates never close what was open. So what is open
depends on the set alone, not on the order in which templates came.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from snaglist.plugins.issues.grouping import thresholds
from snaglist.plugins.issues.learning.slots import Word
from snaglist.plugins.issues.learning.words import QUOTES, is_plain, looks_said


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


def is_suggested(fixed: float, members: Sequence[Member]) -> bool:
    """Tell whether a closed slot is worth a look by people."""
    distinct = {word for member in members if len(member.words) == 1 for word in member.words.values()}
    return fixed >= thresholds.SUGGESTED_FIXED and len(distinct) >= thresholds.SUGGESTED_WORDS


def is_name(text: str) -> bool:
    """Tell whether a word that is a value in one template may be one in others too."""
    return text[0] not in QUOTES and not looks_said(text)


def _by_positions(members: Sequence[Member], number: int) -> Iterator[tuple[tuple[int, ...], list[Member]]]:
    """Give each choice of positions with the members that have words at these only.

    One text may be the slot of templates that have a value of the first stage where others have a word.
    """
    everywhere = sorted({position for member in members for position in member.words})
    for positions in combinations(everywhere, number):
        having = [member for member in members if member.words.keys() <= set(positions)]
        if {position for member in having for position in member.words} == set(positions):
            yield positions, having


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
    weights: dict[str, float] = {}
    for word in words:
        weights[word.text] = max(weights.get(word.text, 0.0), _weight(word, known, names))
    evidence = sum(weights.values()) + (thresholds.VALUE_THERE if known else 0.0)
    return fixed >= thresholds.LEAST_FIXED and evidence * min(fixed, thresholds.MOST_FIXED) >= thresholds.EVIDENCE


def _weight(word: Word, known: bool, names: Collection[str]) -> float:
    weight = thresholds.PLAIN if is_plain(word.text) and not word.text[0].isupper() else thresholds.PROPER
    if word.text in names:
        return weight * thresholds.KNOWN_BY_NAME
    return thresholds.DOUBTFUL if word.doubtful and not known else weight
