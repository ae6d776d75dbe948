"""The usual forms of a time at the beginning of a line."""

import re

_MONTH = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_ZONE = (
    r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)\b"
    r"| [A-Z][A-Za-z]{1,20}(?:/[A-Z][A-Za-z_-]{1,30}){1,2}(?=\])"
    r"| (?:W|C|E|M)ES?T\b| [ECMP][SD]T\b| (?:MSK|JST|KST|HKT|SGT|BST|AEST|AEDT|NZST|NZDT)\b)?"
)
_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,:]\d{1,9})?"

# Names of `clock.FORMS`, most common first.
_FORMS = (
    ("iso", r"\d{4}-\d{2}-\d{2}[T ]" + _CLOCK + _ZONE),
    ("slashed", r"\d{4}/\d{2}/\d{2} " + _CLOCK + _ZONE),
    ("numeric", r"\d{1,2}[/.]\d{1,2}[/.]\d{2,4},? {1,2}\d{1,2}:\d{2}:\d{2}(?:[.,:]\d{1,9})?"
     r"(?: ?[AP]M\b)?(?: [A-Z]{3,4}(?=\]))?" + _ZONE),
    ("named", r"\d{2}[-/ ](?:" + _MONTH + r")[-/ ]\d{4}[: ]" + _CLOCK + _ZONE),
    ("ctime", r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:" + _MONTH + r") [ \d]\d " + _CLOCK + r"(?: \d{4})"),
    ("syslog", r"(?:" + _MONTH + r") [ \d]\d \d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"),
    ("time", r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?![:\d])"),
    ("month_day", r"\d{2}[-.]\d{2} \d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"),
    ("compact", r"(?:\d{8}T\d{6}Z?|\d{6} \d{6}|\d{8} \d{6})(?=\s)"),
    ("day_clock", r"\d{8}-\d{1,2}:\d{1,2}:\d{1,2}(?::\d{1,9})?"),
    ("epoch", r"1\d{9}(?:\.\d{1,9})?(?=\s)"),
)  # fmt: skip

_STAMP = re.compile(
    r"[\[(]?(?:" + "|".join(f"(?P<{name}>{form})" for name, form in _FORMS) + r")[\])]?",
    re.ASCII,
)

# Of these forms an earlier text is an earlier time.
SORTABLE = frozenset(("iso", "slashed", "compact", "day_clock", "epoch"))


def find_stamp(line: str) -> tuple[str, str, int] | None:
    """Return the form, the text and the end of the time that a line begins with."""
    found = _STAMP.match(line)
    if found is None:
        return None
    form = found.lastgroup or ""
    return form, found[form], found.end()
