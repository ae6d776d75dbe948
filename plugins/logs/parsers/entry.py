"""An entry under construction, with a bound on what it holds."""

from collections import deque
from typing import Any, Final

from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.lines import Line

MAX_BETWEEN: Final = 50  # lines of other streams within an entry


class Entry:
    """The lines of one event while they come in.

    Of an entry over the limit the first seven eighths and the last lines are kept.
    """

    __slots__ = (
        "_dropped",
        "_end_limit",
        "_room",
        "_tail",
        "_tail_size",
        "bare",
        "blank",
        "closed",
        "column",
        "cut",
        "end",
        "header",
        "lines",
        "open",
        "parser",
        "partial",
        "severity",
        "start",
        "state",
        "stream",
        "text",
        "touched",
    )  # fmt: skip

    def __init__(self, parser: Parser, header: Any, line: Line, limit: int, stream: str = "") -> None:
        self.parser = parser
        self.header = header
        self.text = line.text
        self.start = line.start
        self.end = line.end
        self.cut = line.cut
        self.lines: list[str] = []
        self.severity = ""  # as far as the header says it
        self.state = ""  # of the trace that the last line belongs to
        self.partial = False  # the last line goes on
        self.stream = stream  # lines of other streams may stand between its own
        self.touched = 0  # the number of the line that it took last
        self.closed = False
        self.blank = False  # nothing but blanks was said so far
        self.bare = False  # a line without a header went on with it
        self.column = 0  # where the message begins in the first line
        self.open = parser.incomplete(line.text, False)  # the format says that it is not at its end
        self._room = limit - len(line.text)
        self._end_limit = limit // 8  # of what is kept of the end
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    def outlasts(self, number: int) -> bool:
        """Tell whether lines may still go on with it once line `number` opened an entry of another stream."""
        if self.partial:
            return True
        header = self.header
        if type(header) is Wrapped:
            return not self.stale(number) and (self.state != "" or not header.each)
        return self.stream != "" and not self.stale(number)

    def stale(self, number: int) -> bool:
        """Tell whether too many lines of others have passed."""
        return number - self.touched > MAX_BETWEEN

    def add(self, text: str, line: Line) -> None:
        """Append a line."""
        self.blank = self.blank and not text.strip()
        self.end = line.end
        if line.cut:
            self.cut = True
        size = len(text) + 1
        if size <= self._room - self._end_limit and not self._tail:
            self._room -= size
            self.lines.append(text)
            return
        self._tail.append(text[: self._end_limit])
        self._tail_size += min(size, self._end_limit)
        while self._tail_size > self._end_limit:
            self._tail_size -= len(self._tail.popleft()) + 1
            self._dropped += 1

    def extend(self, text: str, line: Line) -> None:
        """Append to the last line."""
        self.end = line.end
        if self._tail:
            self._tail[-1] = (self._tail[-1] + text)[: self._end_limit]
        elif len(text) > self._room:
            self.cut = True
        elif self.lines:
            self.lines[-1] += text
            self._room -= len(text)
        else:
            self.header.text += text
            self._room -= len(text)

    def body(self) -> list[str]:
        """Return the lines below the header; a note stands for what was dropped."""
        if not self._dropped:
            return [*self.lines, *self._tail] if self._tail else self.lines
        self.cut = True
        return [*self.lines, f"    … {self._dropped} lines omitted …", *self._tail]
