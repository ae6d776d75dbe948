"""Which words of a template may be values, judged by the word and what stands next to it.

Only words that cannot be told from names are left open. Verbs, outcomes, levels, methods, codes and classes of
exceptions are what a message says; they are never values, however many of them stand in a place.
"""

import re
from collections.abc import Iterable
from enum import IntEnum

from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.grouping.paths import PROGRAM_SUFFIXES
from snaglist.plugins.issues.learning import lexicon

# One word of a template: letters, digits and placeholders with what joins them.
ITEM = re.compile(
    r"(?:https?://(?=<\*>))?(?:\[\w{1,20}\](?=[^\W\d]))?(?:<\*>|\w)(?:<\*>|\w|[-.'@$+~/\\](?=<\*>|\w)|:(?=<\*>)|::(?=\w))*"
)
MAX_WORD = 100
QUOTES = ('"', "'", "`")


def _participles(verbs: Iterable[str]) -> set[str]:
    """Return the participles of regular English verbs."""
    found: set[str] = set()
    for verb in verbs:
        stem = verb[:-1] if verb[-1] == "e" else verb
        past = verb[:-1] + "i" if verb[-1] == "y" and verb[-2] not in "aeiou" else stem
        found |= {past + "ed", stem + "ing"}
        if verb[-1] not in "aeiouwxy" and verb[-2] in "aeiou":
            found |= {verb + verb[-1] + "ed", verb + verb[-1] + "ing"}
    return found


_SAYING = _participles(lexicon.VERBS).union(
    lexicon.IRREGULAR, lexicon.THIRD_PERSON, lexicon.CHOICES, lexicon.LEVELS, lexicon.METHODS, lexicon.GRAMMAR
)
_PAST = {word for word in _SAYING if word.endswith("ed")} | lexicon.IRREGULAR
_NAMED_SO = lexicon.VERBS | lexicon.ROLES
_BEFORE_OWN_PART = _SAYING | lexicon.VERBS | {""}
_DOUBTFUL_ENDING = re.compile(
    r"[a-z]{2,}(?:ed|ing|ly|able|ible|less|ful|ation|ition|ction|sion|ment|ance|ence|ure|ness|ity|ism)\Z"
)
_EXCEPTION = re.compile(r"[\w.\\]*[a-z](?:Exception|Error|Errors|Fault|Failure|Warning|Panic)\Z")
_STATE = re.compile(r"[A-Z_]{4,}\Z", re.ASCII)
_SHORT_CODE = re.compile(r"[A-Z]{2,3}\Z")  # of a currency, a country, a language
_PROGRAM_FILE = re.compile(rf"\.(?:{PROGRAM_SUFFIXES})\Z", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W\d_]+\Z")
_TAGGED = re.compile(r"\[\w+\](?=.)")
_NUMBERED = re.compile(rf"[a-z]{re.escape(PLACEHOLDER)}\Z")  # a thing that is one of many: `db07`
_URL = re.compile(r"https?://")
_HAPPENED = re.compile(r"[a-z\d](?:(?=[A-Z])|[._])([A-Za-z][a-z]+)\Z")
_PROGRAM_PART = re.compile(r"(?:[a-z]\w*[.\\]){2,}[A-Z]")  # a class or a part of one
_JOINED = re.compile(r"\w[-.\\:/@]+\w|[^\W\d]\d")
_KEY = re.compile(rf"[^\W\d]+:{re.escape(PLACEHOLDER)}\Z")


class Kind(IntEnum):
    """How likely a word is a value."""

    FIXED = 0
    DOUBTFUL = 1
    OPEN = 2


def is_plain(word: str) -> bool:
    """Tell whether a word looks like one of a language: letters only, none of them a capital but the first."""
    return bool(_PLAIN.match(word)) and (word[1:].islower() or len(word) == 1)


def is_proper(word: str) -> bool:
    """Tell whether a word within a sentence is a name rather than said: no language has it, or it has a capital.

    Events are not: they are called after what happened, `OrderCreated` or `order.paid`.
    """
    happened = _HAPPENED.search(word)
    if happened and happened[1].lower() in _PAST:
        return False
    return not is_plain(word) or word[0].isupper()


def kind(word: str, *, before: str, after: str, left: str, right: str, leads: bool, reason: bool) -> Kind:
    """Judge a word of a template.

    `before` and `after` are the words next to it, `left` and `right` the characters, `leads` says that it is the first
    word, `reason` that it stands in what a message gives as the reason: the last part behind a colon.
    """
    if word == PLACEHOLDER or len(word) > MAX_WORD or left in ("/", "\\", "$") or right in ("=", "("):
        return Kind.FIXED
    name = _TAGGED.sub("", word.replace(PLACEHOLDER, ""))
    previous = before.lower()
    if _URL.match(word):
        return Kind.FIXED if previous in lexicon.METHODS else Kind.OPEN
    if (
        not any(map(str.isalpha, name))
        or _is_said(name)
        or _PROGRAM_FILE.search(word)
        or previous in lexicon.BEFORE_CODE
        or (left == "=" and previous not in lexicon.BEFORE_CHOICE)
    ):
        return Kind.FIXED
    lower = name.lower()
    if lower in lexicon.VERBS and (leads or previous in lexicon.BEFORE_VERB):
        return Kind.FIXED
    if _SHORT_CODE.match(word):
        return Kind.OPEN
    # The first word is what a message is about, unless it is a name that only says who speaks: `eth0: link down`.
    # A quoted one was kept on purpose.
    speaker = right in (":", "[") and _JOINED.search(name)
    placed = (leads and not speaker) or reason or previous in lexicon.BEFORE_CHOICE or left in QUOTES
    # What is of something, or is missing or invalid, is a part of it: `The total of invoice <*> does not match`.
    # Unless the word before says what it names: `grace period of container redis of pod <*>`.
    part = is_plain(word) and (previous in lexicon.BEFORE_PART or (after == "of" and previous in _BEFORE_OWN_PART))
    part = part or bool(_PROGRAM_PART.match(word))
    return Kind.DOUBTFUL if placed or part or _KEY.match(word) or looks_said(word) else Kind.OPEN


def looks_said(word: str) -> bool:
    """Tell whether a word that may be a name looks like what messages say: an action, a role, a state, an attribute."""
    name = word.replace(PLACEHOLDER, "")
    if _NUMBERED.search(word):
        return False
    return bool(
        name.lower() in _NAMED_SO or name in lexicon.ATTRIBUTES or _DOUBTFUL_ENDING.match(name) or _STATE.match(name)
    )


def _is_said(name: str) -> bool:
    """Tell whether a word, or a part of one joined by `/`, is one that a message says."""
    if _SHORT_CODE.match(name):
        return name in lexicon.SHORT_SAYING
    if _EXCEPTION.match(name):
        return True
    lower = name.lower()
    if "/" not in lower:
        return lower in _SAYING
    return any(part in _SAYING for part in lower.split("/"))
