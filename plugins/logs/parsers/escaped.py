"""Lines that somebody wrote on one line: `#012` of syslog daemons, `\\n` of loggers, where the text has lines."""

import re

from snaglist.plugins.logs.parsers.traces import follow

# How a line feed and a tab are written. A return before a line feed belongs to it.
_STYLES = (("#012", "#011", "#015"), ("\\012", "\\011", "\\015"), ("\\n", "\\t", "\\r"))
_COLOUR = re.compile(r"#033\[[0-9;]{0,20}m")


def unescape_lines(text: str) -> str:
    """Return the text with its lines, when what stands behind an escaped line feed is of a trace or indented.

    Anything else that looks like an escape is text: a number, a part of a path.
    """
    for feed, tab, carriage in _STYLES:
        if feed in text:
            expanded = text.replace(carriage + feed, feed).replace(feed, "\n").replace(tab, "\t")
            if _has_lines(expanded):
                return _COLOUR.sub("", expanded) if feed == "#012" else expanded
    return text


def _has_lines(text: str) -> bool:
    first, *below = text.split("\n")
    if first[-1:].isspace():
        return False  # a word of a sentence: a line is not written with a blank at its end
    if follow.begins(first) and any(below):
        return True
    return any(line.startswith(("\t", "  ")) or follow.is_trace(line) for line in below)
