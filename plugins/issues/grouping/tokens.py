"""Masking of one blank-free token of a message.

Rules look at the kind of characters, never at which digit stands where. So a token and the same token with
every digit turned into 0 are masked alike, which is what the memo of `templates` relies on.
"""

import re

from snaglist.plugins.issues.grouping.names import PLACEHOLDER, is_random, mask_code, mask_name
from snaglist.plugins.issues.grouping.paths import DATA_FILE, mask_path, mask_url

# Digits and strokes that a later rule may not touch are carried through in a private area of Unicode.
PROTECT = {ord(character): 0xE000 + number for number, character in enumerate("0123456789/")}
UNPROTECT = {private: character for character, private in PROTECT.items()}

_COUNTRIES = (
    "ae|ar|au|ba|bd|br|by|ca|ch|cl|cn|cz|de|dk|ee|eg|es|eu|fi|fr|gr|hk|hr|hu|ie|il|ir|jp|ke|kr|kz|lk|lt|lu|lv|ma|mx"
    "|ng|nl|nz|om|pe|ph|pk|pt|qa|ro|ru|sa|se|sg|si|sk|th|tn|tr|tw|ua|uk|us|uy|uz|ve|vn|za"
)
_LABELS = r"(?:[A-Za-z0-9_][A-Za-z0-9_-]*\.)"
_HOST = (
    r"(?P<host>(?<![\w.-])(?!(?:com|org|net|io|edu|gov|javax?)\.[A-Za-z])"
    r"(?:" + _LABELS + r"+(?:com|net|org|edu|gov|mil|biz|info|io|asia|mobi|xyz|" + _COUNTRIES + r")"
    r"|" + _LABELS + r"{2,}(?:cloud|local|internal|lan|corp|localdomain|example|test|dev|app|arpa)"
    r"|" + _LABELS + r"+(?:com|co|net|org|edu|ac|gov|ne|or|go)\.[a-z]{2}"
    r"|(?=[A-Za-z_.]*[\d-])" + _LABELS + r"{2,}(?!id|in|js|ts|py|rb|go|cs|rs|pl|sh|md|so|cc)[a-z]{2}"
    r"|localhost)"
    r"(?!\.?[\w-])(?::\d+(?![\w.]))?)"
)
_MORE = r"(?:[.,:/'+*-]{1,2}\d[^\W_]*)*"  # a number goes on behind a separator
_PRERELEASE = r"(?:-(?i:snapshot|release|final|alpha|beta|rc|pre|dev)(?:[.-]?\d+)?(?![\w-]))?(?:\+build[.-]?\d+)?"
_ATOM = re.compile(
    r"(?P<url>(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://[^\s\"'<>)\]}|]*[^\s\"'<>)\]}|.,;:!?])"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+(?::\d+)?)"
    r"|(?P<uuid>\{?(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])\}?"
    + _MORE
    + r")"
    r"|(?P<digest>(?<![\w])(?:SHA|sha)\d{1,3}[:-][A-Za-z0-9+/_-]{16,}+=*)"
    r"|(?P<path>(?<![\w/.*<>~\\-])(?:[A-Za-z]:[\\/](?=\S)|\\\\(?=\w)|~?/(?=\S)|\.{1,2}/(?=\w))"
    r"(?:[^\s:,;()\[\]{}'\"<>|]*[^\s:,;()\[\]{}'\"<>|.])?)"
    r"|(?P<six>(?:(?<![\w:.])|(?<=[g-zG-Z]:))\[?(?:(?:[0-9A-Fa-f]{1,4}:){5,8}[0-9A-Fa-f]{1,4}"
    r"|(?:(?:[0-9A-Fa-f]{1,4}:){1,7}|:):(?:(?:[0-9A-Fa-f]{1,4}:){0,6}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{1,4}))?)"
    r"(?:%\w+)?(?::\d{5,})?(?!\w|:[\w:])(?:\](?::\d+)?)?" + _MORE + r")"
    r"|(?P<mac>(?<![\w:-])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){4,20}(?![\w:-])" + _MORE + r")"
    r"|" + _HOST + r"|(?P<generated>\$\$[A-Za-z]\w*(?:[$/@][\w$/@]*)?|\$Proxy\d+)"
    r"|(?P<number>(?<![\w])(?:(?<!\*)[<>~]=?)?[+-]?[$€£¥]?\d[^\W_]*" + _MORE + _PRERELEASE + r"(?:%|[€£°](?!\w))?)"
    r"|(?P<code>(?<![\w.-])[A-Z]{1,6}(?:-\d[^\W_]*)+(?![\w-]))"
    r"|(?P<version>(?<![\w.])[vV]\d+(?:\.\d+)+" + _PRERELEASE + r")"
    # a part of a name may be a number below zero: ids made of hashes, coordinates
    r"|(?P<name>[^\W\d]\w*(?:(?<=_)-\d\w*)?)"
)
# Rare, so each is looked for only where a character says that it may be there.
_FILE = re.compile(rf"(?<![\w./\\<>*-]){DATA_FILE}")
_PADDED = re.compile(r"(?<![\w+/=-])([\w+/]{12,}+)={1,2}(?![\w=])")
_LOCALE = re.compile(r"(?<![\w.-])[a-z]{2}[_-][A-Z]{2}(?![\w-])")
_PERIOD = re.compile(r"(?<!\w)P(?:\d{1,9}[YMWD]){0,4}T?(?:\d{1,9}(?:\.\d{1,9})?[HMS]){1,3}(?!\w)")
_PAIR = re.compile(r"(?<![\w.=!<>~-])([^\W\d][\w.-]*+)=(?!=)([^\s,;&|)\]}]+)")
_QUERY = re.compile(r"(?<![\w=/.~])[~.]{0,2}/[^\s?=]{0,300}\?")  # what a path is asked for
_CODE_KEY = re.compile(r"(?:status|code|errno|sqlstate)\Z", re.IGNORECASE)
_CODE_VALUE = re.compile(r"-?\d{1,3}(?:/[A-Z_]+)?|[0-9A-Z]{5}", re.ASCII)
# What behind these is a word is one of a few, and tells one outcome from another.
_CHOICE_KEY = re.compile(r"(?:level|severity|method|status|code|state|result|outcome|reason)\Z", re.IGNORECASE)
_CHOICE = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*", re.ASCII)
_NONE = frozenset(("none", "null", "nil", "undefined"))
_BRACKETED_CODE = re.compile(r"\b([A-Z]+STATE)\[(\w{5})\]", re.ASCII)


def mask_token(token: str) -> str:
    """Return the token with its values replaced by the placeholder."""
    if token.isalpha() and token != "localhost":
        return token
    if "=" in token:
        if not _QUERY.search(token):
            token = _PAIR.sub(_pair, token)
        token = _PADDED.sub(lambda found: PLACEHOLDER if is_random(found[1]) else found[0], token)
    if "." in token:
        token = _FILE.sub(PLACEHOLDER, token)
    if "P" in token:
        token = _PERIOD.sub(PLACEHOLDER, token)
    if "_" in token or "-" in token:
        token = _LOCALE.sub(PLACEHOLDER, token)
    if "STATE[" in token:
        token = _BRACKETED_CODE.sub(lambda found: found[0].translate(PROTECT), token)
    return _ATOM.sub(_atom, token).translate(UNPROTECT)


def _pair(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    if _CODE_KEY.search(name) and _CODE_VALUE.fullmatch(value):
        return f"{name}={value.translate(PROTECT)}"
    if _CHOICE_KEY.search(name) and _CHOICE.fullmatch(value) and value.lower() not in _NONE:
        return found[0]
    return f"{name}={PLACEHOLDER}"


def _atom(found: re.Match[str]) -> str:
    text = found[0]
    match found.lastgroup:
        case "name":
            return mask_name(text)
        case "url":
            return mask_url(text)
        case "path":
            return mask_path(text)
        case "six" | "mac":
            return _address(text)
        case "digest":
            return re.split(r"[:-]", text, maxsplit=1)[0] + ":" + PLACEHOLDER
        case "uuid":
            return _braced(text)
        case "code":
            return mask_code(text)
        case "generated":
            return "$$" + text[2:].partition("$")[0].partition("/")[0].partition("@")[0].rstrip("0123456789")
        case _:
            return PLACEHOLDER


def _address(text: str) -> str:
    if not any(map(str.isdigit, text)) and ("::" in text or text.islower()):
        return text  # two names joined by colons, not an address
    if text[0] == "[" and "]" not in text:
        return "[" + PLACEHOLDER
    _, bracket, port = text.partition("]")
    if not bracket or text[0] == "[":
        return PLACEHOLDER
    return f"{PLACEHOLDER}]:{PLACEHOLDER}" if port else f"{PLACEHOLDER}]"


def _braced(text: str) -> str:
    if (text[0] == "{") == (text[-1] == "}"):
        return PLACEHOLDER
    return "{" + PLACEHOLDER if text[0] == "{" else PLACEHOLDER + "}"
