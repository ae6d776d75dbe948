"""From the text of an entry to message, trace and context: what all text formats share."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from snaglist.plugins.issues import ExceptionInfo
from snaglist.plugins.logs.parsers import context
from snaglist.plugins.logs.parsers.script_messages import script_messages
from snaglist.plugins.logs.parsers.traces import read_trace, title

_CONTEXT_ENDS = ("}", "]")
_TAGS = re.compile(r"(?:\[[^\[\]\s]{1,80}\] ?){1,6}")
# A trace on one line: texts that are always in it, so that other lines are not looked at.
_UNCAUGHT, _REASON, _FILE = "Uncaught ", " with reason: ", '[{file,"'


@dataclass(slots=True)
class Body:
    """The parts of an entry's text; `severity` where the text itself says one."""

    message: str
    stack: str = ""
    context: str = ""
    exceptions: Sequence[ExceptionInfo] = field(default_factory=list)
    severity: str = ""


def split_body(first: str, lines: Sequence[str]) -> Body:
    """Split the text of an entry, given as its first line and the lines below."""
    if "PHP " in first:
        said = script_messages("\n".join([first, *lines]) if lines else first)
        if said is not None:
            first, *lines = said.text.split("\n")
            body = _split(first, lines)
            body.severity = said.severity
            body.context = "; ".join([*said.others, *([body.context] if body.context else [])])
            return body
    return _split(first, lines)


def split_text(text: str) -> Body:
    """Split the text of an entry, given as one."""
    first, *lines = text.split("\n")
    return split_body(first, lines)


def _split(first: str, lines: Sequence[str]) -> Body:
    if not lines:
        text = first.rstrip()
        if text.endswith(_CONTEXT_ENDS):
            message, trailing, values = context.split_context(text)
            return Body(context.worded(message.strip(), values), "", trailing)
        if _UNCAUGHT not in text and _REASON not in text and _FILE not in text:
            return Body(text.lstrip())
    everything = [first, *lines]
    tags, untagged = _without_tags(everything)
    trace = read_trace(untagged)
    if trace is None:
        message, trailing, _ = context.split_context("\n".join(everything))
        return Body(message.strip(), "", trailing)
    above = untagged[: trace.begin]
    if trace.intro is not None:
        above[-1:] = [trace.intro]
    message, trailing, _ = context.split_context("\n".join(above))
    message = message.strip()
    if not message and trace.exceptions:
        message = title(trace.exceptions)
    if tags:
        trailing = f"{tags} {trailing}".rstrip()
    return Body(message, "\n".join(untagged[trace.begin :]).strip("\n"), trailing, trace.exceptions)


def _without_tags(lines: list[str]) -> tuple[str, list[str]]:
    """Return the tags that stand in front of most lines, such as those of a request, and the lines without them."""
    if len(lines) < 2 or "[" not in (lines[0][:1], lines[-1][:1]):
        return "", lines
    written = [line for line in lines if line.strip()]
    tagged = [found[0] for line in written if (found := _TAGS.match(line))]
    tags = tagged[0].rstrip() if len(tagged) * 2 > len(written) else ""
    while tags and not all(found.startswith(tags) for found in tagged):
        tags = tags[: tags.rfind("]", 0, -1) + 1]
    if not tags:
        return "", lines
    return tags, [line[len(tags) :].removeprefix(" ") if line.startswith(tags) else line for line in lines]
