"""The headers of a file as expressions, made of its own lines: the fast way to what the grammar of a line says."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from snaglist.plugins.logs.parsers.heads import Head, Layout, find_level
from snaglist.plugins.logs.parsers.messages import message_of
from snaglist.plugins.logs.parsers.severity import LETTERS, NAMES, by_name
from snaglist.plugins.logs.parsers.stamps import find_stamp

MAX_SHAPES: Final = 4
MIN_LINES: Final = 5
MIN_SHARE: Final = 0.05  # of the headers

_PLAIN_LEVELS = "EMERG|ALERT|CRIT|CRITICAL|FATAL|ERROR|ERR|WARN|WARNING|NOTICE|INFO|DEBUG|TRACE"
_PIECE = re.compile(
    r"\[[^\[\]\n]{0,200}\]|\([^()\n]{0,200}\)|<[^<>\n]{0,200}>|\{[^{}\n]{0,200}\}| +|[^\s\[\](){}<>|,;:\"]{1,150}|."
)
_BRACKETS: Final = {
    "[": r"\[[^\[\]\n]{0,200}\]",
    "(": r"\([^()\n]{0,200}\)",
    "<": r"<[^<>\n]{0,200}>",
    "{": r"\{[^{}\n]{0,200}\}",
}
_WORD: Final = r"[^\s\[\](){}<>|,;:\"]{1,150}"
_NO_LEVEL: Final = rf"(?!(?:{_PLAIN_LEVELS})\b)"
_NOT_WITHIN: Final = r"(?<![^\W_])"  # a word
_ESCAPED = re.compile(r"\\(.)")
_DIGIT = re.compile(r"\d")
_STAMP_PIECE = re.compile(r"(?<=[.,])\d+|\d+|[^\W\d_]{2,}| +|.")


@dataclass(frozen=True, slots=True)
class Shape:
    """The header of many lines of a file: its time, the tokens behind it, and the level.

    `share` is the part of the headers that look like this.
    """

    expression: re.Pattern[str]
    form: str
    share: float

    def read(self, line: str) -> Head | None:
        """Return what the line says, None when it is of another shape."""
        found = self.expression.match(line)
        if found is None:
            return None
        time, level = found.groups()
        severity = NAMES.get(level) or by_name(level) or LETTERS.get(level, "")
        if not severity:
            return None
        return Head(self.form, time, severity, message_of(line, found.end()), spelled=level)

    @property
    def readable(self) -> str:
        """The expression for people, who may change it: all that is no use to them is left out."""
        plain = _ESCAPED.sub(lambda one: one[1] if one[1] in " -#&~" else one[0], self.expression.pattern)
        return plain.replace(_NO_LEVEL, "").replace(_NOT_WITHIN, "") + " {0,80}(?P<message>.*)"


def shapes_of(lines: Iterable[str], heads: Sequence[Head | None], known: Layout) -> tuple[Shape, ...]:
    """Return the frequent shapes of lines whose heads are known, the shortest first.

    A longer one may take a level for a word in front of a level; where both fit the shorter one is right.
    """
    found: Counter[tuple[str, str]] = Counter()
    total = 0
    for line, head in zip(lines, heads, strict=True):
        if head is None:
            continue
        total += 1
        shape = _shape(line, head, known)
        if shape is not None:
            found[shape] += 1
    often = [
        (shape, count)
        for shape, count in found.most_common(MAX_SHAPES)
        if count >= MIN_LINES and count >= MIN_SHARE * total
    ]
    often.sort(key=lambda one: (one[0][0].count(_WORD) + one[0][0].count(r"{0,200}"), one[0][0]))
    return tuple(Shape(re.compile(expression), form, count / total) for (expression, form), count in often)


def _shape(line: str, head: Head, known: Layout) -> tuple[str, str] | None:
    """Return the expression of one line and the form of its time; None when its head is of another kind."""
    stamp = find_stamp(line)
    if stamp is None or not head.severity or head.pairs or head.context or head.stamp != stamp[1]:
        return None
    form, text, start = stamp
    level = find_level(line, start, known)
    if level is None or level[1] != head.spelled:
        return None
    place = line.rfind(level[1], start, level[2])
    begin = line.index(text)
    if place < 0:
        return None
    between, behind = line[begin + len(text) : place], line[place + len(level[1]) : level[2]]
    expression = (
        re.escape(line[:begin])
        + f"(?P<time>{_time(_DIGIT.sub('0', text))})"
        + "".join(map(_general, _PIECE.findall(between)))
        # Capitals are a level wherever they stand; another spelling is one only where it is set off.
        + _NOT_WITHIN
        + (r"(?P<level>[^\W\d_a-z]{1,14}\d?)" if level[1].isupper() else r"(?P<level>[^\W\d_]{1,14}\d?)")
        + ((" {0,20}" + re.escape(behind.strip())) if behind.strip() else r"\b")
    )
    return expression, form


@lru_cache(256)
def _general(piece: str) -> str:
    """Return the expression of whatever may stand where a piece of a header stands."""
    if piece[0] == " ":
        return " {1,80}"
    if len(piece) > 1 and piece[0] in _BRACKETS:
        return _BRACKETS[piece[0]]
    if re.fullmatch(_WORD, piece) and piece not in "-*>":
        return _NO_LEVEL + _WORD
    return re.escape(piece)


@lru_cache(64)
def _time(text: str) -> str:
    """Return the expression of times that are spelled like this one, whose digits are all zero."""
    parts: list[str] = []
    for found in _STAMP_PIECE.finditer(text):
        piece = found.group()
        if piece.isdigit():
            fraction = found.start() and text[found.start() - 1] in ".," and ":" in text[: found.start()]
            parts.append(r"\d{1,9}" if fraction else rf"\d{{{len(piece)}}}")
        elif len(piece) > 1 and piece[0].isalpha():
            parts.append(r"[^\W\d_]{2,12}")
        else:
            parts.append(re.escape(piece))
    return "".join(parts)
