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
    CARD: r"\b(?:[0-9][ -]?){12,18}[0-9]\b",
    EMAIL: r"[\pL\pN._%+-]{1,64}@(?:[\pL\pN-]{1,63}\.){1,8}\pL{2,24}",
    IP: r"\b(?:[0-9]{1,3}\.){3}[0-9]{1,3}\b"
    r"|\b(?:[0-9A-Fa-f]{1,4}:){1,7}(?::[0-9A-Fa-f]{1,4}){1,6}\b|\b(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}\b",
}
_VALUE = (
    r"""("(?:[^"\\]|\\.)*"?|\\"(?:[^"\\]|\\[^"])*(?:\\")?|'[^']*'?"""
    r"""|(?:(?:Bearer|Basic|Digest|Token) )?[^\s,;&"'(){}\[\]]+)"""
)
# What code gives to a name, or compares it with: a text in quotes or a number, also behind the type of a variable.
_GIVEN = (
    r"""["'\]]{0,2}\s{0,4}(?:=>|[=!]={1,2}|:=|:[\w.,| \[\]]{0,60}=|[=:])\s{0,4}[a-zA-Z]{0,2})"""
    r"""("(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[0-9][\w.]*)"""
)
_MARK = re.compile(r"""(?:\\?["'])?""")
_MAX_MEMORY = 32 << 20


class Redaction:
    """Takes out of texts what must not be stored. `keys` are names, `patterns` names of `NAMED` or expressions."""

    def __init__(self, keys: Sequence[str], patterns: Sequence[str]) -> None:
        names = "|".join(_spelled(name) for name in keys if name)
        self._keys = _compiled(rf"""(?i)(\b(?:{names})\\?["']?\s{{0,4}}[=:]\s{{0,4}}){_VALUE}""") if names else None
        self._code = _compiled(rf"(?i)(\b(?:{names}){_GIVEN}") if names else None
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
        return self._without_patterns(text)

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


def _spelled(name: str) -> str:
    """Return an expression for a name however its words are joined: `api_key`, `api-key`, `apiKey`."""
    return r"[_. -]?".join(re.escape(part) for part in re.split(r"[_. -]+", name) if part)


def _without_value(found: Any) -> str:
    mark = _MARK.match(found.group(2))
    quote = mark[0] if mark else ""
    return f"{found.group(1)}{quote}{REDACTED}{quote}"


def _without_card(found: Any) -> str:
    """Hide a number that has the check digit of a card (Luhn's, ISO/IEC 7812-1); other numbers stay."""
    given: str = found.group(0)
    digits = [int(digit) for digit in given if digit.isdigit()]
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return REDACTED if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 else given


@lru_cache(maxsize=16)
def redaction(keys: tuple[str, ...], patterns: tuple[str, ...]) -> Redaction:
    """Return what takes out values under keys and what fits patterns."""
    return Redaction(keys, patterns)
