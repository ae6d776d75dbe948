"""Languages whose traces are one line for each frame below what was raised: Perl, Lua, Dart, Haskell, R."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_MAX_HEAD_LINES = 10


@dataclass(frozen=True, slots=True)
class Language:
    """How one language prints a trace.

    `start` is a line that only its traces have, `within` a part of it that is quick to look for. `frame` and `heads`,
    what a line above the trace says that was raised, have the groups `type`, `message`, `name`, `file`, `line` and
    `column`, as far as they are printed; `raised` is the class where none is named. `calls`: a frame tells where its
    function was called, not where it was.
    """

    within: str
    start: re.Pattern[str]
    frame: re.Pattern[str]
    heads: tuple[re.Pattern[str], ...]
    raised: str
    library: tuple[str, ...] = ()
    calls: bool = False
    outermost_first: bool = False


LANGUAGES = (
    Language(  # Perl: Carp's stacks
        " called at ",
        re.compile(r"\s+\S.{0,2000} called at \S.{0,500} line \d{1,9}\.?\s*$"),
        re.compile(r"\s+(?P<name>[\w:]{1,300}).{0,2000} called at (?P<file>\S.{0,500}) line (?P<line>\d{1,9})\.?\s*$"),
        (re.compile(r"(?P<message>.{1,4000}) at (?P<file>\S{1,500}) line (?P<line>\d{1,9})\.?\s*$"),),
        "die",
        ("/usr/share/perl", "/usr/lib/perl", "/usr/local/share/perl", "/usr/lib/x86_64-linux-gnu/perl"),
        calls=True,
    ),
    Language(  # Lua
        "stack traceback:",
        re.compile(r"\s*stack traceback:\s*$"),
        re.compile(
            r"\s+(?P<file>\[string \"[^\"]{0,300}\"\]|\[\w{1,20}\]|[^\s:]{1,500})(?::(?P<line>\d{1,9}))?: in "
            r"(?:(?:function|method|upvalue|local|field|global|metamethod) )?['<]?(?P<name>[^'<>]{1,300})"
        ),
        (re.compile(r"(?:^|[\s:])(?:\[string \"[^\"]{0,300}\"\]|[^\s:]{1,300}\.lua):\d{1,9}: (?P<message>.*)$"),),
        "error",
        ("[C]", "[builtin"),
    ),
    Language(  # Dart and Flutter
        "#",
        re.compile(r"\s*#\d{1,5} {1,8}\S.{0,1000} \((?:package|dart|file):"),
        re.compile(
            r"\s*#\d{1,5} {1,8}(?P<name>.{1,1000}?) \((?P<file>(?:package|dart|file):[^\s()]{1,500}?)"
            r"(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?\)\s*$"
        ),
        (
            re.compile(r"The following (?P<type>_?[A-Z]\w{0,200}) was thrown(?P<message>.*)$"),
            re.compile(
                r"(?:^|[\s:])(?P<type>_?[A-Z]\w{0,200}(?:Exception|Error))(?: \([^()]{0,200}\))?: (?P<message>.*)$"
            ),
            re.compile(r"Unhandled [Ee]xception: (?P<message>.+)$"),
        ),
        "Exception",
        ("dart:", "package:flutter/"),
    ),
    Language(  # Haskell
        "CallStack (from ",
        re.compile(r"\s*CallStack \(from "),
        re.compile(
            r"\s+(?P<name>\S{1,300}), called at (?P<file>[^\s:]{1,500}):(?P<line>\d{1,9}):(?P<column>\d{1,9})(?: in |$)"
        ),
        (re.compile(r"(?P<message>\S.*)$"),),
        "error",
        calls=True,
    ),
    Language(  # R
        "Calls: ",
        re.compile(r"Calls: \S.{0,1000} -> "),
        re.compile(r"(?:Calls:|->) (?P<name>[\w.:$]{1,300})"),
        (re.compile(r"Error(?: in .{1,500}?)? ?: (?P<message>.*)$"), re.compile(r"Error in (?P<message>.*)$")),
        "error",
        outermost_first=True,
    ),
)


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    return _language(line) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read what was raised, in a line above, and the frames."""
    language = _language(lines[index])
    if language is None:
        return None
    frames: list[Frame] = []
    for line in lines[index:]:
        for found in language.frame.finditer(line):
            frames.append(_frame(found, language))
    if language.outermost_first:
        frames.reverse()
    for above in range(index - 1, max(-1, index - 1 - _MAX_HEAD_LINES), -1):
        for pattern in language.heads:
            said = pattern.search(lines[above][:8000])
            if said:
                return _raised(lines, above, index, said, frames, language)
    return Trace(index)  # nobody said what was raised


def _language(line: str) -> Language | None:
    for language in LANGUAGES:
        if language.within in line and language.start.match(line):
            return language
    return None


def _raised(
    lines: Sequence[str], above: int, index: int, found: re.Match[str], frames: list[Frame], language: Language
) -> Trace | None:
    said = found.groupdict()
    message = "\n".join([said["message"] or "", *lines[above + 1 : index]])
    if language.calls:
        frames = _moved(frames, _frame(found, language) if said.get("file") else None)
    raised = ExceptionInfo(said.get("type") or language.raised, message, frames)
    if not said.get("type"):
        return finish(index, [raised])  # without a class the words are all there is to tell
    if found.start():
        return finish(above + 1, [raised], lines[above][: found.start()].rstrip(" :->") or None)
    return finish(above - (above > 0 and lines[above - 1] == "Unhandled exception:"), [raised])


def _moved(frames: Sequence[Frame], thrown: Frame | None) -> list[Frame]:
    """Give each place the function that it is in: a function is printed with the place of its call."""
    names = [frame.function for frame in frames]
    places = [thrown, *frames] if thrown else list(frames)
    functions = [*names, None] if thrown else [*names[1:], None]
    return [
        Frame(function, place.file, place.line, place.column, place.in_app)
        for function, place in zip(functions, places, strict=True)
    ]


def _frame(found: re.Match[str], language: Language) -> Frame:
    said = found.groupdict()
    file = said.get("file")
    in_app = not language.library or not (file or "").startswith(language.library)
    return Frame(said.get("name"), file, number(said.get("line")), number(said.get("column")), in_app=in_app)
