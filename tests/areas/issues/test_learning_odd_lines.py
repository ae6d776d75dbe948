"""Learning from lines nobody would write: nothing raises, nothing is lost, and the order does not matter."""

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snaglist.plugins.issues import Event
from snaglist.plugins.issues.grouping import grouping_key, template
from snaglist.plugins.issues.learning import GroupingModel, Model
from snaglist.plugins.issues.learning import model as learning_model

CASES = Path(__file__).parents[2] / "cases" / "odd-lines.txt"
LONG_EXAMPLES = int(os.environ.get("LEARNING_EXAMPLES", "3000"))


def odd_lines() -> list[str]:
    """Return the corpus: lines behind `#` are remarks; `\\x1b` and the like stand for the character."""
    lines = CASES.read_text("utf-8").splitlines()
    return [line.encode("latin-1", "backslashreplace").decode("unicode_escape") for line in lines if line[:1] != "#"]


def partition(templates: Iterable[str], *batches: Sequence[str]) -> set[frozenset[str]]:
    """Return what becomes one when the templates come in these batches."""
    model = Model()
    for batch in batches:
        model.add(("-|text|", one) for one in batch)
    found: dict[str, set[str]] = {}
    for one in templates:
        found.setdefault(model.group("-|text|", one), set()).add(one)
    return {frozenset(group) for group in found.values()}


def check_any_order(messages: Iterable[str], seed: int, orders: int = 2) -> None:
    """Learn from messages in some orders and batches; the same must become one each time."""
    chance = random.Random(seed)
    listed = sorted({template(message) for message in messages})
    expected = partition(listed, listed)
    assert sum(map(len, expected)) == len(listed)
    for _ in range(orders):
        chance.shuffle(listed)
        size = chance.choice((1, 3, 17, 200))
        assert partition(listed, *(listed[start : start + size] for start in range(0, len(listed), size))) == expected


def test_a_value_beside_a_choice_is_closed_where_it_stands() -> None:
    """The word that is put back belongs behind the name of two words, not one word further."""
    models = ("MapView <*>", "ChatLog <*>", "VaultKeeper <*>", "Pulse", "DriveBay")
    lines = [f"The reader {name} said {what} at gate north" for name in models for what in ("Open", "Shut")]
    found = partition(lines, lines)
    assert all(len({line.split(" said ")[1] for line in group}) == 1 for group in found)
    check_any_order(lines, seed=1)


@pytest.mark.parametrize("seed", range(6))
def test_the_corpus_in_any_order(seed: int) -> None:
    check_any_order(odd_lines(), seed)


def test_every_line_of_the_corpus_alone_and_many_times() -> None:
    for line in odd_lines():
        check_any_order([line, *(line.replace("7", str(number), 1) for number in range(3)), f"{line} {line}"], seed=0)


ODD = (
    "59 17 0x1f 3.5ms <*> Job-LoadRates-21 SwitchPoller StockWatcher text/plain; (pack:zip) [VIP]Ozma [7] [[ ]] "
    "user:maria a=b k:v: https://x.y/a/b C:\\tmp\\a.txt /var/log/a.log 'quoted' \"dq\" `tick` of the in failed "
    "OK GET 404 Anna Berg van Delft, EUR USD web-1 db07 $var ${x} a.b.C.d Foo::Bar org.acme.Tax; caf\u00e9 \u65e5 "
    "\u017ftra\u00dfe \u0130stanbul \u0301combining \U0001f642 :: ;; // -- == () {} {'a':1} %s # @ ~ & | x"
)
WORDS = st.one_of(
    st.sampled_from(ODD.split()),
    st.text(alphabet="ab7AZ:/[]();.,-_'\"$<*>= \u00e9\u4e2d\u200b\u0345", min_size=1, max_size=12),
    st.text(min_size=1, max_size=6),
)
JOINTS = st.sampled_from([" ", " ", " ", ": ", ":", ", ", "; ", "/", "=", "-", " of ", " de la ", "[", "] ", "", "  "])
TURNS = (
    "Job-LoadRates-21 SwitchPoller StockWatcher Anna Ben Carla web-fra db-vie x2go MapView 7 12:30 a/b k:v [VIP]Zed "
    "'red' EUR testing failed server https://h.io/a user7 C\u00e9line \u674e Foo.Bar Foo::Baz p=q pier_4b a,b"
)
POOL = TURNS.split()


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """Draw sentences, each with some holes that words of a pool take turns in."""
    chance = random.Random(draw(st.integers(0, 9999)))
    pool = [*POOL, *draw(st.lists(WORDS, max_size=4))]
    found = []
    for pieces in draw(st.lists(st.lists(st.tuples(st.none() | WORDS, JOINTS), min_size=1, max_size=7), max_size=3)):
        few = chance.randint(2, len(pool))
        for _ in range(draw(st.sampled_from([1, 8, 40]))):
            found.append("".join((word or chance.choice(pool[:few])) + joint for word, joint in pieces))
    return found


def sentences(chance: random.Random) -> list[str]:
    """Draw what `lines` draws, alike in every version of hypothesis."""
    words, joints = ODD.split(), [" ", " ", ": ", ":", ", ", "; ", "/", "=", "-", " of ", "[", "] "]
    found = []
    for _ in range(chance.randint(1, 3)):
        pieces = [
            (chance.choice((None, chance.choice(words))), chance.choice(joints)) for _ in range(chance.randint(1, 7))
        ]
        few = chance.randint(2, len(POOL))
        for _ in range(chance.choice((1, 8, 40))):
            found.append("".join((word or chance.choice(POOL[:few])) + joint for word, joint in pieces))
    return found


@pytest.mark.parametrize("part", range(12))
def test_drawn_sentences_in_any_order(part: int) -> None:
    for seed in range(part * 50, part * 50 + 50):
        check_any_order(sentences(random.Random(seed)), seed)


@settings(max_examples=60)
@given(lines(), st.integers(0, 99))
def test_any_lines_in_any_order(found: list[str], seed: int) -> None:
    check_any_order(found, seed)


@pytest.mark.long
@settings(max_examples=LONG_EXAMPLES)
@given(lines(), st.integers(0, 99))
def test_very_many_lines_in_any_order(found: list[str], seed: int) -> None:
    check_any_order(found, seed)


def test_the_order_of_a_drawn_set_does_not_matter() -> None:
    """Slots of two words that open at once, beside words that are known by name, in any order."""
    names = ["x2go", "web-fra", "StockWatcher", "db-vie", "MapView"]
    texts = ["Carla text/plain; Anna", "Carla text/plain; Carla", "Carla text/plain; server", "EUR text/plain; <*>"]
    drawn = [
        f"Job-LoadRates-<*>=<*>: {text} \u00c0" for text in (*texts, "EUR text/plain; user7", "x2go text/plain; Carla")
    ]
    drawn += [f"{name} a/b <*>" for name in ("<*>", names[4], names[2], names[1])]
    drawn += [f"{name} k:v <*>" for name in (names[2], names[3], names[1])]
    drawn += [f"{name} Ben <*>" for name in (names[2], names[3], names[0])]
    drawn += ["SwitchPoller Carla <*>", "Job-LoadRates-<*> db-vie <*>", "Job-LoadRates-<*> x2go <*>"]
    for seed in range(40):
        check_any_order(drawn, seed)


def test_words_that_become_one_when_one_of_them_opens_keep_their_places() -> None:
    """`k:v7` is two words and `k:<*>` one, and a full name is one value of several words: what follows stays there."""
    keyed = [f"{first} Anna" for first in ("<*>", "k:<*>", "k:v7", "k:vCarla", "k:vJob-LoadRates-<*>")]
    keyed += [f"[VIP]Zed{name} Anna" for name in ("7", "Ben", "Carla", "StockWatcher")]
    named = [
        f"The reader {name} said {what} at gate north" for name in ("Ann van Delft", "Bo") for what in ("Yes", "No")
    ]
    for seed in range(40):
        check_any_order([*keyed, *named, "<*> Foo::Baz SwitchPoller"], seed)


@pytest.mark.parametrize("frame", ["pool %s drain node", "pool drain %s", "lost %s again"])
@pytest.mark.parametrize("joint", [":", "="])
def test_a_pair_that_the_node_of_its_word_does_not_have(frame: str, joint: str) -> None:
    """`kaOne:<*>` is one word, so its node says nothing of other keys: the pair of key and value is looked at again."""
    first = [f"kaOne{joint}{value}" for value in ("17", "vaOne", "vbTwo")]
    drawn = [frame % pair for pair in (*first, *(f"{key}{joint}zzTop" for key in ("kbTwo", "kcSix", "kdTen")))]
    for seed in range(20):
        check_any_order(drawn, seed)


@settings(max_examples=30)
@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(50, 400))
def test_very_many_words(words: list[str], times: int) -> None:
    check_any_order([" ".join(words * times), " ".join(words[:1] * times), "".join(words * times)], seed=0, orders=1)


def test_a_set_that_cannot_be_learned_from_is_shown_by_its_first_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `explain` shows then."""

    def failing(_: str, __: str) -> Any:
        raise StopIteration

    monkeypatch.setattr(learning_model, "slots", failing)
    found = [grouping_key(Event(f"Holiday calendar of {name} loaded"), None) for name in POOL]
    model = GroupingModel()
    model.add(found)
    assert [model.group(key) for key in found] == [key.key for key in found]
