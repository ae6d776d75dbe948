"""What a log format is: the class that built-in and third-party parsers implement."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers.clock import Clock


@dataclass(slots=True)
class Wrapped:
    """A line that carries another log's line: what the wrapper says, and the inner text to parse again.

    Lines of one `key` may belong together. `partial`: the inner line goes on in the next of that key.
    `each`: an inner line that continues nothing is an entry, as one syslog line is; otherwise the inner
    text is framed like a file of its own.
    """

    text: str
    stamp: tuple[str, str] = ("", "")
    key: str = ""
    partial: bool = False
    each: bool = True
    severity: str = ""
    channel: str = ""
    server_name: str | None = None
    context: str = ""
    # The text that the reader has looked into, and what it found: a parser and its header.
    seen: str | None = field(default=None, init=False, repr=False, compare=False)
    found: tuple[Any, Any] | None = field(default=None, init=False, repr=False, compare=False)


# A header value for lines that are no content: directives of the format, which end the entry before them.
DIRECTIVE: Final = object()


class Parser:
    """One log format.

    A parser tells which lines open an entry, and makes an event of an entry. The reader does the
    rest: it frames entries, keeps byte ranges, cuts what is too long and fills in what the format
    does not say (time, severity, channel).
    """

    log_type: ClassVar[str] = ""
    family: ClassVar[str] = "text"
    # Whether lines that are no header belong to the entry before them; else each stands for itself.
    multiline: ClassVar[bool] = True
    # The characters that a header in a file of another format begins with one of, "" for any: other lines do not come
    # to `foreign`.
    begins: ClassVar[str] = ""
    # Whether somebody made it for these very logs: then it goes before the others.
    own: ClassVar[bool] = False

    def fresh(self) -> Self:
        """Return the parser for one file; a format with directives in the file returns a copy with own state."""
        return self

    def prime(self, lines: Sequence[str]) -> None:
        """Learn from the first lines of the file, called once before anything else."""

    def header(self, line: str) -> Any | None:
        """Return what a line says that opens an entry (or `Wrapped`, or `DIRECTIVE`), None for any other line.

        A header is complete: a date, a bracket or a level word within a message is none. This is the
        hot path; it must take linear time on any line.
        """
        raise NotImplementedError

    def foreign(self, line: str) -> Any | None:
        """Return the same in a file of another format, where less may be assumed."""
        return self.header(line)

    def incomplete(self, line: str, before: bool) -> bool:
        """Tell whether an entry is still open behind a line of it, such as within quotes; `before`: it was in front.

        While it is, every line that is no header of the format belongs to it, whatever it looks like.
        """
        return False

    def event(self, header: Any, lines: Sequence[str], clock: Clock) -> Event:
        """Make the event of an entry: the header and the lines below it, without line ends, none when looking ahead.

        Not called of a header that is `Wrapped`: the reader parses what is within.
        Leave `occurred_at` and `severity` empty when the entry does not say them.
        """
        raise NotImplementedError
