"""PowerShell errors: the message, the place, and behind `CategoryInfo` the class."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import CodeContext, ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_PLACE = re.compile(r"\s{0,8}At (?P<file>(?:[A-Za-z]:)?[^:\n]{1,500}):(?P<line>\d{1,9}) char:(?P<column>\d{1,9})\s*$")
_CODE = re.compile(r"\s{0,8}\+ (?=.{0,2000}[^\s~])(.*)$")  # the line below it only points at a place
_CATEGORY = re.compile(r"\s{0,8}\+ CategoryInfo\s{1,40}: (.*)$")
_CLASS = re.compile(r", (?:[A-Za-z_]\w{0,100}\.){0,8}([A-Za-z_]\w{0,200})\s*$")
_ERROR_ID = re.compile(r"\s{0,8}\+ FullyQualifiedErrorId\s{1,40}: ([^,\s]{1,300})")
_STACK = re.compile(r"\s{0,8}at (?P<name>[^,\n]{1,300}), (?P<file>[^\n]{1,500}): line (?P<line>\d{1,9})\s*$")
_COMMAND = re.compile(r"[A-Za-z][\w.\\-]{0,200} ?: (?=\S)")
_MAX_MESSAGE_LINES = 10


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    if " char:" in line:
        return _PLACE.match(line) is not None
    return ": line " in line and _STACK.match(line) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read the place and the class below; the message stands above."""
    frames: list[Frame] = []
    name = ""
    for line in lines[index:]:
        found = _PLACE.match(line) or _STACK.match(line)
        category, identity = _CATEGORY.match(line), _ERROR_ID.match(line)
        if found:
            said = found.groupdict()
            frames.append(Frame(said.get("name"), said["file"], number(said["line"]), number(said.get("column"))))
        elif category:
            raised = _CLASS.search(category[1][-4000:])
            name = raised[1] if raised else name
        elif identity:
            name = name or identity[1]
        elif frames and frames[-1].context is None and (code := _CODE.match(line)):
            frames[-1].context = CodeContext(code[1].strip())
    if not name:
        return Trace(index)
    message = "\n".join(lines[max(0, index - _MAX_MESSAGE_LINES) : index]).strip()
    command = _COMMAND.match(message)
    return finish(index, [ExceptionInfo(name, message[command.end() :] if command else message, frames)])
