"""What is looked for: a literal or a regular expression, found in blocks of many lines at once.

One engine does both. RE2 looks for a literal with the vector instructions of the processor, faster than `bytes.find`,
and never needs more time than a text is long.
"""

import re
from typing import Final

import re2  # type: ignore[import-untyped]

from snaglist.kernel import Invalid
from snaglist.plugins.logs.own_formats.engine import BadExpression, compile_linear

BLOCK: Final = 4 << 20
# The slowest way of RE2 touches every instruction of a pattern for every byte; of so many it does some 60 million a
# second. What is looked through at once is bounded by that, so that nobody waits long for a pattern, whatever it is.
MAX_PROGRAM: Final = 2000
_AT_ONCE: Final = 16_000_000
_LEAST_BLOCK: Final = 16 << 10
# What means the beginning or end of everything that is looked through, or breaks a character into bytes.
_BEYOND_LINES: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\[AzC])|(\(\?[a-zA-Z]*-[a-zA-Z]*m)")


class Pattern:
    """Something to look for within lines; Invalid, with the field and the way on, for what cannot be used.

    `block` is how many bytes may be looked through at once.
    """

    def __init__(self, text: str, *, regex: bool = False, ignore_case: bool = False) -> None:
        if "\n" in text or "\r" in text:
            raise Invalid("pattern: has a line break, but lines are searched one by one: give a single line")
        self.regex = regex
        found = _BEYOND_LINES.search(text) if regex else None
        if found is not None:
            raise Invalid(f"pattern: {found[1] or found[2]} cannot be used in a line: write ^ and $")
        options = {"case_sensitive": not ignore_case, "never_nl": True, "never_capture": True}
        try:
            if regex:
                compile_linear(text)  # an error counts the characters of the pattern as it was given
            self._compiled = compile_linear("(?m)" + (text if regex else re2.escape(text)), **options)
        except BadExpression as error:
            raise Invalid(f"pattern: {error}") from error
        size = self._compiled.programsize
        if regex and size > MAX_PROGRAM:
            raise Invalid("pattern: is too large: use smaller numbers in {} and fewer classes like \\pL")
        self.block = min(BLOCK, max(_LEAST_BLOCK, _AT_ONCE // size)) if regex else BLOCK

    def find(self, data: bytes | memoryview, start: int) -> int:
        """Return where the first match in UTF-8 bytes behind a place begins, -1 without one."""
        found = self._compiled.search(data, start)
        return -1 if found is None else int(found.start())

    def spans(self, text: str, most: int) -> list[list[int]]:
        """Return the first matches in a text, [first character, the one behind] each; empty ones are none."""
        spans: list[list[int]] = []
        position = 0
        while len(spans) < most and position <= len(text):
            found = self._compiled.search(text, position)
            if found is None:
                break
            first, behind = found.span()
            if behind > first:
                spans.append([first, behind])
            position = max(behind, first + 1)
        return spans

    def fits(self, text: str) -> bool:
        """Tell whether it is in a line."""
        return self._compiled.search(text) is not None
