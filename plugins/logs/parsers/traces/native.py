"""Frames of C, C++, Objective-C and Swift as servers, sanitizers, debuggers and C libraries print them."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_ADDRESS = r"0x[0-9a-fA-F]{1,18}"
_AT = r"(?P<file>[^\s:()]{1,500}):(?P<line>\d{1,9})"
_FRAMES = tuple(
    re.compile(pattern)
    for pattern in (
        # 0. file.cpp:12: fn(args) @ 0x1 in /usr/bin/x
        rf"\s*\d{{1,4}}\. (?:{_AT}: )?(?P<name>.{{1,2000}}?) @ {_ADDRESS}",
        # #0  0x1 in fn (args) at file.c:12; #0 0x1 in fn file.c:12:3; #1 0x1 fn (/lib/x.so+0x1); #1 0x1 in fn from x.so
        rf"\s*#\d{{1,5}} {{1,8}}{_ADDRESS} (?:in )?(?P<name>.{{1,2000}}?)"
        rf"(?:(?: at)? {_AT}(?::\d{{1,9}})?| from \S+| \([^()]{{1,500}}\+{_ADDRESS}\).*)?\s*$",
        # #1  fn (args) at file.c:12
        rf"\s*#\d{{1,5}} {{1,8}}(?P<name>[^\s(#][^\n(]{{0,500}}) \(.{{0,2000}}\) at {_AT}\s*$",
        # /lib/x.so(fn+0x12)[0x1], /usr/bin/x() [0x1]
        rf"\s*(?:\d{{1,4}}: )?(?P<library>[^\s()\[\]]{{1,500}})"
        rf"\((?P<name>\S{{0,1000}}?)(?:\+{_ADDRESS})?\) ?\[{_ADDRESS}\]\s*$",
        #     @ 0x1 fn(args)
        rf"\s{{1,20}}@ {{1,20}}{_ADDRESS} {{1,4}}(?P<name>\S.*)$",
        # 3   Library   0x1 -[Class method:] + 123
        rf"\s*\d{{1,4}} {{1,6}}(?P<library>\S.{{0,60}}?) {{1,60}}{_ADDRESS} (?P<name>.{{1,1000}}?)"
        rf" \+ \d{{1,12}}(?: \({_AT}\))?\s*$",
        # 3: 0x1 fn(args) [program]
        rf"\s*\d{{1,4}}: {_ADDRESS} (?P<name>.{{1,1000}}?) \[[^\[\]]{{1,300}}\]\s*$",
        #  0# fn(args) at file.cpp:12, 0# fn(args) in /usr/bin/x
        rf"\s*\d{{1,4}}# (?P<name>.{{1,1000}}?)(?: at {_AT}| in \S+)\s*$",
    )
)
_TERMINATED = re.compile(r"terminate called after throwing an instance of '([^']{1,300})'")
_WHAT = re.compile(r"\s{1,8}what\(\):  ?(.*)$")
_HEADS = tuple(
    re.compile(pattern)
    for pattern in (
        r"uncaught exception '(?P<type>[^']{1,300})', reason: '(?P<message>.*)'",
        r"ERROR: (?P<type>\w{1,40}Sanitizer: [\w-]{1,100})(?P<message>.*)",
        r"(?:^|[\s:])(?P<type>(?:[A-Za-z_]\w{0,100}::){1,8}\w{0,100}(?:[Ee]xception|[Ee]rror)\w{0,40}): "
        r"(?P<message>.*)",
    )
)
_STACK_WORDS = re.compile(
    r"(?:,? ?(?:\*{3} )?(?:[Ss]tack ?trace|[Bb]acktrace|First throw call stack|[Cc]all stack|JS stacktrace)"
    r"(?: \([^()]{0,200}\))?:?[\s(]*|-{3,40}\s{0,8}(?:begin|BEGIN|stack|STACK|JS)[^\n]{0,60}-{3,40}"
    r"|\*{3} Check failure stack trace: \*{3}|[\s(]*)$"
)
_LIBRARY = (
    "std::", "__", "boost::", "libc", "libstdc++", "libsystem", "CoreFoundation", "UIKit", "Foundation", "AppKit",
    "abort", "raise", "libswift", "libobjc", "google::", "operator new", "start_thread", "clone", "??",
)  # fmt: skip
_MAX_HEAD_LINES = 12


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    first = line.lstrip()[:1]
    if "0x" in line and (first.isdigit() or first in ("#", "@") or "[0x" in line):
        return any(frame.match(line) for frame in _FRAMES)
    if first == "#" and " at " in line:
        return _FRAMES[2].match(line) is not None
    return "terminate called after throwing" in line


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read the frames and, from the lines above, what was raised."""
    terminated = _TERMINATED.search(lines[index][:2000])
    if terminated:
        what = next((found[1] for line in lines[index + 1 : index + 4] if (found := _WHAT.match(line))), "")
        return finish(index, [ExceptionInfo(terminated[1], what, _frames(lines[index + 1 :]))])
    begin, intro = index, None
    while begin and not lines[begin - 1].strip(" \t("):
        begin -= 1
    if begin:
        intro = _STACK_WORDS.sub("", lines[begin - 1][-4000:]).rstrip() if len(lines[begin - 1]) <= 4000 else None
        if not intro and begin > 1:
            begin, intro = begin - 1, None  # the line said only that a stack follows
    for above in range(index - 1, max(-1, index - 1 - _MAX_HEAD_LINES), -1):
        for head in _HEADS:
            found = head.search(lines[above][:4000])
            if found:
                message = _STACK_WORDS.sub("", found["message"]).strip()
                raised = ExceptionInfo(found["type"], message, _frames(lines[index:]))
                return finish(begin, [raised], intro or None)
    return Trace(begin, intro=intro or None)


def _frames(lines: Sequence[str]) -> list[Frame]:
    frames: list[Frame] = []
    for line in lines:
        found = next((found for pattern in _FRAMES if (found := pattern.match(line))), None)
        if found is None:
            continue
        groups = found.groupdict()
        name = (groups["name"] or "").strip() or None
        file, row = groups.get("file"), groups.get("line")
        library = groups.get("library") or ""
        in_app = not (name or "??").startswith(_LIBRARY) and not library.rpartition("/")[2].startswith(_LIBRARY)
        frames.append(Frame(name, file, number(row), None, in_app=in_app))
    return frames
