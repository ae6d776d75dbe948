"""Lines of code that senders put beside the frames of a stack."""

import re

from snaglist.plugins.logs.pushing.context import REDACTED, folded_name

# A name, with or without quotes, a sign that gives it something or compares it, and a text in quotes to its end.
_GIVEN = re.compile(
    r"""((?<![\w-])([A-Za-z_][\w-]{0,99})["'\]]{0,2}\s{0,20}"""
    r"""(?:=>|[=!]={0,2}|:[\w.,| \[\]]{0,60}=|:)\s{0,20}[a-zA-Z]{0,2}(["']))"""
    r"""(?:\\.|(?!\3)[^\\])*(\3|$)"""
)


def redacted_code(line: str, redacted: frozenset[str]) -> str:
    """Return a line of code without the texts in quotes that stand beside forbidden names.

    These are names of variables, parameters and keys: `token = "…"`, `login(password="…")`, `"api-key": "…"`.
    `redacted`: as `redacted_names` returns them.
    """

    def replaced(found: re.Match[str]) -> str:
        return f"{found[1]}{REDACTED}{found[4]}" if folded_name(found[2]) in redacted else found[0]

    return _GIVEN.sub(replaced, line) if '"' in line or "'" in line else line
