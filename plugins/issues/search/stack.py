"""Stack texts without the frames of libraries."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
# For traces that no parser took apart into frames: where package managers and languages put library code.
_LIBRARY = re.compile(
    r"[/\\](?:vendor|node_modules|bower_components|site-packages|dist-packages|gems)[/\\]"
    r"|[/\\]lib[/\\](?:python\d|ruby[/\\])|<frozen |\bnode:|\((?:internal|webpack)[/:]"
    r"|^\s*at (?:javax?|jdk|sun|kotlin|scala|System|Microsoft)\."
)
_FRAME = re.compile(r"\s*(?:at |#\d+ |File \")")


def without_libraries(stack: str | None, exceptions: Sequence[Mapping[str, Any]] | None) -> str | None:
    """Return the stack without the lines of library frames and the source lines quoted below them.

    The parser's frames tell which code is the application's own; a line that is none of them stays,
    unless there are no frames at all: then well-known library folders decide.
    """
    if not stack:
        return stack
    frames = [frame for exception in exceptions or () for frame in exception["frames"]]
    is_library = _Places(frames).are_library if frames else _looks_like_library
    kept: list[str] = []
    dropped_at: int | None = None
    for line in stack.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if dropped_at is not None and indent > dropped_at and not _FRAME.match(line):
            continue
        dropped_at = indent if is_library(line) else None
        if dropped_at is None:
            kept.append(line)
    return "".join(kept)


def _looks_like_library(line: str) -> bool:
    return bool(_LIBRARY.search(line))


class _Places:
    """The files and line numbers of known frames."""

    def __init__(self, frames: Iterable[Mapping[str, Any]]) -> None:
        self._by_line: dict[int, set[tuple[str, bool]]] = defaultdict(set)
        self._unplaced: set[tuple[str, bool]] = set()
        for frame in frames:
            place = frame["file"] or frame["function"]
            if not place:
                continue
            known = self._unplaced if frame["line"] is None else self._by_line[frame["line"]]
            known.add((place, frame["in_app"]))

    def are_library(self, line: str) -> bool:
        numbers = {int(number) for number in _NUMBER.findall(line)}
        candidates = [self._unplaced, *(self._by_line[number] for number in numbers if number in self._by_line)]
        verdicts = [(len(place), in_app) for known in candidates for place, in_app in known if place in line]
        return bool(verdicts) and not max(verdicts)[1]
