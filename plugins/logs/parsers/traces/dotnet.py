""".NET traces: inner exceptions on one line or several, async state machines, localised words."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_MARK = re.compile(r"\s{1,40}(?:at|bei|à|en|в|w|em|in|vid) ([^\s(]{3,1000})\(")
_FRAME = re.compile(r"\s+\S{1,4} ([^(\n]+)\([^)]*\)(?: \S{1,5} (.+):\S+ (\d+))?")
_RAISED = re.compile(
    r"(?:Unhandled exception[.:] )?((?:[A-Za-z_]\w*\.)+\w+|[A-Z]\w*Exception)(?: \(0x[0-9A-Fa-f]+\))?(?:: (.*))?$"
)
_WITHIN = re.compile(r"(?:^|[\s:])((?:[A-Z]\w*\.)+[A-Z]\w*)(?: \(0x[0-9A-Fa-f]+\))?: (.*)$")
_STATE_MACHINE = re.compile(r"(?:\.|\+)?<(\w+)>d(?:__\d+)?(?:`\d+)?\.MoveNext$")
_LIBRARY = ("System.", "Microsoft.", "MS.", "Newtonsoft.", "Npgsql.", "Dapper.", "lambda_method")
_AGGREGATED = re.compile(r"\s{0,40}---> \(Inner Exception #(\d{1,6})\) ([A-Za-z_][\w.]{0,500})(?:: (.*))?$")
_MAX_MESSAGE_LINES = 20


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    found = _MARK.match(line) if line[:1].isspace() else None
    return found is not None and "." in found[1]


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read the exceptions above the first frame; the innermost one's frames come first."""
    head = _head(lines, index)
    if head is None:
        return Trace(index)  # nobody said what was raised
    begin, text, intro = head
    outer_first: list[ExceptionInfo] = []
    for part in re.split(r"\s+---> ", text):
        raised = _RAISED.match(part.split("\n", 1)[0])
        if raised:
            rest = part.split("\n", 1)[1:]
            outer_first.append(ExceptionInfo(raised[1], "\n".join([raised[2] or "", *rest])))
    exceptions = outer_first[::-1]
    if not exceptions:
        return None
    current = 0
    aggregated: list[ExceptionInfo] = []
    for line in lines[index:]:
        text = line.strip()
        among = _AGGREGATED.match(line)
        if among:
            aggregated.append(ExceptionInfo(among[2], among[3] or ""))
            continue
        if text.startswith("---"):
            # The end of an inner stack is the only ruler that names no "previous location".
            if text.startswith("--- End of inner") or (
                text.endswith("---") and ":" not in text and "previous" not in text
            ):
                current = min(current + 1, len(exceptions) - 1)
            continue
        frame = _frame(line)
        if frame is not None:
            (aggregated[-1] if aggregated else exceptions[current]).frames.append(frame)
    return finish(begin, [*aggregated[1:], *exceptions], intro)  # the first one was printed above, too


def _head(lines: Sequence[str], index: int) -> tuple[int, str, str | None] | None:
    for begin in range(index - 1, max(-1, index - 1 - _MAX_MESSAGE_LINES), -1):
        line = lines[begin]
        if line.lstrip().startswith("---> "):
            continue
        if _RAISED.match(line.split(" ---> ", 1)[0]):
            return begin, "\n".join(lines[begin:index]), None
        within = _WITHIN.search(line[-2000:])
        if within:
            intro = line[: len(line) - len(within[0])].rstrip(" :->")
            text = "\n".join([within[0].lstrip(" :"), *lines[begin + 1 : index]])
            return begin + 1, text, intro or None
    return None


def _frame(line: str) -> Frame | None:
    found = _FRAME.match(line)
    if not found:
        return None
    function, file, row = found.groups()
    function = _STATE_MACHINE.sub(r".\1", function.strip())
    return Frame(function, file, number(row), None, in_app=not function.startswith(_LIBRARY))
