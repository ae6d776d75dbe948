"""JavaScript stacks: Node and Chromium (`at f (file:1:2)`), Firefox and Safari (`f@file:1:2`)."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import CodeContext, ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces import follow
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_MARK = re.compile(
    r"\s*(?:at (?:[^\n(]{0,500}\()?[^\s()]{1,2000}:\d+:\d+(?: \([^\n()]{1,500}\))?\)?$"
    r"|[^\s@()]{0,200}@[^\s()]{1,2000}:\d+:\d+(?: \([^\n()]{1,500}\))?$)"
)
_NAMED = re.compile(r"(:\d+:\d+) \([^\n()]{1,500}\)(?=\)?$)")  # what a source map calls the thing at a place
_PLACE = re.compile(r"(.+?):(\d+)(?::(\d+))?$")
_RAISED = re.compile(r"(?:Uncaught (?:\(in promise\) )?)?([A-Za-z_$][\w.$]*)(?: \[[A-Z_]+\])?(?:: ?(.*))?$")
_WITHIN = re.compile(r"(?:^|\s)([A-Z][\w$]*(?:Error|Exception)): (.*)$")
_CAUSE = re.compile(r"\s*(?:\[cause\]: |caused by:? )(.*)", re.IGNORECASE)
_LIBRARY = ("node_modules/", "node:", "internal/", "webpack/bootstrap", "<anonymous>", "native")
_MAX_MESSAGE_LINES = 20


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return ("at " in line[:40] or "@" in line) and _MARK.match(line) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read the error above the first frame and its causes, which were raised before it."""
    begin, first, intro = _head(lines, index)
    printed = [first]
    current = first
    for line in lines[index:]:
        cause = _CAUSE.match(line)
        if cause:
            current = _raised(cause[1]) or ExceptionInfo("Error", cause[1])
            printed.append(current)
            continue
        frame = _frame(line.strip())
        if frame is not None:
            current.frames.append(frame)
    if first.frames and follow.is_node_crash(lines[begin]):
        _add_code(first.frames, lines[begin], lines[begin + 1])
    return finish(begin, printed[::-1], intro)


def _head(lines: Sequence[str], index: int) -> tuple[int, ExceptionInfo, str | None]:
    for begin in range(index - 1, max(-1, index - 1 - _MAX_MESSAGE_LINES), -1):
        raised = _raised(lines[begin]) if "Error" in lines[begin] or "Exception" in lines[begin] else None
        if raised:
            raised.message = "\n".join([raised.message, *lines[begin + 1 : index]])
            return _crash(lines, begin), raised, None
        within = _WITHIN.search(lines[begin][-2000:])
        if within:
            message = "\n".join([within[2], *lines[begin + 1 : index]])
            intro = lines[begin][: len(lines[begin]) - len(within[0])].rstrip(" :->")
            return begin + 1, ExceptionInfo(within[1], message), intro or None
    return index, ExceptionInfo("Error", lines[index - 1].strip() if index else ""), None


def _crash(lines: Sequence[str], begin: int) -> int:
    """Return where a crash begins: Node prints place, source line and caret above the error."""
    above = begin
    while above > 0 and not lines[above - 1].strip():
        above -= 1
    crash = above >= 3 and follow.is_caret(lines[above - 1]) and follow.is_node_crash(lines[above - 3])
    return above - 3 if crash else begin


def _add_code(frames: Sequence[Frame], place: str, code: str) -> None:
    """Give the line that a crash prints to the frame that is at its place."""
    for frame in frames:
        if code.strip() and f"{frame.file}:{frame.line}" == place:
            frame.context = CodeContext(code.strip())
            break


def _raised(line: str) -> ExceptionInfo | None:
    found = _RAISED.match(line)
    return ExceptionInfo(found[1], found[2] or "") if found else None


def _frame(text: str) -> Frame | None:
    text = _NAMED.sub(r"\1", text.removesuffix(" {"))  # behind the last frame Node prints what the error holds
    if text.startswith("at "):
        text = text[3:].removeprefix("async ").removeprefix("new ")
        if text.endswith(")") and " (" in text:
            function, _, place = text[:-1].rpartition(" (")
        else:
            function, place = "", text
    elif "@" in text:
        function, _, place = text.partition("@")
    else:
        return None
    found = _PLACE.match(place)
    file, row, column = found.groups() if found else (place, None, None)
    in_app = not any(part in file for part in _LIBRARY)
    return Frame(function or None, file or None, number(row), number(column), in_app=in_app)
