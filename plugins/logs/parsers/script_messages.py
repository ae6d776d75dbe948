"""What PHP says through a web server or its process manager: several messages in one entry, the worst one counts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

# What ended the script counts before what it went on after: the rank of each kind, and its severity.
_KINDS = {
    "Fatal error": (0, "CRITICAL"),
    "Parse error": (0, "ERROR"),
    "Recoverable fatal error": (0, "ERROR"),
    "Warning": (2, "WARNING"),
    "Notice": (3, "NOTICE"),
    "Deprecated": (4, "WARNING"),
    "Strict Standards": (4, "NOTICE"),
}
_OWN_WORDS = 2  # the rank of words of the script: that of a warning
_NAMES = "|".join(_KINDS)
_KIND = re.compile(rf"(?:PHP )?({_NAMES}): ")
_PART = re.compile(rf"(?:[;,]\s?|^|(?<=[\s'\"]))PHP message: |PHP message: (?=PHP [A-Z])|\n(?=PHP (?:{_NAMES}): )")
_QUOTE = re.compile(r"(['\"])(?:[A-Z]{4,7}: ?)?\s{0,8}$")


@dataclass(slots=True)
class ScriptMessages:
    """The message that an entry is about, its severity as far as it says one, and what else was said."""

    text: str
    severity: str
    others: Sequence[str]


def script_messages(text: str) -> ScriptMessages | None:
    """Return the worst of the messages, the first of those that are alike; None when these are no such messages."""
    if "PHP message: " not in text and "\nPHP " not in text:
        return None
    before, *messages = _PART.split(text)
    if _KIND.match(before):
        messages.insert(0, before)
        before = ""
    if not messages:
        return None
    quote = _QUOTE.search(before[-20:])
    if quote:  # what stands behind the quotation is the server's
        messages[-1] = messages[-1].rpartition(quote[1])[0] or messages[-1]
    messages = [message.strip() for message in messages]
    place = min(range(len(messages)), key=lambda at: _rank(messages[at]))
    kind = _KIND.match(messages[place])
    others = [before.strip(), *messages[:place], *messages[place + 1 :]]
    return ScriptMessages(messages[place], _KINDS[kind[1]][1] if kind else "", [other for other in others if other])


def _rank(message: str) -> int:
    kind = _KIND.match(message)
    if kind:
        return _KINDS[kind[1]][0]
    return 1 if "Uncaught " in message or "Stack trace:" in message else _OWN_WORDS
