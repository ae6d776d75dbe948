"""Ruby backtraces: `file.rb:10:in 'method'`, printed innermost first."""

import re
from collections.abc import Sequence
from itertools import pairwise

from snaglist.plugins.issues import CodeContext, ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_MARK = re.compile(r"(?:\s|\[[^\]\s]{1,80}\] ?){0,4}(?:from )?[^\s:]{1,1000}:\d+:in [`']")
_FRAME = re.compile(r"(?:\s|\[[^\]\s]{1,80}\] ?){0,4}(?:from )?([^\s:]{1,1000}):(\d+):in [`']([^']*)'(?:: (.*))?")
_CLASS_LAST = re.compile(r"(.*?) ?\(([A-Z][\w:]*)\)$")
_RAISED = re.compile(r"(?:\[[^\]\s]{1,80}\] ?){0,4}([A-Z]\w*(?:::[A-Z]\w*)*)(?: \((.*)\):?|: (.*))?$")
_LIBRARY = ("/gems/", "/ruby/", "<internal:", "/rubygems/", "/bundler/")
_MAX_MESSAGE_LINES = 10


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return ":in " in line and _MARK.match(line) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read the backtrace; the class stands at the end of its first line or in a line above."""
    frames: list[Frame] = []
    for line in lines[index:]:
        found = _FRAME.match(line)
        if found:
            file, row, function, _ = found.groups()
            in_app = not any(part in file for part in _LIBRARY)
            frames.append(Frame(function, file, number(row), None, in_app=in_app))
    if frames:
        frames[0].context = _pointed_at(lines[index + 1 : index + 1 + _MAX_MESSAGE_LINES])
    first = _FRAME.match(lines[index])
    raised = _CLASS_LAST.match(first[4]) if first and first[4] else None
    if raised:
        return finish(index, [ExceptionInfo(raised[2], raised[1], frames)])
    for begin in range(index - 1, max(-1, index - 1 - _MAX_MESSAGE_LINES), -1):
        above = _RAISED.match(lines[begin])
        if above:
            message = above[2] or above[3] or ""
            return finish(begin, [ExceptionInfo(above[1], message, frames)])
    return None


def _pointed_at(lines: Sequence[str]) -> CodeContext | None:
    """Return the line of code that newer versions print below the first frame, with carets under what failed."""
    for code, carets in pairwise(lines):
        if "^" in carets and code.startswith(" ") and not carets.strip(" ~^"):
            return CodeContext(code.strip())
        if _FRAME.match(code):
            break
    return None
