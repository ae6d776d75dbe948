"""How times are spelled: from building blocks, so that a spelling nobody wrote down before is read too.

A stamp is a date and a clock, or one of them, or a number since 1970. Frequent spellings have a form of their own,
which `clock` reads by position; all others are of the form `written`, whose parts are told apart by what they are.
"""

import re
from functools import cache
from zoneinfo import available_timezones

from snaglist.plugins.logs.parsers.clock import AMBIGUOUS_ZONES, ZONES
from snaglist.plugins.logs.parsers.month_names import MONTHS

_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_NAME = r"[^\W\d_]{2,12}"  # of a month or a day of the week, in any language
_ABBREVIATION = "(?:" + "|".join(sorted({*ZONES, *AMBIGUOUS_ZONES} - {"Z"}, key=len, reverse=True)) + r")(?![\w/])"
_OFFSET = (
    r"(?: ?(?:Z\b|(?:UTC|GMT)?[+-]\d{2}(?::?\d{2})?(?![\d:.])|(?:UTC|GMT)[+-]\d{1,2}(?!\d)|[+-]\d{3}(?![\d:.]))"
    r"(?: \(?" + _ABBREVIATION + r"\)?|\[[\w/+-]{1,40}\])?| ?\(?" + _ABBREVIATION + r"\)?"
)
_REGION = r"[A-Z][A-Za-z]{1,20}(?:/[A-Z][A-Za-z_-]{1,30}){1,2}"  # `Europe/Berlin`
_TIME = r"\d{2}:\d{2}:\d{2}(?:[.,:]\d{1,9})?"
_HALF = r"(?:[ \xa0\u202f]?[AaPp]\.?[Mm]\b\.?)"  # of the day
_ANY_TIME = (
    r"(?:\d{1,2}:\d{2}(?::\d{2}(?:[.,:]\d{1,9})?)?(?!:?\d)" + _HALF + "?"
    r"|\d\d(?:\.\d\d\.\d\d(?:[.:,]\d{1,9})?|-\d\d-\d\d(?:[.,:]\d{1,9})?)(?![\d.]|-\d\d(?!\d))" + _HALF + "?)"
)
# `2025-02-11T07`, `11/Feb/2025:07`, `11-Feb-2025::07`, `2025/02/11 - 07`, `2/11/2025, 7`, `2025-02-11_07`
_JOIN = r"(?:日 ?|[T_ \t\xa0\u202f]|::?|,? {1,3}(?:at |- )?|-)"
_ORDINAL = r"(?:st|nd|rd|th)?"


def _zone(number: int) -> str:
    """Return the form of what follows a clock; the groups of one expression need different names."""
    return rf"{_OFFSET}| (?P<region{number}>{_REGION})(?!\w))?"


# Most common first; the names of `clock.FORMS`.
_BY_DIGIT = (
    ("iso", r"\d{4}-\d{2}-\d{2}[T ]" + _TIME + f"(?!{_HALF})" + _zone(1)),
    ("slashed", r"\d{4}/\d{2}/\d{2} " + _TIME + f"(?!{_HALF})" + _zone(2)),
    ("named", r"\d{2}[-/ ]" + _MONTH + r"[-/ ]\d{4}[: ]" + _TIME + f"(?!{_HALF})" + _zone(3)),
    ("time", r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9}|:\d{3})?(?![:\d])" + f"(?!{_HALF})"),
    ("month_day", r"\d{2}[-./]\d{2}[ -]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?![:\d])"),
    (
        "written",
        r"(?:\d{4}(?P<year_first>[-/.:])\d{1,2}(?P=year_first)\d{1,2}"
        r"|\d{1,2}(?P<day_or_month>[-/.])\d{1,2}(?P=day_or_month)(?:\d{4}|\d{2})"
        r"|\d{4}年\d{1,2}月\d{1,2}(?=日)"
        r"|\d{4}[-/. ]{1,2}" + _NAME + r"\.?[-/. ]{1,2}\d{1,2}"
        r"|\d{1,2}" + _ORDINAL + r"[-/. ]{0,2}(?:de |of )?" + _NAME + r"\.?"
        r"(?:[-/., ]{0,2}(?:de )?(?:\d{4}|\d{2}(?![\d:])))?"
        r"),?" + _JOIN + _ANY_TIME + _zone(4),
    ),
    ("clock", r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?![:\d])" + _HALF + "?"),
    ("compact", r"(?:\d{8}[T_ -]?\d{6}(?:[.,]\d{1,9})?(?:Z|[+-]\d{4})?|\d{6} \d{6})(?=[\s\])|,:]|$)"),
    ("day_clock", r"(?:\d{8}[-_ T]|\d{6} {1,2})\d{1,2}:\d{1,2}:\d{1,2}(?:[.,:]\d{1,9})?(?![\d:])"),
    ("epoch", r"1\d{9}(?:[.,]\d{1,9}|\d{3}|\d{6}|\d{9})?(?=[\s\])|,:]|$)"),
)  # fmt: skip
_BY_LETTER = (
    ("ctime", r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) " + _MONTH + r" [ \d]\d " + _TIME + r" \d{4}"),
    ("syslog", _MONTH + r" (?:[ \d]\d|\d) \d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?![:\d])(?!" + _HALF + ")"),
    (
        "written",
        r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6} \d{4}-\d{2}-\d{2}"
        r"|(?:" + _NAME + r"\.?,? {1,2})?" + _NAME + r"\.?[-/ ]{1,2}\d{1,2}" + _ORDINAL + r"(?:,? {1,2}\d{4}(?!:))?"
        r"|" + _NAME + r"\.?,? {1,2}\d{1,2}" + _ORDINAL + r"[-/. ]{1,2}" + _NAME + r"\.?[-/., ]{1,2}\d{4}"
        r"),?" + _JOIN + _ANY_TIME + _zone(5) + r"(?P<late_year> \d{4}\b(?!:))?",
    ),
)  # fmt: skip


def _compiled(forms: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{form})" for name, form in forms))


_DIGIT = _compiled(_BY_DIGIT)
# A name or two, then a number: all of these begin so, and few other lines do.
_LETTER = re.compile(rf"(?={_NAME}\.?[-/, ]{{1,3}}(?:{_NAME}\.?[-/, ]{{1,3}})?\d)(?:{_compiled(_BY_LETTER).pattern})")
_TAI = re.compile(r"@[0-9a-f]{24}(?=\s)")  # TAI64N, the labels of daemontools and runit
_UPTIME = re.compile(r"\[ {0,10}\d{1,9}\.\d{3,6}s?\]")  # seconds since the start, of kernels and of display servers
_WORD = re.compile(_NAME)
_OPENING, _CLOSING = "[(<\"'", "])>\"'"

# Of these forms an earlier text is an earlier time.
SORTABLE = frozenset(("iso", "slashed", "compact", "epoch"))


def find_stamp(text: str, position: int = 0) -> tuple[str, str, int] | None:
    """Return the form, the text and the end of the time that stands at the position.

    A bracket around the time alone belongs to it; the end is behind it.
    """
    first = text[position : position + 1]
    if first and first in _OPENING:
        if first == "[" and (uptime := _UPTIME.match(text, position)):
            return "uptime", uptime.group()[1:-1].strip(), uptime.end()
        position += 1
        first = text[position : position + 1]
    if first.isdigit():
        found = _DIGIT.match(text, position)
    elif first.isalpha():
        found = _LETTER.match(text, position)
    elif first == "@":
        found = _TAI.match(text, position)
        return ("tai", found.group(), found.end()) if found else None
    else:
        return None
    if found is None:
        return None
    form = found.lastgroup or ""
    start, end = found.span(form)
    if form == "written" and not _is_date(text, start, end):
        return None
    group = _REGIONS.get((form, first.isdigit()))
    if group and (region := found[group]) and not _is_region(region):
        end -= len(region) + 1
    stamp = text[start:end]
    if text[end : end + 1] in _CLOSING and text[end : end + 1]:
        end += 1
    return form, stamp, end


_BEHIND_CLOCK = frozenset((*ZONES, *AMBIGUOUS_ZONES, "AM", "PM"))
_REGIONS = {
    ("iso", True): "region1",
    ("slashed", True): "region2",
    ("named", True): "region3",
    ("written", True): "region4",
    ("written", False): "region5",
}


def _is_date(text: str, start: int, end: int) -> bool:
    """Tell whether the word in a date is a month; numbers alone are one."""
    place = text.find(":", start, end)
    words = _WORD.findall(text, start, place if place >= 0 else end)
    if place < 0:  # the clock has no colons, so what stands behind it was found too
        words = [word for word in words if word.upper() not in _BEHIND_CLOCK]
    if not words or words == ["T"]:
        return True
    return any(word.lower() in MONTHS for word in words) or (
        text[start].isalpha() and text[start:].find("-", 0, 20) > 0 and len(words) == 1
    )


@cache
def _is_region(name: str) -> bool:
    return name in available_timezones()
