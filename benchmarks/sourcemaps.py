"""How fast places are resolved, and what a large map costs: `python benchmarks/sourcemaps.py [--megabytes 10]`.

Makes a map of about that size (three quarters of it source texts, as bundlers write them), uploads it to a service on
SQLite in this process, and resolves places of it: first ones, repeated ones, and whole events on their way in.
"""

import argparse
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from snaglist.plugins.issues import Event, ExceptionInfo, Frame
from snaglist.plugins.releases.maps import resolve_storing
from snaglist.plugins.releases.maps.document import read_map
from snaglist.plugins.releases.maps.lookup import MAPS, ParsedMap
from snaglist.testing import Client, running_service

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
LINE = 500  # characters of generated code on a line
FRAMES = 20_000
EVENTS = 500


def _number(value: int) -> str:
    """Return a number as base 64 VLQ (ECMA-426)."""
    left, text = (-value << 1) | 1 if value < 0 else value << 1, ""
    while True:
        left, digit = left >> 5, left & 31
        text += _DIGITS[digit | (32 if left else 0)]
        if not left:
            return text


def make_map(size: int, seed: int = 7) -> tuple[str, int]:
    """Return a map of about `size` bytes as text, and the lines of its generated file."""
    chance = random.Random(seed)
    mappings: list[str] = []
    sources: list[str] = []
    texts: list[str] = []
    names = [f"name{at}" for at in range(2_000)]
    line_before = name_before = lines = total = 0
    while total < size // 4:
        sources.append(f"src/part{len(sources) % 50}/module{len(sources)}.ts")
        for first in range(20):
            column = 0
            parts: list[str] = []
            while column < LINE:
                step = chance.randint(2, 12)
                line = chance.randint(0, 80)
                new_file = 1 if not first and not parts and len(sources) > 1 else 0
                name = ""
                if chance.random() < 0.2:
                    chosen = chance.randrange(len(names))
                    name, name_before = _number(chosen - name_before), chosen
                parts.append(
                    _number(step if parts else 0) + _number(new_file) + _number(line - line_before) + "E" + name
                )
                column, line_before = column + step, line
            mappings.append(",".join(parts))
            total += len(mappings[-1]) + 1
            lines += 1
        texts.append("".join(chance.choices("abcdefgh (){};=\n", k=3 * (total // len(sources)))))
    document = {
        "version": 3,
        "sources": sources,
        "sourcesContent": texts,
        "names": names,
        "mappings": ";".join(mappings),
    }
    return json.dumps(document), lines


class Figures:
    """What was measured, shown as it comes or kept for one JSON document."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self.found: dict[str, Any] = {}

    def note(self, name: str, value: Any, text: str) -> None:
        """Keep a figure, and show it."""
        self.found[name] = value
        if not self._as_json:
            print(text)

    def timed(self, title: str, count: int, work: Callable[[], Any]) -> None:
        """Measure how many a second."""
        begin = time.perf_counter()
        work()
        seconds = time.perf_counter() - begin
        text = f"{title:<44}{count / seconds:>12,.1f}/s{seconds:>10.2f} s{_peak():>8} MB peak"
        self.note(title, {"per_second": count / seconds, "seconds": seconds, "peak_mb": _peak()}, text)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def places(lines: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield random places."""
    chance = random.Random(3)
    for _ in range(count):
        yield chance.randint(1, lines), chance.randint(1, LINE)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = parser.parse_args()
    text, lines = make_map(int(chosen.megabytes * 1_000_000))
    figures = Figures(chosen.json)
    about = f"a map of {len(text) / 1e6:.1f} MB, {lines:,} generated lines; {_peak()} MB before"
    figures.note("map", {"megabytes": len(text) / 1e6, "lines": lines, "mb_before": _peak()}, about)
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder) / "data", jobs=False) as service:
        client = Client(service)
        client.post("plugins", {"id": "releases", "enabled": True})
        body = {"release": "v1", "file": "app.js", "map": text}
        figures.timed("upload, as text", 1, lambda: client.post("source-maps", body))
        assert len(client.get("source-maps").json["data"]) == 1, client.post("source-maps", body).text
        parsed = ParsedMap(read_map(text).content)
        figures.timed(
            "places, each for the first time", FRAMES, lambda: [parsed.find(*one) for one in places(lines, FRAMES)]
        )
        few = list(places(lines, 1_000)) * (FRAMES // 1_000)
        figures.timed("places, known ones", FRAMES, lambda: [parsed.find(*one) for one in few])
        call = service.call()
        frames = [Frame("t", "https://shop.example/app.js", *place) for place in places(lines, 20)]
        stack = "\n".join(f"    at t ({one.file}:{one.line}:{one.column})" for one in frames)
        events = [
            Event("boom", exceptions=[ExceptionInfo("Error", "boom", frames)], stack=stack, release="v1")
        ] * EVENTS
        with call.transaction():
            figures.timed("first event, the map is not in memory", 1, lambda: resolve_storing(call, events[:1]))
            figures.timed("events of 20 frames, frames twice each", EVENTS, lambda: resolve_storing(call, events))
        held = MAPS.bytes / 1e6
        figures.note("parsed maps, MB", held, f"parsed maps in memory: {held:.1f} MB")
    if chosen.json:
        print(json.dumps(figures.found))


if __name__ == "__main__":
    main()
