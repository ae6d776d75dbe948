"""Learning from a set of templates: what becomes one, what never does, whatever the order."""

import random
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snaglist.plugins.issues.learning import Model

NAMES = [
    "anna",
    "ben",
    "carla",
    "dmitri",
    "elif",
    "farid",
    "grete",
    "hugo",
    "ines",
    "jonas",
    "kaya",
    "luca",
    "maria",
    "nils",
    "olga",
    "pavel",
    "rosa",
    "sven",
    "tara",
    "yusuf",
    "zeno",
    "ada",
    "bruno",
    "cleo",
    "dora",
    "emil",
]
HOSTS = [f"{kind}-{place}" for kind in ("web", "db", "cache") for place in ("fra", "vie", "ams")]


def groups(*templates: str) -> list[set[str]]:
    """Return the sets of templates that become one."""
    model = Model()
    model.add(("-|text|", template) for template in templates)
    found: dict[str, set[str]] = {}
    for template in templates:
        found.setdefault(model.group("-|text|", template), set()).add(template)
    return list(found.values())


def is_one(*templates: str) -> bool:
    return len(groups(*templates)) == 1


@pytest.mark.parametrize(
    "pattern",
    ["Welcome back, {}", "sudo: {} : command not allowed", "Holiday calendar of {} loaded", "Session of {} is stale"],
)
def test_many_words_in_a_place_are_a_value(pattern: str) -> None:
    assert is_one(*(pattern.format(name) for name in NAMES[:12]))


@pytest.mark.parametrize("few", [2, 3, 4])
def test_few_words_are_a_choice(few: int) -> None:
    templates = [f"Holiday calendar of {name} loaded" for name in NAMES[:few]]
    assert len(groups(*templates)) == few


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (
            "Upload of <*> to the archive {}",
            ["failed", "succeeded", "started", "finished", "aborted", "resumed", "skipped", "queued"],
        ),
        ("Circuit of partition <*> is {}", ["open", "closed", "opened", "closing", "up", "down", "on", "off"]),
        (
            "Could not {} file <*> of archive",
            ["open", "close", "read", "write", "delete", "rename", "lock", "copy", "truncate"],
        ),
        ("{} /v1/orders <*> took <*> on node", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]),
        (
            "Line of level {} was written to <*>",
            ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"],
        ),
        ("Worker of queue <*> died with {}", [f"{name.title()}Error" for name in NAMES]),
        ("Worker of queue <*> died with {}", [f"app.{name.title()}Exception" for name in NAMES]),
        ("Gateway answered with status {} after <*>", [str(code) for code in range(500, 530)]),
        ("Cannot load module {} of theme", [f"{name}.js" for name in NAMES]),
        ("Address of the message is {}", ["missing", "unknown", "invalid", "valid", "empty", "duplicate", "expired"]),
    ],
)
def test_what_a_message_says_is_never_a_value(pattern: str, words: list[str]) -> None:
    """Never across outcomes, antonyms, methods, levels, classes, codes; however many there are."""
    assert len(groups(*(pattern.format(word) for word in words))) == len(words)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("Lost link to {} of message <*>", ["sender", "receiver", "client", "server", "parent", "child"]),
        ("{} of order <*> is late", ["Payment", "Refund", "Capture", "Delivery", "Invoice", "Settlement"]),
        ("Mail to <*> bounced: {}", ["greylisting", "spam", "quota", "policy", "virus", "loop"]),
        ("Order <*> changed to state {}", ["NEW", "PAID", "PACKED", "SHIPPED", "DONE", "LOST"]),
    ],
)
def test_doubtful_words_take_dozens(pattern: str, words: list[str]) -> None:
    assert len(groups(*(pattern.format(word) for word in words))) == len(words)


def test_dozens_of_any_words_are_a_value() -> None:
    assert is_one(*(f"Mail to <*> bounced: {name}" for name in NAMES))
    assert is_one(*(f"{name} is late for the meeting" for name in NAMES))


def test_an_outcome_stays_out_of_a_place_that_is_a_value() -> None:
    names = [f"Import of table {name} into archive" for name in NAMES[:9]]
    found = groups(*names, "Import of table failed into archive")
    assert sorted(map(len, found)) == [1, 9]


def test_the_less_fixed_text_the_more_words_it_takes() -> None:
    assert len(groups(*(f"Hello {name}" for name in NAMES[:9]))) == 9
    assert len(groups(*(f"{one} {other}" for one, other in pairwise(NAMES)))) == len(NAMES) - 1


def test_a_place_that_is_a_value_elsewhere_takes_fewer_words() -> None:
    """The template exists with a value that the first stage found: `queue 7` beside `queue mails`."""
    templates = [f"Queue {name} has <*> jobs waiting for workers" for name in ("mails", "images")]
    assert len(groups(*templates)) == 2
    assert is_one(*templates, "Queue <*> has <*> jobs waiting for workers")


def test_several_values_of_a_template_are_found() -> None:
    chance = random.Random(3)
    templates = {
        f"User {chance.choice(NAMES)} moved {chance.choice(HOSTS)} to rack {chance.choice(NAMES)}" for _ in range(400)
    }
    assert is_one(*templates)


def test_a_value_beside_a_choice_leaves_the_choice() -> None:
    """Users are a value, the three environments are not."""
    templates = [f"Deploy to {place} by {name}" for place in ("staging", "testing", "production") for name in NAMES]
    found = groups(*templates)
    assert sorted(map(len, found)) == [len(NAMES)] * 3
    assert all(len({template.split()[2] for template in one}) == 1 for one in found)


PLAYERS = ["Quill7x", "mad_hatter", "TurboTim", "Blue.Heron", "[VIP]Ozma", "kite-flyer"]


def test_words_that_are_values_elsewhere_need_no_dozens() -> None:
    """What is a value in one sentence is known by name in others, wherever it stands and in whatever order."""
    known = [f"Seat at the table was taken by {player} today" for player in PLAYERS]
    few = [f"{player} ran out of chips" for player in PLAYERS[:2]]
    assert len(groups(*few)) == 2
    assert sorted(map(len, groups(*known, *few))) == sorted(map(len, groups(*few, *known))) == [2, 6]
    strangers = [f"{player} ran out of chips" for player in ("banker", "waiter")]
    assert sorted(map(len, groups(*known, *strangers))) == [1, 1, 6]


@pytest.mark.parametrize("seed", range(8))
def test_names_are_learned_in_any_order(seed: int) -> None:
    zones = ["zone-north7", "zoneMid", "pier_4b"]
    templates = [
        *(f"Fence {zone} hums again" for zone in zones),
        *(f"Guard walked to {zone} with {player} at dusk" for zone in zones for player in PLAYERS),
        *(f"Seat at the table was taken by {player} today" for player in PLAYERS),
        *(f"{player} owes {zone} a coin" for zone in zones[:2] for player in PLAYERS[:3]),
        *(f"{zone} fell" for zone in zones),
        *(f"Badge for {name} in {zone} is printed" for zone in zones for name in NAMES[:2]),
    ]
    expected = {frozenset(group) for group in groups(*templates)}
    random.Random(seed).shuffle(templates)
    assert {frozenset(group) for group in groups(*templates)} == expected


def test_plain_words_known_by_name_must_be_three() -> None:
    known = [f"Holiday calendar of {name} loaded" for name in NAMES[:8]]
    assert sorted(map(len, groups(*known, *(f"Badge for {name} is printed" for name in NAMES[:2])))) == [1, 1, 8]
    assert sorted(map(len, groups(*known, *(f"Badge for {name} is printed" for name in NAMES[:3])))) == [3, 8]


def test_values_in_three_places_are_found_by_name() -> None:
    chance = random.Random(5)
    known = [f"Seat at the table was taken by {player} today" for player in PLAYERS]
    things = ["Silver Spoon", "Cup of Gold", "Lamp", "Oak Map", "Ring of Salt"]
    found = {f"Croupier sold one {thing} from the shelf" for thing in things}
    swaps = {
        f"Swap of {chance.choice(PLAYERS)} and {chance.choice(PLAYERS)} done: {chance.choice(things)} for <*>"
        for _ in range(60)
    }
    assert sorted(map(len, groups(*known, *found, *swaps))) == sorted([len(known), len(found), len(swaps)])


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("Parcel <*> is on its way to {} by rail", ["Graz", "Linz", "Wels", "Bozen"]),
        ("Add-on {} of the server is loaded", ["MapView", "chat-log", "x2go", "Vault"]),
        ("Camp was found by Boss {} today", ["Red Ogre", "Ash Witch", "Swamp Thing", "King of Rats"]),
        ("Callback to {} took too long", [f"https://<*>/{path}" for path in ("a", "b/c", "d", "e/<*>", "f")]),
        ("Link of {} is down since <*>", [f"{kind}<*>" for kind in ("search", "client", "mail", "print", "scan")]),
    ],
)
def test_names_take_fewer_words(pattern: str, words: list[str]) -> None:
    """Capitals, digits and joints, full names and URLs are less often a choice."""
    assert is_one(*(pattern.format(word) for word in words))


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("Event {} went to the outbox", ["CartFilled", "CartDeleted", "GiftAdded", "gift.removed"]),
        (
            "Bean {} is not ready yet",
            [f"org.acme.{part}" for part in ("a.Mail.send", "b.Pdf.print", "Tax.sum", "c.X.y")],
        ),
        ("Client asked for GET {} too often", [f"https://<*>/{path}" for path in ("a", "b/c", "d", "e", "f", "g")]),
        ("Link of {} is down since <*>", ["search", "client", "mail", "print"]),
    ],
)
def test_what_names_resemble_stays_apart(pattern: str, words: list[str]) -> None:
    """Events, parts of the program, routes and plain words are told apart."""
    assert len(groups(*(pattern.format(word) for word in words))) == len(words)


def test_contexts_are_separate() -> None:
    """Modules, families and exception classes are no templates."""
    model = Model()
    for context in ("1|text|", "2|text|", "1|text|ValueError|"):
        model.add((context, f"Holiday calendar of {name} loaded") for name in NAMES[:4])
    assert model.group("1|text|", "Holiday calendar of anna loaded") == "Holiday calendar of anna loaded"


def test_long_texts_are_left_alone() -> None:
    templates = [f"{name} " + "word " * 70 for name in NAMES]
    assert len(groups(*templates)) == len(NAMES)


WORDS = st.sampled_from(
    ["Table", "orders", "stock_moves", "anna", "web-fra", "is", "full", "of", "<*>", "EUR", "reports:"]
)


@pytest.mark.parametrize("examples", [25, pytest.param(250, marks=pytest.mark.long)], ids=["short", "long"])
def test_the_order_and_the_batches_do_not_matter(examples: int) -> None:
    """What is learned is a function of the set."""
    settings(max_examples=examples)(given(st.data())(learn_in_any_order))()


def learn_in_any_order(data: st.DataObject) -> None:
    shapes = data.draw(st.lists(st.lists(st.one_of(WORDS, st.none()), min_size=3, max_size=6), min_size=1, max_size=3))
    chance = random.Random(data.draw(st.integers(0, 999)))
    few, pool = data.draw(st.integers(2, 9)), [*NAMES[:14], *HOSTS, "testing", "failed", "server"]
    templates = {
        " ".join(word or chance.choice(pool[: few * (place + 2)]) for place, word in enumerate(shape))
        for shape in shapes
        for _ in range(60)
    }
    listed = sorted(templates)
    at_once = {frozenset(group) for group in groups(*listed)}
    for _ in range(2):
        chance.shuffle(listed)
        model, size = Model(), chance.randint(1, 40)
        for start in range(0, len(listed), size):
            model.add(("-|text|", template) for template in listed[start : start + size])
        found: dict[str, set[str]] = {}
        for template in listed:
            found.setdefault(model.group("-|text|", template), set()).add(template)
        assert {frozenset(group) for group in found.values()} == at_once


PROGRAM = """
from snaglist.plugins.issues.learning import Model
model = Model()
templates = [f"User {one} moved {other} to rack" for one in "anna ben carla elif hugo kaya".split()
             for other in "web db cache queue disk lamp".split()]
model.add(("-|text|", template) for template in templates)
print([model.group("-|text|", template) for template in templates])
"""


@pytest.mark.whole
def test_every_process_learns_the_same() -> None:
    """Hash seeds do not matter."""
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(found) == 1 and "User <*> moved <*> to rack" in found.pop()
