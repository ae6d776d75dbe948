"""The message template: a message with its values masked, fast enough for every line of a log.

Most lines of a log differ only in their digits. So what a message with its digit runs collapsed becomes is remembered,
where the digits cannot matter, and so is each word. What a message becomes does not depend on what is remembered.
"""

import re
import unicodedata
from collections.abc import Callable

from snaglist.plugins.issues.grouping.names import word_set
from snaglist.plugins.issues.grouping.paths import PROGRAM_SUFFIXES, path_template
from snaglist.plugins.issues.grouping.phrases import mask_phrases
from snaglist.plugins.issues.grouping.spans import mask_spans
from snaglist.plugins.issues.grouping.thresholds import MEMO_SIZE, MEMO_TEXT, MESSAGE_LIMIT
from snaglist.plugins.issues.grouping.tokens import mask_token

_ZEROS = str.maketrans("123456789", "000000000")
_ZERO_BYTES = bytes.maketrans(b"123456789", b"000000000")
# Where a collapsed message does not tell what it becomes: digits behind letters, that may belong to a name, and
# addresses, file names and codes, whose rules count digits.
_DIGITS_COUNT = re.compile(
    rb"[A-Za-z]0|::|\]:|\{0|0(?::0){5}|(?i:status|code|errno|sqlstate)=|STATE\[|"
    + rf"0[\w.-]*\.(?i:{PROGRAM_SUFFIXES})\b".encode(),
    re.ASCII,
)
_EDGES = "()[]{}<>\"',.:;!?=-"
_EDGE = r"\W{0,3}"
_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
_REQUESTED = re.compile(r"/|https?://", re.IGNORECASE)
_ERROR_CODE = re.compile(rf"{_EDGE}(?:-?\d{{1,5}}|[0-9A-Z]{{5}}){_EDGE}", re.ASCII)
_HTTP_CODE = re.compile(rf"{_EDGE}[1-5]\d\d{_EDGE}", re.ASCII)
_EXIT_CODE = re.compile(rf"{_EDGE}\d{{1,3}}{_EDGE}", re.ASCII)
# Behind these words a number is a code, and so it is behind any that begins with "http".
_CODES = {**dict.fromkeys(word_set("status code errno error sqlstate"), _ERROR_CODE), "signal": _EXIT_CODE}
# A code of anything is none, nor is any signal.
_BEFORE = {
    "code": word_set("status error exit exited return response result with got http sql"),
    "signal": word_set("on by with received caught got"),
}
# Behind these a number is a code unless it counts what comes next; a "with" may stand between.
_VERBS = {
    **dict.fromkeys(word_set("returned returns responded responds answered answers replied replies"), _HTTP_CODE),
    **dict.fromkeys(("exited", "exits"), _EXIT_CODE),
}
_BEHIND = word_set("for to from in after on while when at by via as but and with because again instead")
_DECIDES = "\x01"  # marks a word that may decide about the token behind it
_BEHIND_REQUEST = frozenset(("", "with", "failed", *_VERBS))  # "" is an arrow


def template(message: str) -> str:
    """Return the template of a message: fixed words as they are, each value as `<*>`."""
    return _known_message[message] if len(message) <= MEMO_TEXT else _template(message)[0]


class _Memo(dict[str, str]):
    """What a function makes of texts; emptied when it is full."""

    def __init__(self, make: Callable[[str], str]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, text: str) -> str:
        if len(self) >= MEMO_SIZE:
            self.clear()
        made = self[text] = self.make(text)
        return made


def _short(message: str) -> str:
    if not message.isascii():
        return _template(message)[0]
    shape = message.encode().translate(_ZERO_BYTES)
    shape = shape.replace(b"0000", b"0").replace(b"00", b"0").replace(b"00", b"0")
    known = _shapes.get(shape)
    if not known:
        text, decided = _template(message)
        if known is None:
            if len(_shapes) >= MEMO_SIZE:
                _shapes.clear()
            _shapes[shape] = "" if decided or _DIGITS_COUNT.search(shape) else text
        known = text
    return known


_shapes: dict[bytes, str] = {}  # "" where the digits decide


def masked_by(quotations: Callable[[str], str], phrases: Callable[[str], str], message: str) -> str:
    """Return the template that a message had when quotations and phrases were masked in another way."""
    return _template(message, quotations, phrases)[0]


def _template(
    message: str, quotations: Callable[[str], str] | None = None, phrases: Callable[[str], str] | None = None
) -> tuple[str, bool]:
    """Return the template, and whether single digits of the message decided about it."""
    text = message[:MESSAGE_LIMIT]
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    text = mask_spans(text.replace(_DECIDES, " "), cut=len(message) > MESSAGE_LIMIT, quotations=quotations)
    # Numbers are endless, so a token is masked by its shape, unless digits of it are kept or it decides about others.
    shapes = text.translate(_ZEROS).split()
    short = len(text) <= MEMO_TEXT
    remembers = short or max(map(len, shapes), default=0) <= MEMO_TEXT
    masked = list(map(_known_shape.__getitem__ if remembers else _mask_shape, shapes))
    line, decided = " ".join(masked), False
    if "0" in line or _DECIDES in line:
        tokens = text.split()
        exact = _known_token.__getitem__ if remembers else mask_token
        for place, known in enumerate(masked):
            if "0" in known:
                masked[place] = exact(tokens[place])
            elif known[-1] == _DECIDES:
                masked[place] = known[:-1]
        decided = _DECIDES in line and _keep_codes(tokens, masked)
        line = " ".join(masked)
    if phrases is not None:
        return phrases(line), decided
    return _known_line[line] if short else mask_phrases(line), decided


def _mask_shape(token: str) -> str:
    word = token.strip(_EDGES)
    lower = word.lower()
    decides = word in _METHODS or lower in _CODES or lower in _VERBS or lower.startswith("http")
    return mask_token(token) + (_DECIDES if decides else "")


_known_message, _known_shape = _Memo(_short), _Memo(_mask_shape)
_known_token, _known_line = _Memo(mask_token), _Memo(mask_phrases)


def _keep_codes(tokens: list[str], masked: list[str]) -> bool:
    """Put back status codes, error codes and routes that the words before give away; True when one was looked for."""
    words = [token.strip(_EDGES) for token in tokens]
    routes = (place + 1 for place, word in enumerate(words[:-1]) if word in _METHODS)
    route = next((place for place in routes if _REQUESTED.match(tokens[place])), -1)
    decided = False
    for place, token in enumerate(tokens):
        if masked[place] == token or not place:
            continue
        if words[place - 1] in _METHODS and token[0] == "/":
            masked[place], decided = path_template(token), True
        elif code := _expected_code(tokens, words, place, route):
            decided = True
            if code.fullmatch(token):
                masked[place] = token
    return decided


def _expected_code(tokens: list[str], words: list[str], place: int, route: int) -> re.Pattern[str] | None:
    """Return what a code looks like where one is expected; `route` is the place of a request's path, if any."""
    before, last = words[place - 2].lower() if place > 1 else "", words[place - 1].lower()
    if last.startswith("http"):
        return _HTTP_CODE
    if last in _CODES:
        return None if last in _BEFORE and before not in _BEFORE[last] else _CODES[last]
    if 0 <= route < place and (place == route + 1 or last in _BEHIND_REQUEST):
        return _HTTP_CODE
    following = words[place + 1] if place + 1 < len(words) else ""
    counts = tokens[place][-1].isalnum() and following[:1].islower() and following not in _BEHIND
    return None if counts else _VERBS.get(before if last == "with" else last)
