"""The message template: a message with its values masked, fast enough for every line of a log.

Most lines of a log differ only in their digits, and most tokens were seen before. So three things are
remembered: whole messages, messages with their digit runs collapsed, and tokens. The memos only save work: what
a message becomes does not depend on what stands in them.
"""

import re
import unicodedata
from typing import TypeVar

from snaglist.plugins.issues.grouping.paths import PROGRAM_SUFFIXES, path_template
from snaglist.plugins.issues.grouping.phrases import mask_phrases
from snaglist.plugins.issues.grouping.spans import mask_spans
from snaglist.plugins.issues.grouping.tokens import mask_token

_Key = TypeVar("_Key", str, bytes)

MESSAGE_LIMIT = 8192
_MEMO_SIZE = 16_384
_MEMO_TEXT = 512  # longer texts are rare and would make the memos big
_ZEROS = str.maketrans("123456789", "000000000")
_ZERO_BYTES = bytes.maketrans(b"123456789", b"000000000")
# Where a collapsed message does not tell what it becomes: digits behind letters, that may belong to a name, and
# addresses, file names and codes, whose rules count digits.
_DIGITS_COUNT = re.compile(
    rb"[A-Za-z]0|::|\]:|\{0|0(?::0){5}|(?i:status|code|errno|sqlstate)=|STATE\[|"
    + rf"0[\w.-]*\.(?i:{PROGRAM_SUFFIXES})\b".encode(),
    re.ASCII,
)
_NEXT = "\x01"  # stands behind a word that decides about the token after it
_CODE_WORDS = frozenset(("status", "code", "errno", "error", "http", "sqlstate", "signal"))
_BEFORE_CODE = frozenset(
    ("status", "error", "exit", "exited", "return", "response", "result", "with", "got", "http", "sql")
)
_BEFORE_SIGNAL = frozenset(("on", "by", "with", "received", "caught", "got"))
_BEFORE_ANSWER = frozenset(("returned", "returns", "responded", "answered", "with", "failed", "->", "=>"))
# Behind these a number is a status or an exit code, unless it counts what comes next.
_ANSWERS = frozenset(("returned", "returns", "responded", "responds", "answered", "answers", "replied", "replies"))
_EXITS = frozenset(("exited", "exits"))
_DECIDING = _CODE_WORDS | _ANSWERS | _EXITS
_BEHIND_ANSWER = frozenset(
    ("for", "to", "from", "in", "after", "on", "while", "when", "at", "by", "via", "as", "but", "and", "with",
     "because", "instead", "again", "not", "bad", "too", "internal", "service", "gateway", "unauthorized", "forbidden")
)  # fmt: skip
_METHODS = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
_CODE = re.compile(r"\W{0,2}(-?\d{1,5}|[0-9A-Z]{5})\W{0,3}", re.ASCII)
_HTTP_CODE = re.compile(r"\W{0,2}([1-5]\d\d)\W{0,3}", re.ASCII)
_EXIT_CODE = re.compile(r"\W{0,2}(\d{1,3})\W{0,3}", re.ASCII)
_SIGNAL = re.compile(r"\W?\d\d?\W?", re.ASCII)
_REQUESTED = re.compile(r"/|https?://", re.IGNORECASE)
_EDGES = "()[]{}<>\"',.:;!?="


def template(message: str) -> str:
    """Return the template of a message: fixed words as they are, each value as `<*>`."""
    known = _messages.get(message)
    if known is not None:
        return known
    if len(message) > _MEMO_TEXT:
        return _template(message)[0]
    if message.isascii():
        shape = message.encode().translate(_ZERO_BYTES)
        shape = shape.replace(b"0000", b"0").replace(b"00", b"0").replace(b"00", b"0")
        known = _shapes.get(shape)
        if not known:
            text, counts = _template(message)
            if known is None:
                _remember(_shapes, shape, "" if counts or _DIGITS_COUNT.search(shape) else text)
            known = text
    else:
        known = _template(message)[0]
    _remember(_messages, message, known)
    return known


def _remember(memo: dict[_Key, str], key: _Key, value: str) -> None:
    if len(memo) >= _MEMO_SIZE:
        memo.clear()
    memo[key] = value


def _template(message: str) -> tuple[str, bool]:
    """Return the template, and whether single digits of the message decided about it."""
    text = message[:MESSAGE_LIMIT]
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    text = mask_spans(text.replace(_NEXT, " "), cut=len(message) > MESSAGE_LIMIT)
    tokens = text.split()
    masked = list(map(_tokens.__getitem__, tokens))
    line = " ".join(masked)
    decided = _NEXT in line
    if decided:
        line = _with_neighbours(tokens, masked)
    return _lines[line], decided


def _with_neighbours(tokens: list[str], masked: list[str]) -> str:
    """Keep status codes, error codes and routes that the word before gives away."""
    asked = -1  # where the path of a request stands
    for place, text in enumerate(masked):
        if text[-1] != _NEXT:
            if asked >= 0 and _is_answer(tokens, place, asked):
                masked[place] = tokens[place]
            continue
        masked[place] = text[:-1]
        if place + 1 < len(tokens):
            kept = _kept(tokens[place - 1] if place else "", tokens[place], tokens[place + 1])
            if kept:
                masked[place + 1] = kept
            elif answer := _answer(tokens, place):
                masked[answer] = tokens[answer]
            if tokens[place].strip(_EDGES) in _METHODS and _REQUESTED.match(tokens[place + 1]):
                asked = place + 1
    return " ".join(masked)


def _is_answer(tokens: list[str], place: int, asked: int) -> bool:
    """Tell whether a token is the status that a request was answered with."""
    before = tokens[place - 1]
    return bool(_HTTP_CODE.fullmatch(tokens[place])) and (
        place == asked + 1 or before.strip(_EDGES).lower() in _BEFORE_ANSWER or before in _BEFORE_ANSWER
    )


def _answer(tokens: list[str], place: int) -> int:
    """Return where the status or exit code stands that a verb gives away, 0 for nowhere."""
    verb = tokens[place].strip(_EDGES).lower()
    code = _HTTP_CODE if verb in _ANSWERS else _EXIT_CODE if verb in _EXITS else None
    at = place + 2 if tokens[place + 1] == "with" else place + 1
    if code is None or at >= len(tokens) or not code.fullmatch(tokens[at]):
        return 0
    ends = at + 1 == len(tokens) or not tokens[at][-1].isalnum()
    return at if ends or tokens[at + 1].strip(_EDGES).lower() in _BEHIND_ANSWER else 0


def _kept(before: str, word: str, following: str) -> str | None:
    name = word.strip(_EDGES)
    if name in _METHODS:
        return path_template(following) if following.startswith("/") else None
    name = name.lower()
    if name.startswith("http"):
        return following if _HTTP_CODE.fullmatch(following) else None
    if name == "signal":
        return following if before.lower() in _BEFORE_SIGNAL and _SIGNAL.fullmatch(following) else None
    if name == "code" and before.strip(_EDGES).lower() not in _BEFORE_CODE:
        return None
    return following if name in _CODE_WORDS and _CODE.fullmatch(following) else None


def _mask(token: str) -> str:
    name = token.strip(_EDGES)
    decides = name in _METHODS or name.lower() in _DECIDING or name.startswith("HTTP/")
    return mask_token(token) + (_NEXT if decides else "")


class _Tokens(dict[str, str]):
    """Memo of tokens. Numbers are endless, so tokens with digits are remembered by their shape."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: dict[str, str] = {}

    def __missing__(self, token: str) -> str:
        shape = token.translate(_ZEROS)
        known = self.shapes.get(shape)
        if known:
            return known
        if known is None and "0" in shape:
            known = _mask(shape)
            exact = "0" in known
            if len(shape) <= _MEMO_TEXT:
                _remember(self.shapes, shape, "" if exact else known)
            if not exact:
                return known
        known = _mask(token)
        if len(token) <= _MEMO_TEXT:
            _remember(self, token, known)
        return known


class _Lines(dict[str, str]):
    """Memo of lines whose tokens are masked."""

    def __missing__(self, line: str) -> str:
        result = mask_phrases(line)
        if len(line) <= _MEMO_TEXT:
            _remember(self, line, result)
        return result


_messages: dict[str, str] = {}
_shapes: dict[bytes, str] = {}
_tokens = _Tokens()
_lines = _Lines()


def forget() -> None:
    """Empty the memos, for tests and for measuring."""
    for memo in (_messages, _shapes, _tokens, _tokens.shapes, _lines):
        memo.clear()
