"""Measure reading on labelled logs: how many times, levels, entries and groups come out as a careful person reads them.

`python benchmarks/reading.py DIR [--half tune|report] [--misses] [--json]` reads every log that a `*.jsonl` file in the
folder, or in one below it, has labels for. The labels are JSON lines, one for each line of a log that is not blank:

- `file`, `line`: the log beside the labels, and the number of the line, from 1 on.
- `entry`: the line where its entry starts: the line itself, or an earlier one that it continues. null: the line is
  no content (a heading, a rule); it may be an entry or not, but no failure.
- `time`: UTC, `YYYY-MM-DD HH:MM:SS`; null when none is written. `level`: a severity in lower case; null when no level
  is written. A line that continues an entry has no time here, and a level only if it repeats that of the entry.
- `failure` (optional): true where no level is written, and the text says that something failed.
- `group` (optional): a name of the issue; entries of one file that have one are compared in pairs.

A line without `line` is about the whole file: `modified_at` (UTC), `zone` of times that name none, `half`, `source`.

What is counted: times to the second and levels, of entries that have them written; entries that start where they
should, with no other start within; pairs of entries that rightly are, or are not, one issue; false failures: ERROR or
worse where no level is written and nothing failed, or where a milder level is written, for each 1,000 lines; failures
that are told by the text alone, and those found; lines of no event (lost), and lines of entries of which neither time
nor level came out right though one of them is written (unexplained).
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

from grouping import Grouping

from snaglist.kernel import times
from snaglist.plugins.issues.events import RANK, Event
from snaglist.plugins.logs.parsers import Reader

MODIFIED_AT = "2025-02-11 12:00:00"
# Each figure is a share of two counts; the others are plain numbers.
SHARES = {
    "times": ("times_right", "times_written"),
    "levels": ("levels_right", "levels_written"),
    "entries": ("entries_right", "entries_all"),
    "groups": ("pairs_right", "pairs_all"),
    "failures": ("failures_found", "failures_all"),
}


COUNTS = [*(name for pair in SHARES.values() for name in pair), "false_failures", "unexplained_lines", "lost"]


@dataclass(frozen=True)
class Label:
    """What a person says of one line."""

    line: int
    entry: int | None
    time: str | None = None
    level: str | None = None
    failure: bool = False
    group: str | None = None


@dataclass
class Labelled:
    """One log with its labels."""

    path: Path
    labels: list[Label] = field(default_factory=list)
    modified_at: str = MODIFIED_AT
    zone: str = "UTC"
    half: str = ""


@dataclass
class Result:
    """The counts of one log, or of many."""

    counts: dict[str, float]
    misses: list[dict[str, Any]]

    def figures(self) -> dict[str, Any]:
        """Return shares and numbers."""
        counts = self.counts
        lines = max(counts["lines"], 1)
        return {
            **{name: _share(counts[right], counts[of]) for name, (right, of) in SHARES.items()},
            "false_per_1000": round(1000 * counts["false_failures"] / lines, 2),
            "unexplained": _share(counts["unexplained_lines"], lines),
            "lost": counts["lost"],
            "mb_per_s": round(counts["bytes"] / max(counts["seconds"], 1e-9) / 1e6, 2),
            **counts,
        }


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


def load(folder: Path, half: str = "") -> list[Labelled]:
    """Return the labelled logs below a folder, of one half or of both."""
    found: dict[Path, Labelled] = {}
    for source in sorted(folder.rglob("*.jsonl")):
        for text in source.read_text(encoding="utf-8").splitlines():
            row = json.loads(text)
            path = source.parent / row.pop("file")
            log = found.setdefault(path, Labelled(path))
            if "line" in row:
                log.labels.append(Label(**row))
                continue
            log.modified_at = row.get("modified_at", log.modified_at)
            log.zone = row.get("zone", log.zone)
            log.half = row.get("half", log.half)
    logs = [log for log in found.values() if log.labels and half in ("", log.half)]
    for log in logs:
        log.labels.sort(key=lambda label: label.line)
    return logs


def read(log: Labelled, content: bytes) -> list[Event]:
    """Read a log as an import does, with the default limits and without a database."""
    reader = Reader(content[:65536], zone=log.zone, modified_at=log.modified_at, now=times.now(), channel=log.path.name)
    return [*reader.feed(content), *reader.close()]


def measure(log: Labelled) -> Result:
    """Compare what is read with the labels."""
    content = log.path.read_bytes()
    start = time.process_time()
    events = read(log, content)
    seconds = time.process_time() - start
    starts = _line_starts(content)
    counts = dict.fromkeys(COUNTS, 0.0)
    counts |= {"lines": len(log.labels), "bytes": len(content), "seconds": seconds}
    result = Result(counts, [])

    def miss(line: int, what: str, expected: object, got: object) -> None:
        where = f"{log.path.name}:{line}"
        result.misses.append({"where": where, "what": what, "expected": expected, "got": got})

    begun = {starts.get(event.byte_start, 0): event for event in events}
    _compare_entries(log.labels, begun, counts, miss)
    _compare_groups(log.labels, begun, events, counts, miss)
    numbers = {number: byte for byte, number in starts.items()}
    ranges = sorted((event.byte_start, event.byte_end) for event in events)
    for label in log.labels:
        byte = numbers[label.line]
        if label.entry is not None and not any(first <= byte < last for first, last in ranges):
            counts["lost"] += 1
            miss(label.line, "lost", "a line of an event", None)
    return result


def _line_starts(content: bytes) -> dict[int, int]:
    """Return the number of the line that starts at a byte."""
    lengths = [len(line) for line in content.split(b"\n")]
    return {byte: number for number, byte in enumerate(accumulate((length + 1 for length in lengths), initial=0), 1)}


def _compare_entries(labels: Sequence[Label], begun: dict[int, Event], counts: dict[str, float], miss: Any) -> None:
    rows: dict[int, int] = {}
    torn: set[int] = set()
    for label in labels:
        event = begun.get(label.line)
        if label.entry is not None:
            rows[label.entry] = rows.get(label.entry, 0) + 1
        if label.entry == label.line or event is None:
            continue
        if label.entry is not None:
            torn.add(label.entry)
            miss(label.line, "entry", label.entry, label.line)
        if _fails(event) and not _told(label):
            counts["false_failures"] += 1
            miss(label.line, "false failure", label.level, event.severity.lower())
    for label in labels:
        if label.entry == label.line:
            _compare_entry(label, begun.get(label.line), label.line in torn, rows[label.line], counts, miss)


def _compare_entry(
    label: Label, event: Event | None, torn: bool, lines: int, counts: dict[str, float], miss: Any
) -> None:
    counts["entries_all"] += 1
    counts["entries_right"] += event is not None and not torn
    if event is None:
        miss(label.line, "entry", label.line, None)
    found = event.occurred_at if event is not None and event.time_source != "file" else None
    level = event.severity.lower() if event is not None else None
    right = []
    if label.time is not None:
        counts["times_written"] += 1
        counts["times_right"] += found == label.time
        right.append(found == label.time)
    if label.level is not None:
        counts["levels_written"] += 1
        counts["levels_right"] += level == label.level
        right.append(level == label.level)
        if level != label.level:
            miss(label.line, "level", label.level, level)
    if found != label.time and event is not None:
        miss(label.line, "time", label.time, found)
    counts["unexplained_lines"] += lines if right and not any(right) else 0
    failed = event is not None and _fails(event)
    if label.failure and label.level is None:
        counts["failures_all"] += 1
        counts["failures_found"] += failed
        if not failed:
            miss(label.line, "failure", True, level)
    elif failed and not _told(label):
        counts["false_failures"] += 1
        miss(label.line, "false failure", label.level, level)


def _fails(event: Event) -> bool:
    return RANK[event.severity] <= RANK["ERROR"]


def _told(label: Label) -> bool:
    """Tell whether the writer says that something failed."""
    return label.failure or (label.level is not None and RANK[label.level.upper()] <= RANK["ERROR"])


def _compare_groups(
    labels: Sequence[Label], begun: dict[int, Event], events: Iterable[Event], counts: dict[str, float], miss: Any
) -> None:
    grouping = Grouping()
    keys = {id(event): grouping.add(event) for event in events}
    named = [label for label in labels if label.group and label.entry == label.line]
    groups = {
        label.line: grouping.group(keys[id(begun[label.line])]) if label.line in begun else None for label in named
    }
    for one, other in combinations(named, 2):
        counts["pairs_all"] += 1
        first, second = groups[one.line], groups[other.line]
        together = first is not None and first == second
        known = first is not None and second is not None
        if known and together == (one.group == other.group):
            counts["pairs_right"] += 1
        else:
            expected = "one issue" if one.group == other.group else "two issues"
            miss(other.line, f"group with line {one.line}", expected, "one issue" if together else "two issues")


def total(results: Sequence[Result]) -> Result:
    """Add up."""
    counts: dict[str, float] = {}
    for result in results:
        for name, number in result.counts.items():
            counts[name] = counts.get(name, 0) + number
    return Result(counts, [row for result in results for row in result.misses])


def show(name: str, figures: dict[str, Any]) -> None:
    """Print one row of the table."""
    shares = "".join(f"{'-' if figures[one] is None else format(figures[one], '.1%'):>9}" for one in SHARES)
    print(
        f"{name:<40}{shares}{figures['false_per_1000']:>9}{figures['unexplained'] or 0:>12.1%}{figures['lost']:>6.0f}"
        f"{figures['mb_per_s']:>7}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=["tune", "report"], default="", help="the files of one half alone")
    parser.add_argument("--misses", action="store_true", help="list what was read otherwise than labelled")
    parser.add_argument("--totals", action="store_true", help="no rows of single files")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    logs = load(options.folder, options.half)
    if not logs:
        print(f"no labels in {options.folder}", file=sys.stderr)
        return 2
    results = {log.path.name: measure(log) for log in logs}
    everything = total(list(results.values()))
    if options.json:
        figures: dict[str, Any] = {"files": len(logs), "total": everything.figures()}
        if not options.totals:
            figures["file"] = {name: result.figures() for name, result in results.items()}
        if options.misses:
            figures["misses"] = everything.misses
        print(json.dumps(figures, indent=1))
        return 0
    names = "".join(f"{name:>9}" for name in SHARES)
    print(f"{'log':<40}{names}{'false/k':>9}{'unexplained':>12}{'lost':>6}{'MB/s':>7}")
    for name, result in sorted(results.items()):
        if not options.totals:
            show(name, result.figures())
    show(f"{len(logs)} files", everything.figures())
    if options.misses:
        for row in everything.misses:
            print(f"{row['where']}: {row['what']}: expected {row['expected']}, got {row['got']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
