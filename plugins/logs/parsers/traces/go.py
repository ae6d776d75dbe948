"""Go crashes: a panic or fatal error, then one block per goroutine; the first one crashed."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_MARK = re.compile(r"goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[")
_PLACE = re.compile(r"\s{1,8}(\S.{0,1000}?\.\w{1,4}):(\d{1,9})(?: \+0x[0-9a-f]{1,16})?$")
_CRASH = re.compile(r"(?:http: )?(panic|fatal error)(?: serving \S{1,200}(?=: ))?: (.*?)(?: \[recovered\].*)?$")
_GENERATED = ("runtime.", "runtime/", "panic")
_MAX_HEAD_LINES = 50


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return (line.startswith("goroutine ") and _MARK.match(line) is not None) or (
        line.startswith("\t") and ".go:" in line and _PLACE.match(line) is not None
    )


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read the crash line above and the frames of the first goroutine."""
    if lines[index].startswith("\t"):
        return Trace(max(index - 1, 0)) if index else None  # a stack that a logger added; nothing was raised
    frames: list[Frame] = []
    function = None
    for line in lines[index + 1 :]:
        if _MARK.match(line) or (not line.strip() and frames):
            break
        place = _PLACE.match(line)
        if place and function:
            in_app = "/go/src/" not in place[1] and "/pkg/mod/" not in place[1] and "/vendor/" not in place[1]
            frames.append(Frame(function, place[1], number(place[2]), None, in_app=in_app))
            function = None
        elif line.startswith("created by "):
            break
        elif line[:1].strip() and "(" in line:
            name = line.rpartition("(")[0]
            function = None if name.startswith(_GENERATED) else name
    for begin in range(index - 1, max(-1, index - 1 - _MAX_HEAD_LINES), -1):
        crash = _CRASH.match(lines[begin])
        if crash:
            return finish(begin, [ExceptionInfo(crash[1], crash[2], frames)])
    return None
