"""Measure parsing: lines and megabytes per second of CPU time per format, beside a bare regular expression.

`python benchmarks/parsing.py [--lines 50000] [--json]` writes the same lines in each format, half of them with other
numbers and words than the rest, reads them with the parser, and with the parser and the grouping key. The bare
expression takes the header of each line apart with named groups, the least that any parser of the format could do;
JSON has `json.loads` instead. Trust the ratios, not the absolute numbers.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.logs.parsers import Reader

CHUNK = 256 * 1024
ROUNDS = 3
_NOW = "2026-02-01 00:00:00"
_TEXTS = (
    "Order {n} failed: gateway timeout after {n}ms",
    "User {word} signed in from 10.0.{m}.{m}",
    "Cache key session:{n} renewed",
    "Mail to {word}@example.com bounced: mailbox full",
    "Import of /srv/data/{word}-{n}.csv finished: {n} rows",
    "Could not reach https://{word}.example.com/api/v1/items/{n}",
)
_WORDS = ["anna", "ben", "carla", "dmitri", "elif", "farid", "grete", "hugo", "ines", "jonas", "kaya", "luca"]
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_PRIORITIES = {"DEBUG": 15, "INFO": 14, "WARNING": 12, "ERROR": 11}

Line = tuple[datetime, str, str, int]


def lines(count: int) -> list[Line]:
    """Return (time, level, message, number) of lines."""
    chance, start = Random(5), datetime(2026, 1, 1)
    made = []
    for number in range(count):
        text = chance.choice(_TEXTS).format(
            n=chance.randrange(10**6), m=chance.randrange(255), word=chance.choice(_WORDS)
        )
        made.append((start + timedelta(seconds=number), chance.choice(_LEVELS), text, number))
    return made


def _access(line: Line) -> str:
    moment, _, _, number = line
    stamp = moment.strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'10.0.0.{number % 255} - - [{stamp}] "GET /api/items/{number}?page=2 HTTP/1.1" 200 {number} "-" "curl/8.5"'


def _json(line: Line) -> str:
    moment, level, text, number = line
    return json.dumps({"time": moment.isoformat() + "Z", "level": level.lower(), "msg": text, "request": number})


# Each format: how a line is written, and the bare expression (None: json.loads).
FORMATS: dict[str, tuple[Callable[[Line], str], str | None]] = {
    "console": (
        lambda line: f"{line[0]} {line[1]} {line[2]}",
        r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?P<level>\w+) (?P<message>.*)",
    ),
    "monolog": (
        lambda line: f'[{line[0]}] production.{line[1]}: {line[2]} {{"request":{line[3]}}} []',
        r"\[(?P<time>[^\]]+)\] (?P<channel>[\w-]+)\.(?P<level>\w+): (?P<message>.*)",
    ),
    "json": (_json, None),
    "logfmt": (
        lambda line: f'time={line[0].isoformat()}Z level={line[1].lower()} msg="{line[2]}" request={line[3]}',
        r'time=(?P<time>\S+) level=(?P<level>\w+) msg="(?P<message>[^"]*)" request=(?P<request>\d+)',
    ),
    "syslog": (
        lambda line: f"<{_PRIORITIES[line[1]]}>1 {line[0].isoformat()}Z web-1 shop 811 - - {line[2]}",
        r"<(?P<priority>\d+)>1 (?P<time>\S+) (?P<host>\S+) (?P<app>\S+) (?P<pid>\S+) \S+ \S+ (?P<message>.*)",
    ),
    "nginx_error": (
        lambda line: (
            f"{line[0]:%Y/%m/%d %H:%M:%S} [{'warn' if line[3] % 2 else 'error'}] 811#811: *{line[3]} {line[2]}"
        ),
        r"(?P<time>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) \[(?P<level>\w+)\] \d+#\d+: (?P<message>.*)",
    ),
    "apache_error": (
        lambda line: f"[{line[0]:%a %b %d %H:%M:%S.000000 %Y}] [core:error] [pid 811:tid 7] {line[2]}",
        r"\[(?P<time>[^\]]+)\] \[(?P<level>[^\]]+)\] \[pid [^\]]+\] (?P<message>.*)",
    ),
    "access": (
        _access,
        r'(?P<host>\S+) \S+ \S+ \[(?P<time>[^\]]+)\] "(?P<request>[^"]*)" (?P<status>\d{3}) (?P<size>\S+)',
    ),
    "container": (
        lambda line: f"{line[0].isoformat()}.000000001Z stdout F {line[1]} {line[2]}",
        r"(?P<time>\S+) (?P<stream>stdout|stderr) (?P<flag>[FP]) (?P<message>.*)",
    ),
}


def read(content: bytes, *, keys: bool) -> tuple[str, int]:
    """Read a file's bytes; returns the log type and the number of events."""
    reader = Reader(content[:65536], modified_at=_NOW, now=_NOW, channel="app.log")
    count = 0
    for start in range(0, len(content), CHUNK):
        events = reader.feed(content[start : start + CHUNK])
        count += len(events)
        if keys:
            for event in events:
                grouping_key(event, None)
    return reader.log_type, count + len(reader.close())


def bare(content: bytes, expression: str | None) -> int:
    """Decode the lines and take them apart; returns how many there were."""
    listed = content.decode().splitlines()
    if expression is None:
        return sum(1 for line in listed if json.loads(line))
    match = re.compile(expression).match
    return sum(1 for line in listed if (found := match(line)) and found.groups())


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of work, the best of some runs."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def measure(name: str, count: int) -> dict[str, Any]:
    """Return the figures of one format."""
    write, expression = FORMATS[name]
    content = "".join(write(line) + "\n" for line in lines(count)).encode()
    log_type, events = read(content, keys=False)
    if (log_type, events) != (name, count) or bare(content, expression) != count:
        raise SystemExit(f"{name}: {events} of {count} lines read as {log_type}")

    def grouped() -> None:

        read(content, keys=True)

    parse, both = seconds(lambda: read(content, keys=False)), seconds(grouped)
    least = seconds(lambda: bare(content, expression))
    return {
        "lines_per_s": round(count / parse),
        "mb_per_s": round(len(content) / parse / 1e6, 1),
        "grouped_lines_per_s": round(count / both),
        "bare_lines_per_s": round(count / least),
        "ratio_to_bare": round(least / parse, 3),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=50_000, help="lines of each format")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    figures = {name: measure(name, options.lines) for name in FORMATS}
    if options.json:
        print(json.dumps(figures, indent=1))
        return 0
    print(f"{'format':<16}{'lines/s':>10}{'MB/s':>8}{'with key':>10}{'bare':>12}{'to bare':>9}")
    for name, row in figures.items():
        print(
            f"{name:<16}{row['lines_per_s']:>10,}{row['mb_per_s']:>8}{row['grouped_lines_per_s']:>10,}"
            f"{row['bare_lines_per_s']:>12,}{row['ratio_to_bare']:>9}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
