"""Each number that learning decides by: one step to either side changes what becomes one issue."""

from collections.abc import Callable

import pytest

from snaglist.plugins.issues.grouping import template, templates, thresholds
from snaglist.plugins.issues.learning import Model
from snaglist.plugins.issues.learning import words as learning_words
from snaglist.plugins.issues.learning.evidence import Member, is_suggested, is_value
from snaglist.plugins.issues.learning.slots import Word, slots, weight
from snaglist.plugins.issues.learning.words import Kind, kind


def value(fixed: float, *words: str, doubtful: bool = False, known: bool = False, named: bool = False) -> bool:
    members = [Member(number, {0: Word(word, doubtful)}, opened=False) for number, word in enumerate(words)]
    return is_value(fixed, members, known=known, names=set(words) if named else ())


def plain(number: int) -> list[str]:
    return ["".join(chr(ord("a") + int(digit)) for digit in f"{n:03}") for n in range(number)]


def proper(number: int) -> list[str]:
    return [f"{word}-x" for word in plain(number)]


LONG = f"{'d' * 49} " * 20

# For each: what holds with the number as it is, and what is asked when it is one step lower and one step higher.
BOUNDS: dict[str, tuple[float, Callable[[], bool], Callable[[], bool]]] = {
    "EVIDENCE": (1, lambda: not value(1.0, *plain(13)), lambda: value(1.0, *plain(14))),
    "LEAST_FIXED": (0.25, lambda: not value(0.75, *plain(99)), lambda: value(1.0, *plain(99))),
    "MOST_FIXED": (0.5, lambda: value(9.0, *plain(6)), lambda: not value(9.0, *plain(5))),
    "PLAIN": (0.25, lambda: value(2.5, *plain(6)), lambda: not value(2.5, *plain(5))),
    "PROPER": (0.5, lambda: value(2.5, *proper(4)), lambda: not value(2.5, *proper(3))),
    "DOUBTFUL": (0.125, lambda: doubtful(15), lambda: not doubtful(14)),
    "KNOWN_BY_NAME": (1, lambda: value(2.5, *plain(3), named=True), lambda: not value(2.5, *plain(2), named=True)),
    "VALUE_THERE": (1, lambda: value(2.5, *plain(2), known=True), lambda: not value(2.5, *plain(1), known=True)),
    "SUGGESTED_WORDS": (1, lambda: not suggested(1.5, 2), lambda: suggested(1.5, 3)),
    "SUGGESTED_FIXED": (0.25, lambda: not suggested(1.25, 3), lambda: suggested(1.5, 3)),
    "GRAMMAR_WEIGHT": (0.25, lambda: weight("of disk") <= 1.5, lambda: weight("of disk") >= 1.5),
    "VALUE_WEIGHT": (0.25, lambda: weight("disk <*>") <= 1.25, lambda: weight("disk <*>") >= 1.25),
    "MOST_VALUES": (1, lambda: weight("disk <*> <*> <*>") <= 1.5, lambda: weight("disk <*> <*> <*>") >= 1.5),
    "MAX_TEMPLATE": (1, lambda: bool(slots("", LONG)), lambda: not slots("", f"{LONG}d")),
    "MAX_ITEMS": (1, lambda: bool(slots("", "disk " * 60)), lambda: not slots("", "disk " * 61)),
    "MAX_SINGLES": (1, lambda: singles("disk " * 40) >= 16, lambda: singles("disk " * 40) <= 16),
    "MAX_PAIRED": (1, lambda: pairs("disk " * 6) == 15, lambda: pairs("disk " * 7) == 6),
    "MAX_REASON": (1, lambda: reasoned(8), lambda: not reasoned(9)),
    "MAX_NAMES": (1, lambda: "of <*>" in texts("of Ann Bea Cid"), lambda: "of <*>" not in texts("of Ann Bea Cid Dan")),
    "MAX_WORD": (1, lambda: judged("a" * 100) is Kind.OPEN, lambda: judged("a" * 101) is Kind.FIXED),
    "MESSAGE_LIMIT": (1, lambda: "c" in template("b " * 4095 + "bc"), lambda: "c" not in template("b " * 4096 + "c")),
}
MODULES = (thresholds, templates, learning_words)
REMEMBERED = {"MEMO_SIZE", "MEMO_TEXT"}  # these only save work


def doubtful(words: int) -> bool:
    return value(2.5, *plain(words), doubtful=True)


def suggested(fixed: float, words: int) -> bool:
    return is_suggested(fixed, [Member(n, {0: Word(word, False)}, False) for n, word in enumerate(plain(words))])


def texts(message: str) -> set[str]:
    return {slot.template for slot in slots("", message)}


def singles(message: str) -> int:
    return sum(len(slot.words) == 1 for slot in slots("", message))


def pairs(message: str) -> int:
    return sum(len(slot.words) == 2 for slot in slots("", message))


def reasoned(words: int) -> bool:
    found = slots("", "disk full: " + " ".join(["inode"] * words))
    return any(word.doubtful for slot in found for word in slot.words.values() if word.text == "inode")


def judged(word: str) -> Kind:
    return kind(word, before=("disk", "disk"), after="", left=" ", right="", leads=False, reason=False)


def test_every_threshold_is_pinned() -> None:
    assert {name for name in vars(thresholds) if name.isupper()} == BOUNDS.keys() | REMEMBERED


@pytest.mark.parametrize("name", BOUNDS)
def test_a_step_changes_what_becomes_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step, below, above = BOUNDS[name]
    set_to = getattr(thresholds, name)
    assert below() and above()
    for moved in (set_to - step, set_to + step):
        for module in MODULES:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, type(set_to)(moved))
        assert not (below() and above()), f"{name} = {moved} changes nothing"


def test_a_value_takes_fewer_words_the_more_is_said() -> None:
    """What the numbers come to in whole messages."""
    names = plain(20)
    for text, needed in (("hello {}", 12), ("disk {} is full", 6), ("link of {} to the old rack is down", 6)):
        for number in (needed - 1, needed):
            model = Model()
            listed = [text.format(name) for name in names[:number]]
            model.add(("", one) for one in listed)
            assert (len({model.group("", one) for one in listed}) == 1) == (number == needed)
