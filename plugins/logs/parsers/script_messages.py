"""What PHP says through a web server or its process manager: several messages in one entry, the worst one counts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_KIND = re.compile(
    r"(?:PHP )?(Fatal error|Parse error|Recoverable fatal error|Warning|Notice|Deprecated|Strict Standards): "
)
_PART = re.compile(
    r"(?:[;,]\s?|^|(?<=[\s'\"]))PHP message: |PHP message: (?=PHP [A-Z])"
    r"|\n(?=PHP (?:Fatal error|Parse error|Recoverable fatal error|Warning|Notice|Deprecated|Strict Standards): )"
)
_QUOTE = re.compile(r"(['\"])(?:[A-Z]{4,7}: ?)?\s{0,8}$")
# What ended the script counts before what it went on after. Words of the script's own rank as a warning.
_RANKS = {"Fatal error": 0, "Parse error": 0, "Recoverable fatal error": 0, "Warning": 2, "Notice": 3}
_RANKS |= {"Deprecated": 4, "Strict Standards": 4}
_OWN_WORDS = 2
_SEVERITIES = {
    "Fatal error": "CRITICAL",
    "Parse error": "ERROR",
    "Recoverable fatal error": "ERROR",
    "Warning": "WARNING",
}
_SEVERITIES |= {"Notice": "NOTICE", "Deprecated": "WARNING", "Strict Standards": "NOTICE"}


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
    return ScriptMessages(messages[place], _SEVERITIES[kind[1]] if kind else "", [other for other in others if other])


def _rank(message: str) -> int:
    kind = _KIND.match(message)
    if kind:
        return _RANKS[kind[1]]
    return 1 if "Uncaught " in message or "Stack trace:" in message else _OWN_WORDS
