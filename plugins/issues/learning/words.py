"""Which words of a template may be values, judged by the word and what stands next to it.

Without a dictionary: by closed classes (grammar, levels, methods), by endings, by shape and by place.
"""

import re
from enum import IntEnum

from snaglist.plugins.issues.grouping.names import PLACEHOLDER, word_set
from snaglist.plugins.issues.grouping.paths import PROGRAM_SUFFIXES
from snaglist.plugins.issues.grouping.thresholds import MAX_WORD

# One word of a template: letters, digits and placeholders with what joins them.
ITEM = re.compile(
    r"(?:https?://(?=<\*>))?(?:\[\w{1,20}\](?=[^\W\d]))?(?:<\*>|\w)(?:<\*>|\w|[-.'@$+~/\\](?=<\*>|\w)|:(?=<\*>)|::(?=\w))*"
)
QUOTES = ('"', "'", "`")

# Words of grammar: they frame a value, and say less about the message than others.
GRAMMAR = word_set("""
    a about above across after against all along among an and another any anything are aren't as at be because been
    before being between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during
    each either else every everything few for from further had has hasn't have haven't he her here his how however i
    if in into is isn't it its itself just less me more most must my neither no none nor not nothing now of off on once
    one only onto or other our out over own per same she should since so some still such than that the their them then
    there these they this those though through to too toward two under until unless up upon us via was wasn't we were
    weren't what when where whether which while who whom whose why will with within without won't would yet you your
""")
_LEVELS = word_set("""
    trace debug info information notice warn warning warnings err error errors severe fatal crit critical alert alerts
    emerg emergency panic
""")
METHODS = word_set("get head post put patch delete options connect trace")
# Behind these words stands a code, or a name that the first stage kept on purpose.
_BEFORE_CODE = word_set("code codes errno error exit http rc returned sqlstate signal status errorcode")
# Behind these words stands one of a few states.
_BEFORE_CHOICE = word_set("""
    state status phase mode level result reason action operation command method outcome severity priority
""")
# Behind these words and behind "to", if one of those stands before it, stands a verb.
_BEFORE_VERB = word_set("""
    not can cannot can't could couldn't did didn't does doesn't do don't will won't would must should may might please
""")
_BEFORE_TO = word_set("able attempt attempting failed fails failure trying unable")
# What stands behind these words is a part that lacks or is wrong.
_BEFORE_PART = word_set("""
    bad duplicate empty expired illegal incorrect insufficient invalid malformed mismatched missing no unexpected
    unknown unsupported wrong
""")

# What happened, and how: participles and adverbs.
_SAYING = re.compile(r"[a-z]{3,}ed\Z")
_DOUBTFUL = re.compile(
    r"[a-z]{2,}(?:ed|ing|ly|able|ible|less|ful|ation|ition|ction|sion|ment|ance|ence|ure|ness|ity|ism)\Z"
)
_EXCEPTION = re.compile(r"[\w.\\]*[a-z](?:Exception|Error|Errors|Fault|Failure|Warning|Panic)\Z")
_SHORT_CODE = re.compile(r"[A-Z]{2,3}\Z")  # of a currency, a country, a language
_STATE = re.compile(r"[A-Z_]{4,}\Z", re.ASCII)
_PROGRAM_FILE = re.compile(rf"\.(?:{PROGRAM_SUFFIXES})\Z", re.IGNORECASE)
_PLAIN = re.compile(r"[^\W\d_]+\Z")
_TAGGED = re.compile(r"\[\w+\](?=.)")
_NUMBERED = re.compile(rf"[a-z]{re.escape(PLACEHOLDER)}\Z")  # a thing that is one of many: `db07`
_LAST_PART = re.compile(r"(?:[A-Z]|(?<=[._]))?[a-z]+\Z")
_PROGRAM_PART = re.compile(r"(?:[a-z]\w*[.\\]){2,}[A-Z]")  # a class or a part of one
_JOINED = re.compile(r"\w[-.\\:/@]+\w|[^\W\d]\d")
_KEY = re.compile(rf"[^\W\d]+:{re.escape(PLACEHOLDER)}\Z")
_URL = ("http://", "https://")


class Kind(IntEnum):
    """How likely a word is a value."""

    FIXED = 0
    DOUBTFUL = 1
    OPEN = 2


def is_plain(word: str) -> bool:
    """Tell whether a word looks like one of a language: letters only, none of them a capital but the first."""
    return bool(_PLAIN.match(word)) and (word[1:].islower() or len(word) == 1)


def kind(word: str, *, before: tuple[str, str], after: str, left: str, right: str, leads: bool, reason: bool) -> Kind:
    """Judge a word of a template.

    `before` are the two words before it, the nearer one last, `after` is the one behind it, `left` and `right` the
    characters next to it, `leads` says that it is the first word, `reason` that it stands in what a message gives
    as the reason: the last part behind a colon.
    """
    if word == PLACEHOLDER or len(word) > MAX_WORD or left in ("/", "\\", "$") or right in ("=", "("):
        return Kind.FIXED
    name = _TAGGED.sub("", word.replace(PLACEHOLDER, ""))
    earlier, previous = before[0].lower(), before[1].lower()
    if word.startswith(_URL):
        return Kind.FIXED if previous in METHODS else Kind.OPEN
    if (
        not any(map(str.isalpha, name))
        or _is_said(name)
        or _PROGRAM_FILE.search(word)
        or previous in _BEFORE_CODE
        or (left == "=" and previous not in _BEFORE_CHOICE)
    ):
        return Kind.FIXED
    # The first word is what a message is about, unless it is a name that only says who speaks: `eth0: link down`.
    # A quoted one was kept on purpose.
    speaker = right in (":", "[") and _JOINED.search(name)
    placed = (leads and not speaker) or reason or previous in _BEFORE_CHOICE or left in QUOTES
    verb = previous in _BEFORE_VERB or (previous == "to" and earlier in _BEFORE_TO)
    # What is of something, or is missing or invalid, is a part of it: `The total of invoice <*> does not match`.
    # Unless the word before says what it names: `grace period of container redis of pod <*>`.
    part = is_plain(word) and (
        previous in _BEFORE_PART or (after == "of" and (previous in GRAMMAR or looks_said(previous) or earlier == "to"))
    )
    part = part or bool(_PROGRAM_PART.match(word))
    return Kind.DOUBTFUL if placed or verb or part or _KEY.match(word) or looks_said(word) else Kind.OPEN


def looks_said(word: str) -> bool:
    """Tell whether a word that may be a name looks like what messages say: an action, a state, a quality."""
    name = word.replace(PLACEHOLDER, "")
    if _NUMBERED.search(word):
        return False
    last = _LAST_PART.search(name)
    return bool(_STATE.match(name) or (last and _DOUBTFUL.match(last[0].lower())))


def _is_said(name: str) -> bool:
    """Tell whether a word, or a part of one joined by `/`, is one that a message says."""
    if _EXCEPTION.match(name):
        return True
    if _SHORT_CODE.match(name):
        return name.lower() in METHODS or name.lower() in _LEVELS
    return any(
        part in GRAMMAR or part in _LEVELS or part in METHODS or _SAYING.match(part) for part in name.lower().split("/")
    )
