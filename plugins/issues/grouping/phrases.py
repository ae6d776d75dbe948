"""Values that show only between words, found in a line whose tokens are masked already."""

import re

_V = r"<\*>"
_MONTH = (
    r"(?:Jan(?:uary?)?|Feb(?:ruary?)?|Mar(?:ch)?|Apr(?:il)?|May|Jun[ei]?|Jul[yi]?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"(?:Mon|Tue(?:s)?|Wed(?:nes)?|Thu(?:rs?)?|Fri|Sat(?:ur)?|Sun)(?:day)?\b,?"
_ZONE = r"(?:UTC|GMT|CES?T|EES?T|WES?T|[ECMP][SD]T|BST|IST|JST|KST|MSK|AES?T|AEDT)"
UNIT = (
    r"(?:(?:[munµ]|micro|milli|nano)?s(?:ec(?:ond)?s?)?|(?:micro|milli|nano)seconds?|min(?:ute)?s?|h(?:ours?|rs?)?|d(?:ays?)?"
    r"|m|(?:[kKMGTP]i?)?B|[kKMGTP]i?[bB]?(?:ytes?)?|bytes?|%|percent|[mc]?s)"
)
# ISO 4217, the currencies that are traded most
_CURRENCY = (
    r"(?:AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KRW|MXN|MYR|NOK|NZD|PEN"
    r"|PHP|PLN|RON|RSD|SAR|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR|[€£¥$])"
)
# What stands for a value in a query: a value, or a placeholder of any style; a type may follow.
_ITEM = (
    rf"(?:[:@$?]?{_V}|[:@$?]\w{{0,60}}(?:{_V}\w{{0,20}})?|%[sd]|%\([\w.]{{0,60}}(?:{_V})?\)s|[#$]?\{{\w{{0,60}}(?:{_V})?\}}"
    r"|[A-Za-z]{1,8}'[^'\s]{0,200}'|NULL|TRUE|FALSE|DEFAULT|NOW\(\)|CURRENT_TIMESTAMP)(?:::\w{1,30})?"
)
_ROW = r"\(\s?" + _ITEM + r"(?:\s?,\s?" + _ITEM + r")*\s?\)"
_PLACEHOLDERS = re.compile(r"\(\s?(?:[:@$?]|%[sd(]|#?\{|[A-Za-z]{1,8}')")

Rules = tuple[tuple[re.Pattern[str], str], ...]

_LIST = rf"\b(in|values?|any) ?{_ROW}(?:\s?,\s?{_ROW})*"
_RULES: Rules = tuple(
    (re.compile(pattern, flags), replacement)
    for pattern, replacement, flags in (
        # dates with names of days and months, clock halves, time zones
        (rf"(?:\b{_DAY} )?{_V}(?:[ /.-]|(?:st|nd|rd|th) ){_MONTH}(?:[ /.-]{_V})?", "<*>", 0),
        (rf"(?:\b{_DAY} )?\b{_MONTH} {_V}(?:,? {_V})*", "<*>", 0),
        (rf"\b{_DAY} {_V}", "<*>", 0),
        (rf"({_V}) ?[ap]\.? ?m\b\.?", r"\1", re.IGNORECASE),
        (rf"({_V}) \(?{_ZONE}\b\)?", r"\1", 0),
        # a value said again in parentheses, units
        (rf"({_V}|(?<!\S)[\w-]{{1,60}}\.[a-z]{{2,5}})(?: {UNIT})? \((?:{_V}(?: ?{UNIT})?)?\)", r"\1", 0),
        (rf"({_V}) {UNIT}(?![\w=-])", r"\1", 0),
        (rf"{_V} {_CURRENCY}(?!\w)|(?<!\S){_CURRENCY} {_V}", "<*>", 0),
        # lists of any length
        (_LIST, r"\1 (<*>)", re.IGNORECASE),
        (r"(?<!\S)([^\s<]{0,40}<\*>\S{0,40})(?: \1)+(?!\S)", r"\1", 0),
        (rf"(?<![\w<>*=.-])[\w.-]{{0,40}}{_V}(?:, ?[\w.-]{{0,40}}{_V})+(?![\w<>-])", "<*>", 0),
        (rf"({_V})(?:(?: ?[,;&|]| and| or)? {_V}|[,;:|/+]{_V})+", r"\1", 0),
        (r"\[[\w.<>*-]{1,80}(?:, ?[\w.<>*-]{1,80})+\]", "[<*>]", 0),
        # user names behind fixed phrases
        (r"\b((?:invalid|illegal|unknown|no such) user(?:name)?:?) [^\s,;:()\[\]]+", r"\1 <*>", re.IGNORECASE),
        (
            r"\b((?:for|by|as) user(?:name)?:?) [^\s,;:()\[\]]+"
            r"(?=$|[,;:()\]]| (?:from|by|at|on|in|with|via|has|is|was|failed|to)\b| [(\[])",
            r"\1 <*>",
            re.IGNORECASE,
        ),
    )
)


_ITEM_OF_VERSION_2 = rf"(?:[:@$]?{_V}|\?|%s|[:@]\w{{1,60}}|NULL|TRUE|FALSE|DEFAULT|NOW\(\)|CURRENT_TIMESTAMP)"
_LIST_OF_VERSION_2 = re.compile(_LIST.replace(_ITEM, _ITEM_OF_VERSION_2), re.IGNORECASE)
_RULES_OF_VERSION_2: Rules = tuple(
    (_LIST_OF_VERSION_2 if pattern.pattern == _LIST else pattern, replacement) for pattern, replacement in _RULES
)

# What is counted stands in the singular or the plural, as the number says: `1 error is`, `2 errors are`.
_COUNTED = re.compile(
    rf"((?<!\w){_V} (?:[\w-]{{1,30}} )??)(?!does\b|always\b)([a-z]{{3,30}})(?<![sui])s\b(?![-'<=/]|:\S)"
)
_AGREEING = re.compile(rf"((?<!\w){_V} (?:[\w-]{{1,30}} ){{1,2}})(are|were|have)\b")
_AGREED = {"are": "is", "were": "was", "have": "has"}
_SINGULAR = re.compile(r"(?P<y>ie)\Z|(?<=ss|sh)e\Z|(?<=tch)e\Z|(?<=x)e\Z")


def _singular(found: re.Match[str]) -> str:
    return found[1] + _SINGULAR.sub(lambda ending: "y" if ending["y"] else "", found[2])


def mask_phrases(line: str) -> str:
    """Return the line with the values masked that only their neighbours give away."""
    if "<*>" in line or " user" in line or "User" in line or "[" in line or _PLACEHOLDERS.search(line):
        line = _masked(line, _RULES)
    return line


def mask_phrases_of_version_2(line: str) -> str:
    """Return the line as it was masked before lists of all placeholders were one."""
    if "<*>" in line or " user" in line or "User" in line or "[" in line:
        line = _masked(line, _RULES_OF_VERSION_2)
    return line


def _masked(line: str, rules: Rules) -> str:
    for pattern, replacement in rules:
        line = pattern.sub(replacement, line)
    line = _COUNTED.sub(_singular, line)
    return _AGREEING.sub(lambda found: found[1] + _AGREED[found[2]], line)
