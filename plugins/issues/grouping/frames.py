"""Stack frames as parts of the key: the same place in the program gives the same text.

Absolute prefixes, releases, package versions, hashes, line numbers and generated numbers go; anonymous
functions keep the name around them.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from snaglist.plugins.issues.events import ExceptionInfo, Frame
from snaglist.plugins.issues.grouping.paths import program_path

MAX_FRAMES = 8
_SCAN = 1000  # a deeper stack repeats itself
_TEXT = 1000  # longer names and paths are cut
_MEMO_SIZE = 4096  # the places of a program come again and again

_NO_FILE = frozenset(
    ("unknown source", "native method", "native code", "native", "<unknown>", "unknown", "<anonymous>", "?", "??")
)
_LINE = re.compile(r"(?:(?::\d+){1,2}|\(\d+\)|[:,] ?[^\W\d]{1,12} \d+)\Z")
_SCRIPT = re.compile(r"\.(?:[cm]?js|[jt]sx?|[cm]ts|vue|svelte)\Z", re.IGNORECASE)

# Each rule: what a runtime generates, what stands for it, and whether the function is anonymous.
_RULES: tuple[tuple[re.Pattern[str], str, bool], ...] = tuple(
    (re.compile(pattern), replacement, anonymous)
    for pattern, replacement, anonymous in (
        (r"\+0x[0-9a-fA-F]+(?:/0x[0-9a-fA-F]+)?\Z", "", False),
        (r"::h[0-9a-f]{16}\Z", "", False),
        (r"<(\w+)>d__\d+(?:`\d+)?\.MoveNext", r"\1", False),
        (r"(?:<>c(?:__DisplayClass\d+_\d+)?\.)?<(\w+)>b__[\d_]+", r"\1.<lambda>", True),
        (r"<(\w+)>g__(\w+)\|[\d_]+", r"\1.\2", False),
        (r"`\d+", "", False),
        (r"\$\$Lambda(?:\$\d+)?(?:/(?:0x[0-9a-fA-F]+|\d+))?", ".<lambda>", True),
        (r"\blambda\$(\w+?)\$\d+", r"\1.<lambda>", True),
        (r"\blambda\$\d+", "<lambda>", True),
        (r"_\$\$_\w+", "$$", False),
        (r"\$(HibernateProxy|ByteBuddy|MockitoMock)\$\w+", r"$\1", False),
        (r"\b(Generated\w{0,40}Accessor)\d+", r"\1", False),
        (r"\$\$[A-Za-z]\w*(?:\$\$[0-9a-zA-Z]+)?", "$$", False),
        (r"\$Proxy\d+", "$Proxy", False),
        (r"\$(\d+)(?=[.$]|\Z)", "$<anonymous>", True),
        (r"\.func\d+(?:\.\d+)*(?:-range\d+)?\b", ".<lambda>", True),
        (r"class@anonymous[^\s>:-]*(?:[:$][\w$]*)?", "class@anonymous", True),
        (r"\{closure:([^}]*?)(?::\d+)?\}", r"{closure:\1}", True),
        (r"\{\{?closure\}?\}(?:#\d+)?", "{closure}", True),
        (r"\{\{?vtable\.shim\}?\}", "", False),
        (r"<lambda(?:_[0-9a-f]+)?>", "<lambda>", True),
        (r"<(?:anonymous(?: function)?|unnamed)>|\(anonymous(?: function)?\)", "<anonymous>", True),
        (r"\A(?:block (?:\(\d+ levels?\) )?in|rescue in|ensure in) ", "", False),
        (r"_{1,3}\d{6,}(?:_\d+)*\Z", "", False),
        (r"0x[0-9a-fA-F]+", "", False),
        (r"(?<=[A-Za-z])\d{2,}(?=[.(]|\Z)", "", False),
    )
)
_SCRIPT_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\A(?:async |new |get |set |bound )+"), ""),
    (re.compile(r" \[as [^\]]*\]\Z"), ""),
    (re.compile(r"/?<\Z"), ""),
    (re.compile(r"\A.*[./](?=[^./])"), ""),
)
_SCRIPT_ANONYMOUS = frozenset(("", "?", "anonymous", "<anonymous>", "global code", "eval code", "eval"))
_HELPER = re.compile(
    r"(?:\A|[.:>\\#_])(?:fail|throw|raise|assert|abort|panic|die|error|expect|ensure|check|guard)(?=[A-Z_]|\Z)\w*\Z"
)
_ARGUMENTS = re.compile(r"(?<=\w)\([^()]{0,500}\)\Z")


@lru_cache(_MEMO_SIZE)
def function_name(name: str | None, file: str) -> tuple[str, bool]:
    """Return the stable form of a function's name, and whether the function is anonymous or generated."""
    text = (name or "").strip()[:_TEXT]
    if _SCRIPT.search(file):
        return _script_function(text)
    text = _ARGUMENTS.sub("", text)
    anonymous = False
    for pattern, replacement, is_anonymous in _RULES:
        text, count = pattern.subn(replacement, text)
        anonymous = anonymous or bool(count and is_anonymous)
    return text, anonymous or (not text and not file)


def _script_function(text: str) -> tuple[str, bool]:
    for pattern, replacement in _SCRIPT_RULES:
        text = pattern.sub(replacement, text)
    if text.lower() in _SCRIPT_ANONYMOUS:
        return "<anonymous>", True
    return text, False


@lru_cache(_MEMO_SIZE)
def file_name(path: str | None) -> str:
    """Return the part of a frame's file that is the same on every machine and for every release."""
    text = (path or "").strip()[:_TEXT]
    text = _LINE.sub("", text)
    if text.lower() in _NO_FILE or text.startswith("<"):
        return ""
    return program_path(text)


def is_helper(function: str) -> bool:
    """Tell whether a function is by its name one that only raises for others."""
    return bool(_HELPER.search(function))


class ExceptionParts:
    """What one exception of the chain adds to the key."""

    __slots__ = ("frames", "type", "vague")

    def __init__(self, exception: ExceptionInfo) -> None:
        self.type = exception.type.strip()[:_TEXT]
        usable = [frame for frame in exception.frames[:_SCAN] if frame.function or frame.file]
        chosen = [frame for frame in usable if frame.in_app] or usable
        self.frames, self.vague = _frames(chosen)

    def text(self) -> str:
        """Return the exception as it stands in the key."""
        return f"{self.type}@{'>'.join(self.frames)}" if self.frames else self.type


def _frames(frames: Sequence[Frame]) -> tuple[list[str], bool]:
    """Return the frames, each place once, and whether the deciding one says too little alone.

    A place that comes again is recursion or a cycle: how often it came round is no difference.
    """
    places: dict[str, None] = {}
    vague = False
    for frame in frames:
        file = file_name(frame.file)
        function, anonymous = function_name(frame.function, file)
        place = f"{function}:{file}" if function and file else function or file
        if not place:
            continue
        if not places:
            vague = anonymous or is_helper(function)
        places[place] = None
        if len(places) == MAX_FRAMES:
            break
    return list(places), vague
