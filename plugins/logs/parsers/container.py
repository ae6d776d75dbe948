"""Lines of container runtimes: `time stream P|F text`, and JSON objects with `log`, `stream` and `time`."""

import re

from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.context import load

_HEADER = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([PF])(?::[^ ]{1,40})?(?: |$)",
    re.ASCII,
)


class Container(Parser):
    """Both notations of container runtimes. Parts are joined; the text within is framed as a file of its own."""

    log_type = "container"
    begins = "{0123456789"

    def header(self, line: str) -> Wrapped | None:
        """Read time, stream and text."""
        if line[:1] == "{":
            return _from_json(line)
        found = _HEADER.match(line)
        if found is None:
            return None
        time, stream, mark = found.groups()
        return Wrapped(line[found.end() :], ("iso", time), stream, mark == "P", each=False)


def _from_json(line: str) -> Wrapped | None:
    if '"log"' not in line or '"stream"' not in line:
        return None
    value = load(line)
    if not isinstance(value, dict) or value.get("stream") not in ("stdout", "stderr"):
        return None
    text, time = value.get("log"), value.get("time")
    if not isinstance(text, str):
        return None
    stamp = ("iso", time) if isinstance(time, str) and time[4:5] == "-" else ("", "")
    return Wrapped(text.rstrip("\r\n"), stamp, value["stream"], not text.endswith("\n"), each=False)
