"""What is said of a file's layout to people: a sentence, its parts, and the expressions that its headers match."""

import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

from snaglist.plugins.issues import RANK
from snaglist.plugins.logs.parsers.base import Parser, Wrapped
from snaglist.plugins.logs.parsers.console import Console
from snaglist.plugins.logs.parsers.formats import Formats
from snaglist.plugins.logs.parsers.heads import MAX_TOKENS, Head, tokens
from snaglist.plugins.logs.parsers.layout import MAX_LINES, find_time

MAX_LEVELS: Final = 8  # spellings that are named
PLAIN: Final = "plain text"
MAX_DEPTH: Final = 3  # of wrappers within wrappers
_WRAPPERS: Final = {
    "prefixed": "a name in front of each line",
    "container": "a container runtime",
    "journal": "the journal",
    "json": "a shipper's JSON",
}


def describe(formats: Formats, parsers: Sequence[Parser], depth: int = 0) -> dict[str, Any] | None:
    """Return where the lines of a file have what, None of a file without lines.

    `sentence` is for people; `format` names the parser; `wrapper` lists what stands around the lines, the outermost
    first; `time` and `level`: an example or the spellings, the position counted from 1, and the percentage of lines;
    `expressions` match frequent headers.
    """
    if formats.wrapped and depth < MAX_DEPTH:
        texts = [header.text for header in formats.wrapped[:MAX_LINES]]
        within = describe(Formats(parsers, texts, None), parsers, depth + 1)
        return _behind(formats.primary.log_type, formats.wrapped, within)
    lines = [line for line in formats.sample if line.strip()][:MAX_LINES]
    if not lines:
        return None
    if not isinstance(formats.primary, Console):
        return {"sentence": f"format: {formats.primary.log_type}", "format": formats.primary.log_type}
    return _of_console(formats, lines)


def _behind(log_type: str, wrapped: Sequence[Wrapped], within: dict[str, Any] | None) -> dict[str, Any]:
    streams = len({header.channel or header.key for header in wrapped})
    time = next((header.stamp[1] for header in wrapped if header.stamp[0]), "")
    timed = f" (time: {time})" if time else ""
    name = f"behind {_WRAPPERS.get(log_type, log_type)}{timed}, {'1 stream' if streams == 1 else f'{streams} streams'}"
    wrapper = {"format": log_type, "streams": streams, "time": time}
    within = within or {"sentence": PLAIN}
    return {
        **within,
        "sentence": f"{name} · {within['sentence']}",
        "wrapper": [wrapper, *within.get("wrapper", ())],
    }


def _of_console(formats: Formats, lines: Sequence[str]) -> dict[str, Any]:
    console = copy.copy(formats.console)  # the reader's own one remembers the last time that it read
    console.prime(formats.sample)
    found = [(line, head) for line in lines if (head := console.header(line)) is not None]
    timed = [(line, head) for line, head in found if head.form]
    levelled = [(line, head) for line, head in found if head.spelled]
    parts: dict[str, Any] = {"format": console.log_type}
    sentence: list[str] = []
    if timed:
        example, position = timed[0][1].stamp, _usual(_place_of_time(line) for line, _ in timed)
        parts["time"] = {"example": example, "position": position, "share": _percent(len(timed), len(lines))}
        sentence.append(f"time: {example}, position {position}, {parts['time']['share']} % of lines")
    if levelled:
        position = _usual(_place_of_level(line, head) for line, head in levelled)
        spelled = Counter(head.spelled for _, head in levelled)
        severities = {head.spelled: RANK[head.severity] for _, head in levelled}
        values = sorted((value for value, _ in spelled.most_common(MAX_LEVELS)), key=lambda one: (severities[one], one))
        parts["level"] = {"values": values, "position": position, "share": _percent(len(levelled), len(lines))}
        sentence.append(f"level: {f'position {position}, ' if position else ''}{' '.join(values)}")
    if not sentence:
        sentence.append(PLAIN)
    elif len(found) < len(lines):
        parts["continuation"] = _percent(len(lines) - len(found), len(lines))
        sentence.append(f"{parts['continuation']} % continuation")
    if console.shapes:
        parts["expressions"] = [shape.readable for shape in console.shapes]
    return {"sentence": " · ".join(sentence), **parts}


def _usual(places: Iterable[int]) -> int:
    """Return the place that most have, 0 when none is known."""
    counts = Counter(place for place in places if place)
    return counts.most_common(1)[0][0] if counts else 0


def _place_of_time(line: str) -> int:
    found = find_time(line.lstrip(" "))
    return found[0] + 1 if found else 0


def _place_of_level(line: str, head: Head) -> int:
    """Return the place of the level, counted from 1; the time is one place whatever its words."""
    found = find_time(line)
    before = list(islice(tokens(line, 0), found[0] if found else MAX_TOKENS))
    behind = tokens(line, found[3]) if found else ()
    numbered = [*enumerate(before, 1), *enumerate(behind, len(before) + 2)]
    return next((number for number, token in numbered if head.spelled in token.text), 0)


def _percent(some: int, total: int) -> int:
    """Return a share in percent, never 0 or 100 while there are others."""
    return 100 if some == total else min(99, max(1, round(100 * some / total)))
