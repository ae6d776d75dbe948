"""How fast raw lines are searched, beside ripgrep on the same file: `python benchmarks/grep.py [--megabytes 1000]`.

Makes a log of about that size and a compressed copy, enters both as sources of a service on SQLite in this process,
and asks `source-search` until a search is done. Ripgrep runs on one thread, with line numbers; without it (`rg`) the
column is empty. GB/s are uncompressed bytes for the processor time of the best of some runs: both read from the memory
of the system, and other work may run beside.
"""

import argparse
import gzip
import json
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import samples

from snaglist.plugins.logs import Ingestion, Reading, import_file
from snaglist.plugins.logs.store import queries
from snaglist.testing import Client, running_service

LINES = 20_000  # written once, then repeated
GOAL = 1.0  # GB/s of a literal, in a log of at least this size
LARGE = 100e6
# Name, pattern, options of the search, those of ripgrep, and whether the goal is its.
SEARCHES: tuple[tuple[str, str, dict[str, str], list[str], bool], ...] = (
    ("a literal that is not there", "order 52045x", {}, ["-F"], True),
    ("a literal, one hit at the end", "the needle", {}, ["-F"], True),
    ("a literal of digits", "9999999", {}, ["-F"], True),
    ("ignoring case", "ORDER 52045X", {"ignore_case": "true"}, ["-F", "-i"], False),
    ("a pattern", r"Order \d+ failed in step \d+z", {"regex": "true"}, [], False),
    ("a pattern without a literal", r"\b\d{9}\b", {"regex": "true"}, [], False),
)


def main() -> int:
    """Measure and print; exit code 1 when a goal is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--megabytes", type=float, default=1000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = _measure(Path(folder), int(chosen.megabytes * 1e6), chosen.runs)
    if chosen.json:
        print(json.dumps(figures, indent=1))
    else:
        _show(figures)
    return 1 if any(figure["missed"] for figure in figures) else 0


def _measure(folder: Path, size: int, runs: int) -> list[dict[str, Any]]:
    plain, packed = folder / "shop.log", folder / "shop.log.gz"
    samples.write_monolog(plain, LINES, error_share=0.02)
    part = plain.read_bytes()
    figures = []
    with running_service(folder / "data", jobs=False) as service:
        ids = []
        for path in (plain, packed):
            path.write_bytes(part if path == plain else gzip.compress(part, 6))
            ids.append(_enter(service, path, part, size))
        client = Client(service, checked=False)
        for name, pattern, query, flags, has_goal in SEARCHES:
            figures.append(_beside(client, ids[0], plain, name, pattern, query, flags, runs, has_goal=has_goal))
        name, pattern, query, flags, _ = SEARCHES[0]
        figures.append(_beside(client, ids[1], packed, f"{name}, gzip", pattern, query, [*flags, "-z"], runs))
    return figures


def _enter(service: Any, path: Path, part: bytes, size: int) -> int:
    """Read the beginning of a log as any other; the rest, which it grows by, is only noted as read."""
    call = service.call()
    with call.transaction(write=False):
        rules = Ingestion.load(call).rules
    source_id = import_file(call, path, Reading(rules, "UTC")).source_id
    assert source_id is not None
    times = max(0, size // len(part) - 1)
    with path.open("ab") as file:
        more = part if path.suffix == ".log" else gzip.compress(part, 6)
        for _ in range(times):
            file.write(more)
        file.write(b"the needle\n" if path.suffix == ".log" else gzip.compress(b"the needle\n"))
    with call.transaction() as db:
        queries.change_source(db, source_id, size=len(part) * (times + 1) + len(b"the needle\n"))
    return source_id


def _beside(
    client: Client,
    source_id: int,
    path: Path,
    name: str,
    pattern: str,
    query: dict[str, str],
    flags: list[str],
    runs: int,
    *,
    has_goal: bool = False,
) -> dict[str, Any]:
    found: dict[str, Any] = {}

    def ours() -> None:
        found.update(hits=0, steps=0)
        cursor: str | None = ""
        while cursor is not None:
            more = {"cursor": cursor} if cursor else {}
            answer = client.get("source-search", pattern=pattern, source_id=source_id, **query, **more).json
            found["hits"] += len(answer["hits"])
            found["steps"] += 1
            found["bytes"] = answer["progress"]["searched_bytes"]
            cursor = answer["cursor"]

    def peers() -> None:
        command = ["rg", "-j1", "-n", "--no-config", *flags, "-e", pattern, str(path)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)

    seconds = _best(ours, runs, time.process_time)
    peer = _best(peers, runs, _children) if shutil.which("rg") else None
    speed = found["bytes"] / seconds / 1e9
    figure = {"name": name, "gb_per_s": speed, "ripgrep_gb_per_s": peer and found["bytes"] / peer / 1e9, **found}
    goal = GOAL if has_goal and found["bytes"] >= LARGE else None
    return {**figure, "goal": goal, "missed": goal is not None and speed < goal}


def _best(work: Callable[[], None], runs: int, clock: Callable[[], float]) -> float:
    seconds = []
    for _ in range(runs):
        begun = clock()
        work()
        seconds.append(max(clock() - begun, 1e-6))
    return min(seconds)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _show(figures: list[dict[str, Any]]) -> None:
    print(f"{'search':36}{'hits':>6}{'steps':>7}{'GB/s':>8}{'ripgrep':>9}{'ratio':>7}{'goal':>6}")
    for one in figures:
        peer = one["ripgrep_gb_per_s"]
        beside = f"{peer:9.2f}{one['gb_per_s'] / peer:7.2f}" if peer else f"{'-':>9}{'-':>7}"
        goal = f"{one['goal']:6.1f}" if one["goal"] else f"{'':6}"
        mark = " MISSED" if one["missed"] else ""
        print(f"{one['name']:36}{one['hits']:6}{one['steps']:7}{one['gb_per_s']:8.2f}{beside}{goal}{mark}")


if __name__ == "__main__":
    raise SystemExit(main())
