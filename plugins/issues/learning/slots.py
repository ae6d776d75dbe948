"""The slots of a template: the template again with one or two of its words opened.

Templates that differ in these words only have the slot in common. So the slot's text is how one finds them, by an
indexed look-up and without comparing templates with each other.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations, pairwise
from typing import NamedTuple

from snaglist.plugins.issues.grouping import thresholds
from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.learning.words import GRAMMAR, ITEM, QUOTES, Kind, kind

_JOINTS = frozenset(
    (" ", *(f" {words} " for words in ("&", "of", "of the", "in the", "de", "de la", "du", "von", "van")))
)


class Word(NamedTuple):
    """A word that may be a value."""

    text: str
    doubtful: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """A template with words opened.

    `words` holds them by their position in the slot's own text, which is the same for all that have the slot: in their
    own texts the words may stand elsewhere, as `key:value` is two words and `key:<*>` one. `places` says from where to
    where: a first name begins where the full name does.
    """

    digest: str
    template: str
    words: Mapping[int, Word]
    places: Collection[tuple[int, int]]


class _Place(NamedTuple):
    leads: bool
    start: int
    end: int
    word: Word


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def template_digest(context: str, template: str) -> str:
    """Return what a template of a context is looked up by."""
    return _digest(f"{context}\x00{template}")


@lru_cache(maxsize=16_384)
def word_digest(word: str) -> str:
    """Return what a word is looked up by, whatever the context: an application calls its things alike everywhere."""
    return _digest(f"\x00\x00{word}")


def slots(context: str, template: str) -> list[Slot]:
    """Return the slots of a template whose words may be values."""
    places = _places(template)
    whole = _with_full_names(template, places)
    singles = dict.fromkeys((*places, *whole))
    pairs = combinations(whole, 2) if len(whole) <= thresholds.MAX_PAIRED else pairwise(whole)
    found = []
    for opened in (*((place,) for place in singles), *pairs):
        text, starts = _opened(template, opened)
        words = {_position(text, start): place.word for start, place in zip(starts, opened, strict=True)}
        found.append(Slot(template_digest(context, text), text, words, [(place.start, place.end) for place in opened]))
    return found


@lru_cache(maxsize=1024)
def slot_digests(context: str, template: str) -> Collection[str]:
    """Return the digests of the slots of a template; those of an open slot are wanted with each new value."""
    return frozenset(slot.digest for slot in slots(context, template))


def weight(template: str) -> float:
    """Return how much fixed text a template has, in words; words of grammar and values count less."""
    items = ITEM.findall(template)
    values = items.count(PLACEHOLDER)
    said = sum(thresholds.GRAMMAR_WEIGHT if text.lower() in GRAMMAR else 1.0 for text in items if text != PLACEHOLDER)
    return said + thresholds.VALUE_WEIGHT * min(values, thresholds.MOST_VALUES)


def _places(template: str) -> list[_Place]:
    if len(template) > thresholds.MAX_TEMPLATE:
        return []
    found = list(ITEM.finditer(template))
    if len(found) > thresholds.MAX_ITEMS:
        return []
    reason = _reason_start(template)
    texts = ["", "", *(item[0] for item in found), ""]
    places: list[_Place] = []
    for position, item in enumerate(found):
        start, end = item.span()
        left, right = template[start - 1 : start], template[end : end + 1]
        judged = kind(
            item[0],
            before=(texts[position], texts[position + 1]),
            after=texts[position + 3],
            left=left,
            right=right,
            leads=not position,
            reason=start >= reason,
        )
        if judged is Kind.FIXED:
            continue
        if left in QUOTES and left == right:
            start, end = start - 1, end + 1
        places.append(_Place(not position, start, end, Word(template[start:end], judged is Kind.DOUBTFUL)))
    return places[: thresholds.MAX_SINGLES]


def _with_full_names(template: str, places: Sequence[_Place]) -> list[_Place]:
    """Return the places, a few capitalised words that follow each other as one, such as a first and a last name."""
    runs: list[list[_Place]] = []
    for place in places:
        # A sentence begins with a capital anyway, so what it begins with is no part of a name.
        if runs and not runs[-1][0].leads and _is_joined(template, runs[-1][-1], place):
            runs[-1].append(place)
        else:
            runs.append([place])
    whole: list[_Place] = []
    for run in runs:
        whole += [_full_name(template, run)] if 1 < len(run) <= thresholds.MAX_NAMES else run
    return whole


def _is_joined(template: str, first: _Place, second: _Place) -> bool:
    capitals = first.word.text[0].isupper() and second.word.text[0].isupper()
    return capitals and template[first.end : second.start] in _JOINTS


def _full_name(template: str, run: Sequence[_Place]) -> _Place:
    first, last = run[0], run[-1]
    doubtful = all(place.word.doubtful for place in run)
    return _Place(first.leads, first.start, last.end, Word(template[first.start : last.end], doubtful))


def _reason_start(template: str) -> int:
    """Return where the reason begins that a sentence gives last: behind a colon, a few words without values."""
    head, colon, reason = template.rpartition(": ")
    if not colon or PLACEHOLDER in reason or len(reason.split()) > thresholds.MAX_REASON or len(head.split()) < 2:
        return len(template)
    return len(head) + 2


def _opened(template: str, places: Sequence[_Place]) -> tuple[str, list[int]]:
    """Return the template with words opened, and where in it they stood."""
    text, starts, end = "", [], 0
    for place in places:
        text += template[end : place.start]
        starts.append(len(text))
        text += PLACEHOLDER
        end = place.end
    return text + template[end:], starts


def _position(text: str, start: int) -> int:
    """Return how many words stand before a placeholder; of several that are joined to one word each counts."""
    begin, end = text.rfind(" ", 0, start) + 1, text.find(" ", start)
    part = text[begin:] if end < 0 else text[begin:end]
    # No word goes over a blank, so the parts between are counted by themselves: other slots have most of them too.
    return sum(_words_before(one, len(one)) for one in text[:begin].split(" ")) + _words_before(part, start - begin)


@lru_cache(maxsize=thresholds.MEMO_SIZE)
def _words_before(part: str, start: int) -> int:
    before = 0
    for item in ITEM.finditer(part):
        if item.end() > start:
            return before + part.count(PLACEHOLDER, item.start(), start)
        before += max(1, item[0].count(PLACEHOLDER))
    return before
