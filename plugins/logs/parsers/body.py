"""From the text of an entry to message, trace and context: what all text formats share."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from snaglist.plugins.issues import ExceptionInfo
from snaglist.plugins.logs.parsers import context
from snaglist.plugins.logs.parsers.traces import read_trace, title

_CONTEXT_ENDS = ("}", "]")


@dataclass(slots=True)
class Body:
    """The parts of an entry's text."""

    message: str
    stack: str = ""
    context: str = ""
    exceptions: Sequence[ExceptionInfo] = field(default_factory=list)


def split_body(first: str, lines: Sequence[str]) -> Body:
    """Split the text of an entry, given as its first line and the lines below."""
    if not lines:
        text = first.rstrip()
        if text.endswith(_CONTEXT_ENDS):
            message, trailing, values = context.split_context(text)
            return Body(context.worded(message.strip(), values), "", trailing)
        return Body(text.lstrip())
    everything = [first, *lines]
    trace = read_trace(everything)
    if trace is None:
        message, trailing, _ = context.split_context("\n".join(everything))
        return Body(message.strip(), "", trailing)
    above = everything[: trace.begin]
    if trace.intro is not None:
        above[-1:] = [trace.intro]
    message, trailing, _ = context.split_context("\n".join(above))
    message = message.strip()
    if not message and trace.exceptions:
        message = title(trace.exceptions)
    return Body(message, "\n".join(everything[trace.begin :]).strip("\n"), trailing, trace.exceptions)
