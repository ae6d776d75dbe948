"""Stack traces of common languages: where they begin in an entry, and what they say.

Each language is one module with `starts(line)`, which knows a line that only this language's traces
have, and `read(lines, index)`, which gets the index of the first such line and returns a `Trace`.
"""

from collections.abc import Callable, Sequence

from snaglist.plugins.issues import ExceptionInfo
from snaglist.plugins.logs.parsers.traces import (
    beam,
    dotnet,
    go,
    java,
    javascript,
    languages,
    native,
    php,
    powershell,
    python,
    python_drawn,
    ruby,
    rust,
)
from snaglist.plugins.logs.parsers.traces.trace import Trace

_READERS: tuple[tuple[Callable[[str], bool], Callable[[Sequence[str], int], Trace | None]], ...] = tuple(
    (module.starts, module.read)
    for module in (
        python,
        python_drawn,
        java,
        javascript,
        dotnet,
        powershell,
        languages,
        native,
        php,
        ruby,
        go,
        rust,
        beam,
    )
)  # frames with a number in front come before those of PHP, which say the least


_MAX_TRIES = 50  # an entry of one trace has few lines that look like the beginning of another


def read_trace(lines: Sequence[str]) -> Trace | None:
    """Find the first trace in the lines of an entry and read it.

    Each try may read on to the last line, so that an entry of nothing but beginnings gets a bounded number of them.
    """
    tries = 0
    for index, line in enumerate(lines):
        for starts, read in _READERS:
            if starts(line):
                trace = read(lines, index)
                if trace is not None:
                    return trace
                tries += 1
                if tries == _MAX_TRIES:
                    return None
    return None


def title(exceptions: Sequence[ExceptionInfo]) -> str:
    """Return the message of an entry that is nothing but a trace."""
    main = exceptions[-1]
    return f"{main.type}: {main.message}" if main.message else main.type


__all__ = ["Trace", "read_trace", "title"]
