"""What a pattern gives of each line of an example."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import times
from snaglist.plugins.logs.own_formats.parser import OwnFormat
from snaglist.plugins.logs.own_formats.pattern import MESSAGE, PLACED, Format, compiled
from snaglist.plugins.logs.parsers.clock import Clock

LINES = 50
LONGEST = 2_000  # characters of a line that are shown


def preview(pattern: str, zone: str, lines: list[str]) -> dict[str, Any]:
    """Return what the first lines give, and how many are matched, have a time and have a level; Invalid as `compiled`.

    A line that is not matched continues the one before, where there is one.
    """
    parser = OwnFormat(Format("", pattern))
    now = times.now()
    clock = Clock(zone, now, now)
    shown: list[dict[str, Any]] = []
    for line in lines[:LINES]:
        shown.append(_line(parser, pattern, line[:LONGEST], clock, begun=any(one["matched"] for one in shown)))
    matched = [one for one in shown if one["matched"]]
    return {
        "lines": shown,
        "matched": len(matched),
        "with_time": sum(one["time"] is not None for one in matched),
        "with_level": sum(one["level"] is not None for one in matched),
    }


def _line(parser: OwnFormat, pattern: str, line: str, clock: Clock, *, begun: bool) -> dict[str, Any]:
    header = parser.header(line)
    if header is None:
        nothing = dict.fromkeys(("time", "level", "message", "channel"))
        parts = [{"group": None, "text": line}]
        return {"matched": False, "continuation": begun, **nothing, "context": {}, "parts": parts}
    event = parser.event(header, (), clock)
    return {
        "matched": True,
        "continuation": False,
        "time": event.occurred_at or None,
        "level": event.severity or None,
        "message": event.message,
        "channel": event.channel or None,
        "context": {name: text for name, text in header.items() if name not in PLACED},
        "parts": _parts(compiled(pattern).find(line) or {}, line),
    }


def _parts(spans: Mapping[str, tuple[int, int]], line: str) -> list[dict[str, str | None]]:
    """Cut a line into the texts of its groups and what stands between them; a group within another is a part of it."""
    parts: list[dict[str, str | None]] = []
    at = 0
    for name, (start, end) in sorted(spans.items(), key=lambda one: one[1]):
        if start < at:
            continue
        if start > at:
            parts.append({"group": None, "text": line[at:start]})
        parts.append({"group": name or MESSAGE, "text": line[start:end]})
        at = end
    if at < len(line):
        parts.append({"group": None, "text": line[at:]})
    return parts
