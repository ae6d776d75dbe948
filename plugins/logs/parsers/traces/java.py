"""Java and Kotlin traces: causes, suppressed exceptions, omitted frames."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

# The source is one word or none is known; other languages print arguments, which have blanks or are none.
_MARK = re.compile(
    r"\s+at (?:[\w.$-]+(?:@[\w.-]+)?/{1,2}){0,3}[\w.$<>/-]+"
    r"\((?:Native Method|Unknown Source(?::\d{1,9})?|[^()\s,]{1,300})\)"
)
_FRAME = re.compile(r"\s+at (?:[\w.$@-]*/){0,3}([^\s(/][^\s(]*)\(([^)]*)\)")
_LAMBDA = re.compile(r"\s+at (?:[\w.$@-]*/){0,2}([\w.$]+\$\$Lambda[^\s(]*)\(([^)]*)\)")
_UNCAUGHT = re.compile(r"Exception in thread \"[^\"]*\" ")
_RAISED = re.compile(
    r"(?:Exception in thread \"[^\"]*\" )?"
    r"((?:[A-Za-z_$][\w$]*\.)+[A-Za-z_$][\w$]*|[A-Z][\w$]*(?:Exception|Error|Throwable))(?:: (.*))?$"
)
_WITHIN = re.compile(r"(?:^|[\s:>-])((?:[a-z_][\w$]*\.)+[A-Z$][\w$]*)(?:: (.*))?$")
_MAX_MESSAGE_LINES = 20
_LIBRARY = (
    "java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "groovy.",
    "android.", "androidx.", "dalvik.", "com.android.", "org.springframework.", "org.apache.", "org.hibernate.",
    "org.eclipse.", "org.jboss.", "io.netty.", "io.undertow.", "io.vertx.", "reactor.", "io.micrometer.",
    "com.zaxxer.", "com.mysql.", "org.postgresql.", "oracle.", "okhttp3.", "retrofit2.", "com.fasterxml.",
    "akka.", "play.", "rx.", "io.reactivex.", "com.google.common.", "org.junit.", "ch.qos.logback.", "org.slf4j.",
)  # fmt: skip


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return line.lstrip().startswith("at ") and _MARK.match(line) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read the exception printed above the first frame, and its causes, which were raised before it."""
    head = _head(lines, index)
    if head is None:
        return Trace(index)  # nobody said what was raised
    begin, first, intro = head
    printed = [first]
    current: ExceptionInfo | None = first
    indent = _indent(lines[index])
    for line in lines[index:]:
        text = line.strip()
        if _indent(line) > indent or text.startswith("Suppressed: "):
            continue  # belongs to a suppressed exception, which is shown in the text only
        if text.startswith("Caused by: "):
            raised = _RAISED.match(text[11:])
            current = ExceptionInfo(raised[1], raised[2] or "") if raised else ExceptionInfo(text[11:])
            printed.append(current)
        elif text.startswith("at "):
            frame = _frame(line)
            if current is not None and frame is not None:
                current.frames.append(frame)
        elif text and not text.startswith("...") and current is not None and not current.frames:
            current.message += "\n" + text
    return finish(begin, printed[::-1], intro)


def _head(lines: Sequence[str], index: int) -> tuple[int, ExceptionInfo, str | None] | None:
    for begin in range(index - 1, max(-1, index - 1 - _MAX_MESSAGE_LINES), -1):
        raised = _RAISED.match(lines[begin])
        if raised:
            message = "\n".join([raised[2] or "", *lines[begin + 1 : index]])
            if _UNCAUGHT.match(lines[begin]):  # the thread is told, too
                return begin + 1, ExceptionInfo(raised[1], message), lines[begin]
            return begin, ExceptionInfo(raised[1], message), None
    if index:
        within = _WITHIN.search(lines[index - 1][-2000:])
        if within:
            line = lines[index - 1]
            intro = line[: len(line) - len(within[0])].rstrip(" :->")
            return index, ExceptionInfo(within[1], within[2] or ""), intro or None
    return None


def _frame(line: str) -> Frame | None:
    found = _LAMBDA.match(line) or _FRAME.match(line)
    if not found:
        return None
    function, source = found.groups()
    file, _, row = source.rpartition(":")
    if not row.isdigit():
        file, row = source, ""
    known = "." in file and " " not in file
    return Frame(function, file if known else None, number(row), None, in_app=not function.startswith(_LIBRARY))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
