"""The slots of a template: the template again with one or two of its words opened.

Templates that differ in these words only have the slot in common. So the slot's text is how one finds them, by an
indexed look-up and without comparing templates with each other.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations, pairwise
from typing import NamedTuple

from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.learning.lexicon import GRAMMAR
from snaglist.plugins.issues.learning.words import ITEM, QUOTES, Kind, kind

MAX_TEMPLATE = 1_000  # longer texts are dumps rather than sentences
MAX_ITEMS = 60
MAX_SINGLES = 16
MAX_PAIRED = 6  # with more open words, only neighbours are paired
MAX_REASON = 8
MAX_NAMES = 3  # a longer run of capitals is a heading
_PARTICLES = ("&", "of", "of the", "in the", "de", "de la", "du", "von", "van")  # within a name
_JOINTS = frozenset((" ", *(f" {words} " for words in _PARTICLES)))
_NUMBER = f" {PLACEHOLDER}"


class Word(NamedTuple):
    """A word that may be a value."""

    text: str
    doubtful: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """A template with words opened. `words` holds them by their position among the words of the template."""

    digest: str
    template: str
    words: Mapping[int, Word]


@dataclass(frozen=True, slots=True)
class _Place:
    position: int
    start: int
    end: int
    word: Word


def template_digest(context: str, template: str) -> str:
    """Return what a template of a context is looked up by."""
    return blake2b(f"{context}\x00{template}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def position_digest(digest: str, position: int) -> str:
    """Return what the members of a slot with a word at just this position are looked up by."""
    return blake2b(f"{digest}\x00{position}".encode(), digest_size=16).hexdigest()


@lru_cache(maxsize=16_384)
def word_digest(word: str) -> str:
    """Return what a word is looked up by, whatever the context: an application calls its things alike everywhere."""
    return blake2b(f"\x00\x00{word}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def slots(context: str, template: str) -> list[Slot]:
    """Return the slots of a template whose words may be values."""
    places = _places(template)
    runs = _runs(template, places)
    whole = _with_lists(template, _with_full_names(template, runs))
    pairs = combinations(whole, 2) if len(whole) <= MAX_PAIRED else pairwise(whole)
    further = (
        *whole,
        *_untitled_names(template, runs),
        *_numbered_names(template, places),
        *_leading_name(template, places),
    )
    singles = [*places, *(place for place in further if place not in places)]
    found = []
    for opened in (*((place,) for place in singles), *pairs):
        text = _opened(template, opened)
        found.append(Slot(template_digest(context, text), text, {place.position: place.word for place in opened}))
    return found


def joinable(having: Iterable[Slot]) -> list[str]:
    """Return the `position_digest` of each slot with one word."""
    return [
        position_digest(slot.digest, position) for slot in having if len(slot.words) == 1 for position in slot.words
    ]


def weight(template: str) -> float:
    """Return how much fixed text a template has, in words; words of grammar and values count less."""
    said, values = 0.0, 0.0
    for found in ITEM.finditer(template):
        text = found[0]
        if text == PLACEHOLDER:
            values += 0.25
        else:
            said += 0.5 if text.lower() in GRAMMAR else 1
    return said + min(values, 0.5)


def _places(template: str) -> list[_Place]:
    if len(template) > MAX_TEMPLATE:
        return []
    found = list(ITEM.finditer(template))
    if len(found) > MAX_ITEMS:
        return []
    reason = _reason_start(template)
    places: list[_Place] = []
    before = ""
    for position, item in enumerate(found):
        start, end = item.span()
        left, right = template[start - 1 : start], template[end : end + 1]
        after = found[position + 1][0] if position + 1 < len(found) else ""
        judged = kind(
            item[0], before=before, after=after, left=left, right=right, leads=position == 0, reason=start >= reason
        )
        before = item[0]
        if judged is Kind.FIXED:
            continue
        if left in QUOTES and left == right:
            start, end = start - 1, end + 1
        places.append(_Place(position, start, end, Word(template[start:end], judged is Kind.DOUBTFUL)))
    return places[:MAX_SINGLES]


def _runs(template: str, places: Sequence[_Place]) -> list[list[_Place]]:
    """Return the places, those together that are capitalised words and follow each other."""
    runs: list[list[_Place]] = []
    for place in places:
        joined = bool(runs) and place.word.text[0].isupper() and _is_joint(template, runs[-1][-1], place)
        if joined and runs[-1][0].position:  # a sentence begins with a capital anyway
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _with_full_names(template: str, runs: Iterable[list[_Place]]) -> list[_Place]:
    """Return the places with each run as one, such as a first and a last name."""
    whole: list[_Place] = []
    for run in runs:
        whole += [_full_name(template, run)] if 1 < len(run) <= MAX_NAMES else run
    return whole


def _untitled_names(template: str, runs: Iterable[list[_Place]]) -> list[_Place]:
    """Return the runs without their first word, which may be a title."""
    return [_full_name(template, run[1:]) for run in runs if 2 < len(run) <= MAX_NAMES + 1]


def _leading_name(template: str, places: Sequence[_Place]) -> list[_Place]:
    """Return the capitalised words that a message begins with as one, a doubtful one: a sentence begins so anyway."""
    run = list(places[:1])
    for place in places[1:MAX_NAMES]:
        if not (place.word.text[0].isupper() and _is_joint(template, run[-1], place)):
            break
        run.append(place)
    if len(run) < 2 or run[0].position:
        return []
    whole = _full_name(template, run)
    return [_Place(whole.position, whole.start, whole.end, Word(whole.word.text, doubtful=True))]


def _numbered_names(template: str, places: Sequence[_Place]) -> list[_Place]:
    """Return capitalised words with the value behind them as one, such as a name with a number in it."""
    return [
        _Place(place.position, place.start, end, Word(template[place.start : end], place.word.doubtful))
        for place in places
        if place.position and place.word.text[0].isupper() and template.startswith(_NUMBER, place.end)
        for end in (place.end + len(_NUMBER),)
    ]


def _with_lists(template: str, places: Sequence[_Place]) -> list[_Place]:
    """Return the places with words that commas join as one: a list of any length is a value as a single word is."""
    whole: list[_Place] = []
    for place in places:
        if whole and not place.word.doubtful and template[whole[-1].end : place.start] == ", ":
            whole[-1] = _full_name(template, (whole[-1], place))
        else:
            whole.append(place)
    return whole


def _is_joint(template: str, first: _Place, second: _Place) -> bool:
    return first.word.text[0].isupper() and template[first.end : second.start] in _JOINTS


def _full_name(template: str, run: Sequence[_Place]) -> _Place:
    first, last = run[0], run[-1]
    doubtful = all(place.word.doubtful for place in run)
    return _Place(first.position, first.start, last.end, Word(template[first.start : last.end], doubtful))


def _reason_start(template: str) -> int:
    """Return where the reason begins that a sentence gives last: behind a colon, a few words without values."""
    head, colon, reason = template.rpartition(": ")
    if not colon or PLACEHOLDER in reason or len(reason.split()) > MAX_REASON or len(head.split()) < 2:
        return len(template)
    return len(head) + 2


def _opened(template: str, places: Sequence[_Place]) -> str:
    kept, end = [], 0
    for place in places:
        kept += [template[end : place.start], PLACEHOLDER]
        end = place.end
    return "".join(kept) + template[end:]
