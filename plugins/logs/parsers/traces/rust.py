"""Rust panics: the message, and the backtrace when it was asked for."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_MARK = re.compile(r"thread '[^']{0,200}' (?:\(\d+\) )?panicked at ")
_OLD = re.compile(r"'(.*)', ([^:,]+):(\d+):(\d+)$", re.DOTALL)
_NEW = re.compile(r"([^:]+):(\d+):(\d+):$")
_FUNCTION = re.compile(r"\s+\d+: (?:0x[0-9a-f]+ - )?(.+)")
_PLACE = re.compile(r"\s+at (.+?):(\d+)(?::(\d+))?$")
_LIBRARY = ("std::", "core::", "alloc::", "rust_begin_unwind", "__rust", "tokio::", "<core::", "<alloc::", "<std::")


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return line.startswith("thread '") and _MARK.match(line) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read a panic; without a backtrace its place is the only frame."""
    rest = _MARK.sub("", lines[index], count=1)
    message, place = "", None
    body = lines[index + 1 :]
    new = _NEW.match(rest)
    old = _OLD.match(rest)
    if new:
        place = new.groups()
        words = []
        for line in body:
            if line.startswith(("note: ", "stack backtrace:")):
                break
            words.append(line)
        message = "\n".join(words)
    elif old:
        message, place = old[1], (old[2], old[3], old[4])
    frames: list[Frame] = []
    for line in body:
        function = _FUNCTION.match(line)
        at = _PLACE.match(line)
        if function:
            frames.append(Frame(function[1], in_app=not function[1].startswith(_LIBRARY)))
        elif at and frames:
            last = frames[-1]
            last.file, last.line, last.column = at[1], number(at[2]), number(at[3])
            last.in_app = last.in_app and not at[1].startswith("/rustc/") and "/.cargo/" not in at[1]
    if not frames and place:
        frames = [Frame(None, place[0], number(place[1]), number(place[2]))]
    return finish(index, [ExceptionInfo("panic", message, frames)])
