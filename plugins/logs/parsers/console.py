"""Everything else: time and level headers of any layout, plain lines, crashes of runtimes."""

import re
from collections.abc import Sequence
from typing import Self

from snaglist.plugins.issues import RANK, Event
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_body
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.heads import NOTHING_KNOWN, Head, Layout, read_head
from snaglist.plugins.logs.parsers.layout import MAX_LINES, learn
from snaglist.plugins.logs.parsers.levels_first import begins_with_level, plain
from snaglist.plugins.logs.parsers.shapes import Shape, shapes_of
from snaglist.plugins.logs.parsers.special import job_head, special_head
from snaglist.plugins.logs.parsers.stamps import SORTABLE
from snaglist.plugins.logs.parsers.traces import follow

_DETAILS = re.compile(r"[^\n]{0,150}?\b((?:DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LOCATION): {2,4})")
# What runtimes print when they die is no part of the line a logger wrote before.
_CRASH = re.compile(
    r"panic: |fatal error: |FATAL ERROR: |Exception in thread \"|Unhandled exception[.:]"
    r"|terminate called after throwing |==\d{1,9}==(?:ERROR|WARNING): "
    r"|thread '[^']{0,200}' (?:\(\d{1,20}\) )?panicked at "
    r"|(?:PHP )?(?:Fatal error|Parse error|Warning|Notice|Deprecated): {1,2}\S"
)
_TRACEBACK = "Traceback (most recent call last):"
# A head that names only where the message comes from; the message is on the next line.
_PLACE = re.compile(r"[\w./\\-]{1,200}:\d{1,7}\([\w:~<>]{1,100}\)\s*$")
_CATEGORY = re.compile(r"[\w.+`]{1,200}\[-?\d{1,9}\]\s*$")
_CLASS = re.compile(r"[\w.$/<>-]{1,200}(?: [\w.$<>/-]{1,200})?\s*$")


class Console(Parser):
    """The floor: any text is a console log.

    `plain` opens entries by lines without a header: in files that have none, after crashes, before the
    first header. In a file whose headers have a level, a line with a time only opens an entry when the
    time has the same form and is not earlier, because a table row in a message begins with a date too.
    """

    log_type = "console"

    def __init__(self) -> None:
        self.layout: Layout = NOTHING_KNOWN
        self.shapes: tuple[Shape, ...] = ()
        self._headed = False
        self._forms: frozenset[str] = frozenset()  # of the headers with a level
        self._last = ("", "")
        self._learned: Sequence[str] | None = None

    def fresh(self) -> Self:
        """Return a parser with the state of one file."""
        return type(self)()

    def prime(self, lines: Sequence[str]) -> None:
        """Learn what the lines of the file have in common."""
        self._last = ("", "")
        if lines is self._learned:
            return
        self._learned = lines
        self.layout = learn(lines)
        self.shapes = ()
        found = [self._read(line) for line in lines[:MAX_LINES]]
        self.shapes = shapes_of(lines[:MAX_LINES], found, self.layout)
        found += [self._read(line) for line in lines[MAX_LINES:]]
        heads = [head for head in found if head is not None]
        loose = sum(1 for line in lines if not follow.continues(line))
        self._headed = bool(heads) and (loose < 200 or len(heads) * 50 >= loose)
        self._forms = frozenset(head.form for head in heads if head.severity and head.form)

    def copy(self) -> "Console":
        """Return a parser that learned the same."""
        other = Console()
        other.adopt(self)
        return other

    def adopt(self, other: "Console") -> None:
        """Take what another one learned."""
        self.layout, self.shapes, self._learned = other.layout, other.shapes, other._learned
        self._headed, self._forms = other._headed, other._forms

    def reads(self, line: str) -> bool:
        """Tell whether a line is a header, without remembering it."""
        head = self._read(line)
        return head is not None and (head.severity != "" or not self._forms or head.form in self._forms)

    def _read(self, line: str) -> Head | None:
        for shape in self.shapes:
            head = shape.read(line)
            if head is not None:
                return head
        head = special_head(line)
        if head is not None:
            return head
        if line[:1] == " " and self.layout.indents:
            text = line.lstrip(" ")
            if len(line) - len(text) in self.layout.indents:
                line = text
        head = read_head(line, self.layout)
        if head is None:
            return plain(line) if self.layout.level_first and begins_with_level(line) else None
        if not head.severity and head.message[:1] == "[":
            return job_head(head.message, head.form, head.stamp, 0) or head
        return head

    def header(self, line: str) -> Head | None:
        """Read a time and, in most files, a level."""
        head = self._read(line)
        if head is None:
            return None
        if head.severity:
            if head.stamp:
                self._last = (head.form, head.stamp)
            if head.spelled in ("DETAIL", "HINT"):
                return None
        elif _DETAILS.match(head.message) or self._is_row(head):
            return None
        return head

    def _is_row(self, head: Head) -> bool:
        """Tell whether a time without a level belongs to the text of an entry."""
        if not self._forms:
            return False
        form, stamp = self._last
        return head.form not in self._forms or (head.form in SORTABLE and head.form == form and head.stamp < stamp)

    def foreign(self, line: str) -> Head | None:
        """Require time and level."""
        head = self._read(line)
        return head if head is not None and head.severity and head.form else None

    def within(self, line: str) -> Head | None:
        """Read the header of a line that was wrapped: whatever stands around it sets its entries apart."""
        head = self._read(line)
        return head if head is None or head.severity or not _DETAILS.match(head.message) else None

    def opens(self, line: str, severity: str, state: str) -> bool:
        """Tell whether a line without a header opens an entry after one of that severity and trace state."""
        if not self._headed and line.startswith(_TRACEBACK):
            return state != "" or not severity or RANK[severity] > RANK["ERROR"]
        if not self._headed or _CRASH.match(line) is not None or follow.is_node_crash(line):
            return True
        quiet = bool(severity) and RANK[severity] > RANK["WARNING"]
        return quiet and not state and line.startswith(_TRACEBACK)

    def event(self, header: Head, lines: Sequence[str], clock: Clock) -> Event:
        """Split message, trace and context."""
        time = clock.read(header.form, header.stamp) if header.form else ""
        if lines and lines[-1].endswith("|#]"):  # of GlassFish
            lines = [*lines[:-1], lines[-1][:-3]]
        header, lines = _next_line(header, lines)
        lines, companions = _without_companions(lines)
        body = split_body(header.message, lines)
        severity = header.severity
        if not severity and header.form:
            severity = plain(header.message).severity
        if body.severity and (not severity or RANK[body.severity] < RANK[severity]):
            severity = body.severity
        crashed = len(lines) > 2 and follow.is_node_crash(header.message)
        source = "line" if severity else ""
        if not severity and crashed:
            severity, source = "ERROR", "trace"
        return Event(
            body.message,
            severity=severity,
            level_source=source,
            occurred_at=time,
            channel=header.channel,
            exceptions=body.exceptions,
            stack=body.stack,
            context=_joined(header.context, body.context, companions),
        )


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _without_companions(lines: Sequence[str]) -> tuple[Sequence[str], str]:
    """Split off the lines in which PostgreSQL says more of an error: each has the head of the error in front."""
    for index, line in enumerate(lines):
        if _DETAILS.match(line):
            said = [line[found.start(1) :] if (found := _DETAILS.match(line)) else line for line in lines[index:]]
            return lines[:index], "\n".join(said)
    return lines, ""


def _next_line(header: Head, lines: Sequence[str]) -> tuple[Head, Sequence[str]]:
    """Where the header only names its source, take the message, and a level in front of it, from the next line."""
    if not lines:
        return header, lines
    message, first = header.message.strip(), lines[0].strip()
    if not first:
        return header, lines
    if not header.severity and header.form and (not message or _CLASS.fullmatch(message)):
        second = plain(first)
        if second.severity and (not message or begins_with_level(first)):
            channel = message.partition(" ")[0] or header.channel
            return Head(header.form, header.stamp, second.severity, second.message, channel, header.context), lines[1:]
    below = lines[0][:1] in (" ", "\t")
    if not message or (below and (_PLACE.match(message) or _CATEGORY.fullmatch(message))):
        named = _CATEGORY.fullmatch(message)
        channel = message.partition("[")[0] if named else header.channel
        severity = header.severity
        context = " ".join(part for part in (header.context, "" if named else message) if part)
        return Head(header.form, header.stamp, severity, first, channel, context), lines[1:]
    return header, lines
