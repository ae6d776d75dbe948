"""Whether a sentence tells of a failure: what is left when no level stands in a line.

Two kinds of signs. Phrases that only a failure has count wherever they stand (a killed process, an I/O error, a
crash). Single words such as `error` count only as words of the sentence, before its first value: a value ends what
the program itself says, and names, labels, options, columns and negations hold such words too.
"""

import re
from typing import Final

_LIMIT: Final = 1000  # characters that are looked at

# A text without any of these holds no sign; most texts are decided by this alone. The first are of the words, the
# others of the phrases: one of them is in each.
_WORD_STEMS: Final = (
    "err", "fail", "fatal", "panic", "except", "denied", "refused", "warn", "deprecat", "timeout", "timed out", "fault",
    "crash", "corrupt", "emergency",
)  # fmt: skip
_PHRASE_STEMS: Final = (
    "kill", "panic", "i/o", "fs", "ext", "fat", "segment", "protection", "dump", "trace", "uncaught", "unhandled",
    "space left", "full", "blocked", "lockup", "bug:", "smash", "double free", "exit", "signal", "assert", "in thread",
    "ora-", "tns-", "rman-", "segfault",
)  # fmt: skip

# What leads up to the sentence: brackets, `name[31]:`, `31:`, pairs, addresses.
_DECORATION = re.compile(
    r"(?:(?:\[[^\[\]\n]{0,60}\]:?|[\w./-]{1,60}\[\d{1,10}\]:|\d{1,10}:|\w{1,40}=[^\s\"']{0,100}"
    r"|[\w./:-]{0,80}(?<!\d)\d{1,3}(?:\.\d{1,3}){3}(?!\d)[\w/:-]{0,40}) {1,4}){0,6}"
)

_CRITICAL = re.compile(r"\b(?:kernel panic\b|panic: |out of memory: kill|killed process \d|invoked oom-killer)")
_FAILURE = re.compile(
    r"\bi/o error|\b(?:ext[234]|xfs|btrfs|f2fs|ntfs3?|fat)(?:-fs)?(?: \([^()\n]{1,60}\))?:? (?:error|corruption)\b"
    r"|\bsegfault at\b|\bsegmentation fault\b|\bgeneral protection\b|\bcore[ -]dumped?\b|\bdumped core\b|\bcall trace:"
    r"|\b(?:uncaught|unhandled) (?:\w{1,40} ){0,2}(?:\w{0,40}exception|\w{0,40}error|\w{0,40}rejection)\b"
    r"|\btraceback \(most recent call last\)|\bno space left on device\b|\b(?:disk|file ?system|volume) (?:is )?full\b"
    r"|\bblocked for more than \d|\bsoft lockup\b|\bbug: |\bstack smashing detected\b|\bdouble free or corruption\b"
    r"|\bexited,? (?:\w{1,20}[ =]){0,3}(?:status|code)[ =:]{1,2}[1-9]|\bexit (?:code|status)[ =:]{1,2}[1-9]"
    r"|\b(?:terminated|killed) by signal\b|\bassertion (?:\S{1,100} )?failed\b|\bexception in thread \""
    r"|\b(?:ora|tns|rman)-\d{5}: |\bkilled by (?:tty|oom|the oom)\b|\bcode=(?:killed|dumped)\b"
)
_WORDS = re.compile(
    r"(?<![\w./$@%&#:=+`\\-])(?:(panic|fatal|emergency)"
    r"|(errors?|failed|failures?|exceptions?|denied|refused|segfault|crashed|corrupted)"
    r"|(warn|warnings?|deprecated|timeouts?|timed out))(?![\w/\\$@%&#=+-]|\.\w)"
)
# A name and a level in front: what the sentence says behind it is of that level.
_NAMED_LEVEL = re.compile(r"(?:[\w.+-]{1,40} ){1,3}(?:(error)|(warning)|info|note|notice): ")
# Words in front that turn the meaning around, or make it a plan, a condition or a column.
_NEGATED = re.compile(
    r"\b(?:no|not|without|zero|never|non|any|if|ignor(?:e|ed|ing)|suppress(?:ed|ing)?|avoid(?:s|ed|ing)?"
    r"|prevent(?:s|ed|ing)?|clear(?:s|ed|ing)?|select|recover(?:s|ed|ing)? from) (?:\w{1,30} ){0,2}$"
    r"|\b(?:on|in case of|for|0) $"
)
# Words behind that make it a part of the name of a thing, or a count of nothing.
_LABEL = re.compile(
    r"[- ](?:report(?:s|ing|er)?|record(?:s|ing|er)?|handl(?:er|ers|ing)|pages?|logs?|logging|levels?|messages?|rates?"
    r"|count(?:s|er|ers)?|corrections?|budgets?|boundar(?:y|ies)|tolerance|track(?:er|ing)|thresholds?|margins?"
    r"|recover(?:y|ies)|detection|files?|streams?|output|codes?|free|types?|class(?:es)?|interval|values?|seconds"
    r"|period|support|collectors?|settings?|limits?|statistics|policy|notifications?|mode|injection|simulation)\b"
    r"| ?=| ?: ?(?:0\b|none\b|no\b|null\b|false\b|off\b|nil\b)"
)
_BY_GROUP: Final = ("", "CRITICAL", "ERROR", "WARNING")


def by_words(message: str) -> str:
    """Return the severity that a message without a level speaks of: CRITICAL, ERROR or WARNING; "" for none."""
    text = message[:_LIMIT].lower()
    if any(map(text.__contains__, _PHRASE_STEMS)):
        if _CRITICAL.search(text):
            return "CRITICAL"
        if _FAILURE.search(text):
            return "ERROR"
    if not any(map(text.__contains__, _WORD_STEMS)):
        return ""
    found = _DECORATION.match(text)
    start = found.end() if found else 0
    label = _NAMED_LEVEL.match(text, start)
    if label is not None:
        return "ERROR" if label[1] else "WARNING" if label[2] else ""
    end = _first_value(text, start)
    worst = 4
    for word in _WORDS.finditer(text, start, end):
        if not _NEGATED.search(text[max(start, word.start() - 60) : word.start()]) and not _LABEL.match(
            text, word.end()
        ):
            worst = min(worst, word.lastindex or 4)
    return _BY_GROUP[worst] if worst < 4 else ""


def _first_value(text: str, start: int) -> int:
    """Return where the first value begins: a number, something quoted or assigned. A digit within a name is none."""
    place = start
    for word in text[start:].split(" "):
        bare = word.lstrip("([")
        if bare and (bare[0] in "\"'=<{" or bare[0].isdigit() or (bare[0] in "+-" and bare[1:2].isdigit())):
            return place
        if "=" in word:
            return place
        for sign in ('"', "{", "<"):
            if sign in word:
                return place + word.index(sign)
        place += len(word) + 1
    return len(text)
