"""Python tracebacks that libraries draw: frames in a box, those of interactive sessions, a title behind other words.

They are translated into the usual form, which `python` reads.
"""

import re
from collections.abc import Sequence

from snaglist.plugins.logs.parsers.traces import python
from snaglist.plugins.logs.parsers.traces.trace import Trace

_TITLE = "Traceback (most recent call last)"
_PLAIN_TITLE = f"{_TITLE}:"
_CODE = "    "  # stands for what is drawn around the frames
_TOP = re.compile(r"\s{0,200}(?:[╭┌]|\+-)")
_SIDE = ("│", "|")
_BOTTOM = ("╰", "└", "+-")
_PLACE = re.compile(
    r"[│|] {0,4}((?:[A-Za-z]:)?[^\s:│|][^:│|]{0,1000}):(\d{1,9})(?: in ([^\s│|]{1,300}))?\s{0,500}[│|]?\s*$"
)
_WRAPPED = re.compile(
    r"[│|] {0,4}in ([^\s│|]{1,300})\s{0,500}[│|]?\s*$"
)  # a narrow box moves the function to its own line
_SESSION = re.compile(r"(?:[\w.]{1,200}\s{2,200})Traceback")
_SESSION_PLACE = re.compile(
    r"(?:File )?(?P<file>(?:[A-Za-z]:)?[^\s:][^:]{0,1000}?)(?::(?P<line>\d{1,9}),)? in "
    r"(?P<name>[^\s(]{1,300})(?:\(.*)?$"
    r"|(?P<cell>(?:Cell |Input )In ?\[\d{1,9}\])(?:, (?:line (?P<row>\d{1,9})|in .*))?$"
)
_MARKED = re.compile(r"[│|] {0,4}[❱>] ?\d{1,9} (?:[│|]|\Z)(.*?)[│|]?$")  # the line of code that a frame is at
_ARROW = re.compile(r"-{2,20}> ?\d{1,9} ?(.*)$")
_NUMBERED = re.compile(r"\s{1,24}\d{1,9}(?: |$)")  # the lines around it
_RULER = re.compile(r"-{20,}$")
_BEFORE = re.compile(r"(.{0,2000}[\s:>|\])-])(?:Exception Group )?Traceback \(most recent call last\):\s*$")


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return _TITLE in line and not python.starts(line)


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Translate what follows and read it."""
    title = lines[index]
    if _TOP.match(title):
        return _read(_unboxed(lines[index:]), index)
    if _SESSION.match(title):
        ruler = index > 0 and _RULER.match(lines[index - 1]) is not None
        return _read(_session(lines[index:]), index - ruler)
    found = _BEFORE.match(title)
    if found is None:
        return None
    before = found[1]
    below = [line.removeprefix(before) for line in lines[index + 1 :]]
    return _read([_PLAIN_TITLE, *below], index + 1, before.rstrip(" \t:>|-"))


def _read(lines: Sequence[str], begin: int, intro: str | None = None) -> Trace | None:
    trace = python.read(lines, 0)
    if trace is None:
        return None
    for frame in (frame for exception in trace.exceptions for frame in exception.frames):
        frame.line = frame.line or None
    return Trace(begin, trace.exceptions, intro or None)


def _unboxed(lines: Sequence[str]) -> list[str]:
    """Return the lines without their boxes."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    usual: list[str] = []
    for line in lines:
        text = line[indent:] if line[:indent].isspace() else line
        if _TITLE in text and _TOP.match(text):
            usual.append(_PLAIN_TITLE)
        elif text.startswith(_SIDE):
            place, wrapped, marked = _PLACE.match(text), _WRAPPED.match(text), _MARKED.match(text)
            if place:
                usual.append(_frame(place[1], place[2], place[3]))
            elif wrapped and usual[-1].startswith("  File") and ", in " not in usual[-1]:
                usual[-1] += f", in {wrapped[1]}"
            else:
                usual.append(_CODE + (marked[1].strip() if marked else ""))
        else:
            usual.append(_CODE if text.startswith(_BOTTOM) else text)
    return usual


def _session(lines: Sequence[str]) -> list[str]:
    """Return the lines of an interactive session's traceback."""
    usual: list[str] = []
    for line in lines:
        place = None if line[:1].isspace() else _SESSION_PLACE.match(line)
        if _SESSION.match(line) and _TITLE in line:
            usual.append(_PLAIN_TITLE)
        elif place and place["cell"]:
            usual.append(_frame(place["cell"], place["row"] or "0", None))
        elif place:
            usual.append(_frame(place["file"], place["line"] or "0", place["name"]))
        else:
            arrow = _ARROW.match(line)
            usual.append(_CODE + arrow[1].strip() if arrow else _CODE if _NUMBERED.match(line) else line)
    return usual


def _frame(file: str, line: str, function: str | None) -> str:
    """Return a frame in the usual form; a line that was not printed is 0."""
    return f'  File "{file}", line {line}' + (f", in {function}" if function else "")
