"""PHP traces: as the engine prints them, as Monolog writes exception objects, and bare frame lists."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_STARTS = ("Stack trace:", "PHP Stack trace:", "[stacktrace]", "#0 ", "#1 ")
_FRAME = re.compile(r"#\d+ (?:(.+?)\((\d+)\): |\[internal function\]: )?(.*)")
_OBJECT = re.compile(r"\[object\] \(([\w\\@./:-]+)\(code: [^)]*\):? ?")
_PLACE = re.compile(r" at ([^\n]+?):(\d+)\)?$")
_THROWN_AT = re.compile(r" in ([^\n]+?)(?::| on line )(\d+)$")
_UNCAUGHT = re.compile(
    r"(?:(?:PHP )?Fatal error: {1,4})?(?:Uncaught |Next )?([A-Za-z_\\][\w\\]*)(?:: (.*))?$", re.DOTALL
)
_DIED = re.compile(r"Uncaught [A-Za-z_\\][\w\\]{0,300}:? .{0,4000} in [^\n]{1,1000}?(?::\d{1,9}| on line \d{1,9})$")
_UNCAUGHT_WITHIN = re.compile(r"(?:Uncaught|Next) ([A-Za-z_\\][\w\\]*)(?:: (.*))?$", re.DOTALL)


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return line.startswith(_STARTS) or "[object] (" in line or ("Uncaught " in line and _DIED.search(line) is not None)


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read whichever of the notations the first marked line has."""
    if "[object] (" in lines[index]:
        return finish(index, read_objects("\n".join(lines[index:])))
    if lines[index].startswith("#"):
        return Trace(index)  # frames of an exception that was not named
    if not lines[index].startswith(_STARTS):
        return _died(lines, index)
    return _engine(lines, index)


def read_objects(text: str) -> list[ExceptionInfo]:
    """Read `[object] (Class(code: 0): message at file:line)`; previous exceptions are printed after the wrapper."""
    printed: list[ExceptionInfo] = []
    starts = list(_OBJECT.finditer(text))
    for place, start in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(text)
        part = text[start.end() : end]
        head, _, rest = part.partition("\n[stacktrace]")
        head = head.rsplit("\n[previous exception]", 1)[0].strip().removesuffix(",")
        thrown = _PLACE.search(head[-4000:])
        message = head[: len(head) - len(thrown[0])] if thrown else head.rstrip(")")
        printed.append(_exception(start[1], message, thrown, rest.split("\n")))
    trace = finish(0, printed[::-1])
    return trace.exceptions if trace else []


def _engine(lines: Sequence[str], index: int) -> Trace | None:
    """Read `Class: message in file:line`, `Stack trace:`, frames; earlier exceptions come first, then `Next`."""
    exceptions: list[ExceptionInfo] = []
    begin, intro = index, None
    head: list[str] = [lines[index - 1]] if index else []
    if index and not _UNCAUGHT.match(lines[index - 1]) and not _UNCAUGHT_WITHIN.search(lines[index - 1][-4000:]):
        head = list(lines[max(0, index - 10) : index])
    frames: list[str] = []
    in_frames = False
    for line in [*lines[index:], ""]:
        text = line.strip().removeprefix("PHP ")
        if text.startswith("Stack trace:"):
            frames, in_frames = [], True
        elif in_frames and text.startswith("#"):
            frames.append(text)
        elif in_frames:
            raised, before = _raised("\n".join(head))
            if raised is not None:
                thrown = _THROWN_AT.search(raised[1][-4000:])
                message = raised[1][: len(raised[1]) - len(thrown[0])] if thrown else raised[1]
                if not exceptions:
                    begin, intro = index - len(head), before
                exceptions.append(_exception(raised[0], message, thrown, frames))
            head, in_frames = [], False
        if not in_frames and text.startswith("Next "):
            head = [text]
        elif not in_frames and head and text and not text.startswith("thrown in"):
            head.append(text)
    return finish(begin + (1 if intro is not None else 0), exceptions, intro)


def _died(lines: Sequence[str], index: int) -> Trace | None:
    """Read an uncaught exception whose frames are not printed: the place where it was thrown is the only one."""
    if any(line.startswith(_STARTS) for line in lines[index + 1 : index + 10]):
        return None  # they are, and lead here
    raised, before = _raised(lines[index])
    thrown = _THROWN_AT.search(raised[1][-4000:]) if raised else None
    if raised is None or thrown is None:
        return None
    exception = _exception(raised[0], raised[1][: len(raised[1]) - len(thrown[0])], thrown, ())
    return finish(index + (before is not None), [exception], before or None)


def _raised(text: str) -> tuple[tuple[str, str] | None, str | None]:
    """Return class and message, and what stood before them on the line."""
    found = _UNCAUGHT.match(text)
    if found and found[1] and ("\\" in found[1] or found[1][0].isupper()):
        return (found[1], found[2] or ""), None
    within = _UNCAUGHT_WITHIN.search(text)
    if within:
        return (within[1], within[2] or ""), text[: within.start()].rstrip(" :")
    return None, None


def _exception(name: str, message: str, thrown: re.Match[str] | None, lines: Sequence[str]) -> ExceptionInfo:
    """Turn call places into frames: PHP prints where a function was called, the throw place is the innermost one."""
    frames: list[Frame] = []
    file, row = (thrown[1], thrown[2]) if thrown else (None, None)
    for line in lines:
        found = _FRAME.match(line.strip())
        if not found:
            continue
        function = found[3].partition("(")[0].strip() or None
        if file or function != "{main}":
            frames.append(Frame(function, file, number(row), None, in_app=in_app(file)))
        file, row = found[1], found[2]
    if file:
        frames.append(Frame(None, file, number(row), None, in_app=in_app(file)))
    return ExceptionInfo(name, message, frames)


def in_app(file: str | None) -> bool:
    """Tell whether a file is the application's own."""
    return bool(file) and "/vendor/" not in str(file) and "\\vendor\\" not in str(file)
