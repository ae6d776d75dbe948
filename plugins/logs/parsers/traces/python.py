"""Python tracebacks: chained exceptions, exception groups, caret lines, repeated frames."""

import re
from collections.abc import Sequence
from functools import lru_cache

from snaglist.plugins.issues import CodeContext, ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_MARK = re.compile(r"[\s|+]{0,40}(?:Exception Group )?Traceback \(most recent call last\):")
_FILE = 'File "'
_PLAIN = f"  {_FILE}"  # what nearly every frame begins with
_FRAME = re.compile(r'(?:\s+|> )File "([^"]+)", line (\d+)(?:, in (.+))?')  # some libraries mark the frame that counts
_RAISED = re.compile(r"([A-Za-z_][\w.]*)(?:: ?(.*))?$")
_BARS = re.compile(r"[ ]{0,200}[|+][ ]?(?:-\+)?(-{10,})?")
_DRAWN = ("|", "+")
_REPEATED = re.compile(r"\s+\[Previous line repeated (\d{1,9}) more times?\]")
_CARETS = re.compile(r"[\s~^]*$")
_LINKS = ("During handling of the above exception", "The above exception was the direct cause")
_QUOTES = '"""'  # around the traceback of another process
_LIBRARY = ("/site-packages/", "/dist-packages/", "/lib/python", "\\lib\\", "\\site-packages\\", "<frozen ")


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return "Traceback (most recent call last):" in line and _MARK.match(line) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read all tracebacks from the first one on.

    They are printed in raise order. Members of a group are printed below it, deeper; they were raised before it.
    """
    done: list[ExceptionInfo] = []
    open_groups: list[tuple[int, ExceptionInfo]] = []
    frames: list[Frame] = []
    current: ExceptionInfo | None = None
    in_frames = False
    for line in lines[index:]:
        plain = in_frames and line.startswith(_PLAIN)
        depth, text = (0, line) if plain else _without_bars(line)
        if text is None:
            current = None
            continue
        if not plain and starts(text):
            frames, current, in_frames = [], None, True
        elif in_frames:
            place = _place(text) if _FILE in text else None
            if place:
                frames.append(Frame(*place))
            elif text and not text[0].isspace():
                raised = _RAISED.match(text)
                current = ExceptionInfo(raised[1], raised[2] or "") if raised else ExceptionInfo("Exception", text)
                current.frames = frames[::-1]
                in_frames = False
                while open_groups and open_groups[-1][0] >= depth:
                    done.append(open_groups.pop()[1])
                open_groups.append((depth, current))
            elif frames and text:
                _add_detail(frames[-1], text)
        elif current is not None:
            if not text.strip() or text.startswith((*_LINKS, _QUOTES)):
                current = None
            elif len(current.message) < 10_000:
                current.message += "\n" + text
    if in_frames and frames:
        open_groups.append((0, ExceptionInfo("Exception", "", frames[::-1])))
    done.extend(exception for _, exception in reversed(open_groups))
    return finish(index, done)


def _without_bars(line: str) -> tuple[int, str | None]:
    """Return the depth within exception groups and the text; None for a line that only draws."""
    if line.lstrip(" ")[:1] not in _DRAWN:
        return 0, line
    found = _BARS.match(line)
    if not found:
        return 0, line
    if found[1] or line.endswith("----"):
        return 0, None
    return line.index("|" if "|" in line[: found.end()] else "+"), line[found.end() :]


def _add_detail(frame: Frame, line: str) -> None:
    """Take what stands below a place: its code first, then how often it was called again."""
    code, repeated = _detail(line)
    if repeated:
        frame.repeated = repeated
    elif frame.context is None:
        frame.context = code


@lru_cache(maxsize=4096)  # PERF: as the places
def _detail(line: str) -> tuple[CodeContext | None, int]:
    repeated = _REPEATED.match(line)
    if repeated:
        return None, int(repeated[1])
    return None if _CARETS.match(line) else CodeContext(line.strip()), 0


@lru_cache(maxsize=4096)  # PERF: the places of a program come again and again
def _place(line: str) -> tuple[str | None, str, int | None, None, bool] | None:
    """Return the values of the frame that a line tells of."""
    found = _FRAME.match(line)
    if found is None:
        return None
    file, row, function = found.groups()
    return function, file, number(row), None, not any(part in file for part in _LIBRARY)
