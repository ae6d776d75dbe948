"""What is never stored of texts: values under named keys and, where wanted, card numbers, addresses and the like.

Expressions are RE2's, whose time is linear in the text, whatever it holds.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

from snaglist.plugins.issues.storing.texts import clean

REDACTED = "[redacted]"
CARD, EMAIL, IP = "card", "email", "ip"
NAMED = {
    CARD: r"\b(?:[0-9][ -]?){12,100}[0-9]\b",
    EMAIL: r"[\pL\pN._%+-]{1,64}@(?:[\pL\pN-]{1,63}\.){1,8}\pL{2,24}",
    IP: r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b"
    r"|\b(?:[0-9A-Fa-f]{1,4}:){1,7}(?::[0-9A-Fa-f]{1,4}){1,6}\b|\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b",
}
# Texts in quotes, also in JSON that is a text of JSON itself, whose quotes stand behind backslashes.
_QUOTED = (
    r"""\\{3,}"(?:[^"\\]|\\{1,2}[^"\\])*(?:\\{3,}")?|\\"(?:[^"\\]|\\\\\\["\\]|\\\\[^"\\]|\\[^"\\])*(?:\\")?"""
    r"""|"(?:[^"\\]|\\[\s\S])*"?|'(?:[^'\\]|\\[\s\S]|'')*'?|`[^`]*`"""
)
_BARE = r"""[^\s,;&"'(){}\[\]]"""
_BRACKETS = 4  # how many within each other


def _bracketed() -> str:
    inner = r"[^\[\](){}]*"
    for _ in range(_BRACKETS):
        inner = rf"""(?:{_QUOTED}|[^\[\](){{}}"'`\\]|\\|[\[{{(]{inner}[\]}})])*"""
    return rf"[\[{{(]{inner}[\]}})]"


_SCHEME = (
    r"(?:Bearer|Basic|Digest|Token|ApiKey|Api-Key|Key|Negotiate|NTLM|OAuth|Hawk|DPoP|Signature|SharedKey|AWS4-[\w-]+)"
)
_PARAMETER = r"""[\w-]{1,40}=(?:"[^"]*"?|[^\s,"']*)"""
_VALUE = (
    rf"""({_SCHEME} {_PARAMETER}(?:,\s?{_PARAMETER})*"""  # Authorization: Digest username="jo", response="…"
    r"""|[^\s,;&="'(){}\[\]]+=[^\s,;&="'][^\s,;"']*(?:;\s?[\w.-]{1,80}=[^\s;,"']*)+"""  # Cookie: a=…; b=…
    rf"""|[a-zA-Z]{{0,2}}(?:{_QUOTED})|[\[{{(]{{1,4}}\s?"(?:[^"\\]|\\[\s\S])*\z"""
    rf"""|(?:{_SCHEME} )?(?:{_BARE}|{_bracketed()})+)"""
)
# A name and a value, each behind a name of its own: {{"name": "Authorization", "value": "Bearer …"}}.
_PAIR = (
    r"""\b(?:name|key)\\{{0,3}}["']?\s?[=:]\s?\\{{0,3}}["']{names}\\{{0,3}}["']\s?,"""
    r"""\s?\\{{0,3}}["']?value\\{{0,3}}["']?\s?[=:]\s?"""
)
_GIVES = (
    r"""\\{0,3}["'\]]{0,2}\s{0,4}(?:=>|:=|=|:|%3D)\s{0,80}"""  # in JSON of many lines much may stand before a value
)
# What code gives to a name, or compares it with: a text in quotes or a number, also behind the type of a variable.
_GIVEN = (
    r"""["'\]]{0,2}\s{0,4}(?:=>|[=!]={1,2}|:=|:[\w.,| \[\]]{0,60}=|[=:])\s{0,4}[a-zA-Z]{0,2})"""
    r"""("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[0-9][\w.]*)"""
)
_OPENING = (":", "=", ">", "[", "{", "(")
_MARK = re.compile(r"""[a-zA-Z]{0,2}(\\*["'`])""")
_NAME_MARK = re.compile(r"""(\\*["'])\]?\s*:\s*\Z""")
_GROUP = re.compile(r"[0-9]+")
_LEAST_GROUP, _MAX_GROUPS = 3, 6  # digits, where a number begins or ends within a row of groups
_MAX_MEMORY = 32 << 20


class Redaction:
    """Takes out of texts what must not be stored. `keys` are names, `patterns` names of `NAMED` or expressions."""

    def __init__(self, keys: Sequence[str], patterns: Sequence[str]) -> None:
        names = _names([name for name in keys if _spelled(name)])
        given = rf"{names}{_GIVES}|--{names}\s+|{_PAIR.format(names=names)}"
        self._keys = _compiled(rf"(?i)({given}){_VALUE}") if names else None
        self._opens = _compiled(rf"(?i)(?:{names}{_GIVES})[\[{{(]?\z") if names else None
        self._elements = _compiled(rf"(?i)(<[\w.:-]{{0,80}}?{names}(?:\s[^<>]{{0,200}})?>)([^<]+)") if names else None
        self._code = _compiled(rf"(?i)({names}{_GIVEN}") if names else None
        # Nearly no text holds a name: to look for the longest part of each is quicker than the expression.
        parts = {max(re.split(r"[_. -]+", name), key=len).lower() for name in keys if name}
        self._hints = [part for part in parts if not any(other in part for other in parts - {part})]
        others = [f"(?:{NAMED.get(pattern, pattern)})" for pattern in patterns if pattern != CARD]
        self._card = _CARD if CARD in patterns else None
        self._patterns = _compiled("|".join(others)) if others else None

    def finds(self, text: str) -> bool:
        """Tell whether there may be something to take out of a text."""
        folded = text.lower()
        if any(hint in folded for hint in self._hints):
            return True
        text = clean(text)
        return any(one is not None and one.search(text) for one in (self._card, self._patterns))

    def text(self, text: str) -> str:
        """Return a text without it."""
        text = clean(text)
        if self._keys is not None:
            text = self._keys.sub(_without_value, text)
        if self._elements is not None and "</" in text:
            text = self._elements.sub(_without_value, text)
        return self._without_patterns(text)

    def line(self, text: str, earlier: str) -> str:
        """Return a line without it; at the end of the one before may stand the name of what it begins with."""
        earlier = clean(earlier.rstrip())
        if self._opens is None or not earlier.endswith(_OPENING) or not self._opens.search(earlier):
            return self.text(text)
        return self.text(f"{earlier}\n{text}").partition("\n")[2] or REDACTED

    def code(self, line: str) -> str:
        """Return a line of code without it. Names that are given to names are no secrets."""
        return self._without_patterns(self._without_given(clean(line)))

    def stack(self, text: str) -> str:
        """Return a stack without it: code stands in it, and messages."""
        return self.text(self._without_given(clean(text)))

    def _without_given(self, text: str) -> str:
        return text if self._code is None else self._code.sub(_without_value, text)

    def _without_patterns(self, text: str) -> str:
        if self._card is not None:
            text = self._card.sub(_without_card, text)
        if self._patterns is not None:
            text = self._patterns.sub(REDACTED, text)
        return text


def check_pattern(pattern: str) -> None:
    """Raise ValueError for a pattern that is no name and no expression, or finds the empty text."""
    if pattern in NAMED:
        return
    try:
        found = _compiled(pattern).search("")
    except re2.error as error:
        raise ValueError(f"{pattern} is not an expression that RE2 takes") from error
    if found:
        raise ValueError(f"{pattern} matches empty text")


def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors, options.max_mem = False, _MAX_MEMORY
    return re2.compile(pattern, options)


_CARD = _compiled(NAMED[CARD])


def _names(names: Sequence[str]) -> str:
    """Return an expression for names and for what ends with one: `password`, `db_password`, `dbPassword`."""
    if not names:
        return ""
    plain = "|".join(map(_spelled, names))
    behind = "|".join(f"(?-i:{re.escape(name[0].upper())}){_spelled(name[1:])}" for name in names if len(name) > 1)
    return rf"(?:(?:\b|_|%3F|%26)(?:{plain})" + (rf"|(?-i:[a-z])(?:{behind}))" if behind else ")")


def _spelled(name: str) -> str:
    """Return an expression for a name however its words are joined: `api_key`, `api-key`, `apiKey`."""
    return r"[_. -]?".join(re.escape(part) for part in re.split(r"[_. -]+", name) if part)


def _without_value(found: Any) -> str:
    name, value = found.group(1), found.group(2)
    mark = _MARK.match(value) or _NAME_MARK.search(name)  # what was JSON stays JSON
    quote = mark[1] if mark else ""
    return f"{name}{quote}{REDACTED}{quote}"


def _without_card(found: Any) -> str:
    """Take the numbers of cards out of digits in groups, which other numbers may stand beside; those stay."""
    given: str = found.group(0)
    if _is_card(given):
        return REDACTED
    groups = list(_GROUP.finditer(given))
    first = 0
    while first < len(groups):
        for last in range(min(len(groups), first + _MAX_GROUPS) - 1, first - 1, -1):
            start, end = groups[first].start(), groups[last].end()
            if _is_card(given[start:end]) and all(len(group[0]) >= _LEAST_GROUP for group in groups[first : last + 1]):
                behind: str = _CARD.sub(_without_card, given[end:])
                return given[:start] + REDACTED + behind
        first += 1
    return given


def _is_card(text: str) -> bool:
    """Tell whether digits are as many as cards have, with a right check digit (Luhn's, ISO/IEC 7812-1)."""
    digits = [int(digit) for digit in text if digit.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return 13 <= len(digits) <= 19 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


@lru_cache(maxsize=16)
def redaction(keys: tuple[str, ...], patterns: tuple[str, ...]) -> Redaction:
    """Return what takes out values under keys and what fits patterns."""
    return Redaction(keys, patterns)
