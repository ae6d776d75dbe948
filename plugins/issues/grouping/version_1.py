"""The keys of version 1, as far as they lead to issues that the newest keys would not find.

Version 1 masked what version 2 did and these phrases, too, which one kind of log needed. An event whose key is not
known yet goes to the issue that this key leads to.
"""

import re

from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.grouping.key import GroupingKey, key_masked_by
from snaglist.plugins.issues.grouping.version_2 import template_of_version_2

_RULES = (
    (re.compile(r"\b(values?) \[[^\[\]]{1,200}\]", re.IGNORECASE), r"\1 [<*>]"),
    (re.compile(r"\b((?:languages?|locales?)(?: (?:to|is|from|code))?+) [a-z]{2}(?![\w-])"), r"\1 <*>"),
    (
        re.compile(r"\b(to user(?:name)?:?) [^\s,;:()\[\]]+(?=$|[,;:()\]]| (?:from|by|at|on|in|with|via)\b)", re.I),
        r"\1 <*>",
    ),
    (
        re.compile(r"\b((?:password|publickey|login|keyboard-interactive\S*) for) (?!invalid\b)\S+ from <\*>"),
        r"\1 <*> from <*>",
    ),
)


def key_of_version_1(event: Event, module_id: int | None) -> GroupingKey:
    """Return the key that version 1 gave an event."""
    return key_masked_by(_template, event, module_id)


def _template(message: str) -> str:
    text = template_of_version_2(message)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
