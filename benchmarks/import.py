"""What the import of a log file costs, end to end, beside parsing it and beside parsing and grouping it.

python benchmarks/import.py [--lines 60000] [--formats monolog,json] [--events 1000000] [--gigabytes 5] [--json]

Each figure comes from a process of its own, so that its peak memory is its own. `--lines` are the lines of each
format's file, all of them stored, and of the file whose lines are all filtered; `--events` the length of the history
that the last batches of an import are compared with the first ones on (0: not); `--gigabytes` the size of a log that
is generated and read to show that memory stays as it is. The engines are measured in turns. Servers are found as the
tests find them; one that is not there is left out. Trust the ratios, not the absolute numbers.
"""

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import databases
import parsing
import samples
import servers

from snaglist.plugins.issues import SEVERITIES
from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.logs import Reader, Reading, Rules, import_file

BATCH = 1_000
SHORTEST_HISTORY = 31  # batches: the first, ten early ones, twenty late ones
GOALS = {
    "sqlite stored lines/s": 20_000.0,
    "sqlite to parse and group": 0.40,
    "filtered lines/s": 50_000.0,
    "postgresql to sqlite": 0.60,
    "mariadb to sqlite": 0.30,
    "peak MB": 150.0,
    "last events to first": 1.2,
}
EVERYTHING = Rules(frozenset(SEVERITIES), 100)
ERRORS = Rules(frozenset({"ERROR"}), 500)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lines", type=int, default=60_000, help="lines of each file")
    options.add_argument("--formats", default=",".join(parsing.FORMATS), help="formats, separated by commas")
    options.add_argument("--rounds", type=int, default=2, help="runs of each measurement; the fastest counts")
    options.add_argument("--events", type=int, default=1_000_000, help="history for the cost of an event; 0: leave out")
    options.add_argument("--gigabytes", type=float, default=0, help="size of a generated log; 0: leave out")
    options.add_argument("--json", action="store_true", help="print one JSON document")
    options.add_argument("--measure", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.measure:
        print(json.dumps(_measure(**json.loads(chosen.measure))))
        return
    engines = [name for name in ("sqlite", *servers.SERVERS) if servers.answers(name)]
    figures: dict[str, Any] = {"formats": {}}
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        for name in chosen.formats.split(","):
            log = _write_format(base / f"{name}.log", name, chosen.lines)
            figures["formats"][name] = _format(log, chosen.lines, engines, chosen.rounds)
        log = base / "quiet.log"
        samples.write_monolog(log, chosen.lines, error_share=0.0)
        figures["filtered"] = {
            name: _speed(log, chosen.lines, _best(chosen.rounds, log, name, keep="errors")) for name in engines
        }
        if chosen.events:
            log = base / "long.log"
            samples.write_monolog(log, chosen.events, error_share=1.0)
            figures["history"] = _run(log, "sqlite", keep="everything")["history"]
        if chosen.gigabytes:
            figures["large"] = _large(base / "large.log", chosen.gigabytes)
    print(json.dumps(figures, indent=2)) if chosen.json else _show(figures)


def _write_format(path: Path, name: str, lines: int) -> Path:
    write = parsing.FORMATS[name][0]
    with path.open("w", encoding="utf-8") as out:
        out.writelines(write(line) + "\n" for line in parsing.lines(lines))
    return path


def _format(log: Path, lines: int, engines: Sequence[str], rounds: int) -> dict[str, Any]:
    """Return the figures of one format: alone, with its keys, and stored on each engine."""
    ways = ["parse", "group", *engines]
    runs: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            runs[way].append(_run(log, way, keep="everything"))
    found = {way: _speed(log, lines, min(runs[way], key=lambda run: run["seconds"])) for way in ways}
    for name in engines:
        if name == "sqlite":  # all of its work is this process's
            for way in ("parse", "group"):
                found[name][f"to_{way}"] = found[name]["lines_per_cpu_s"] / found[way]["lines_per_cpu_s"]
        found[name]["to_sqlite"] = found[name]["lines_per_s"] / found["sqlite"]["lines_per_s"]
    return found


def _large(log: Path, gigabytes: float) -> dict[str, Any]:
    """Read a log of that size, one line in twenty an error; returns speed and memory."""
    size, lines = int(gigabytes * 1e9), 0
    part = log.with_name("part.log")
    samples.write_monolog(part, 500_000, error_share=0.05)
    content = part.read_bytes()
    with log.open("wb") as out:
        while out.tell() < size:
            out.write(content)
            lines += 500_000
    return _speed(log, lines, _run(log, "sqlite", keep="errors"))


def _best(rounds: int, log: Path, way: str, *, keep: str) -> dict[str, Any]:
    return min((_run(log, way, keep=keep) for _ in range(rounds)), key=lambda run: run["seconds"])


def _speed(log: Path, lines: int, run: dict[str, Any]) -> dict[str, Any]:
    return {
        "lines_per_s": lines / run["seconds"],
        "lines_per_cpu_s": lines / run["cpu_seconds"],
        "mb_per_s": log.stat().st_size / run["seconds"] / 1e6,
        "peak_mb": run["peak_mb"],
    }


def _run(log: Path, way: str, *, keep: str) -> dict[str, Any]:
    """Measure in a process of its own."""
    wanted = json.dumps({"log": str(log), "way": way, "keep": keep})
    done = subprocess.run([sys.executable, __file__, "--measure", wanted], check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure(log: str, way: str, keep: str) -> dict[str, Any]:
    """Read a file in this process: parse it, parse and group it, or import it into a database."""
    path = Path(log)
    history: dict[str, float] = {}
    if way in ("parse", "group"):
        seconds, cpu = _timed(lambda: _parse(path, grouped=way == "group"))
    else:
        with tempfile.TemporaryDirectory() as folder, databases.running_on(Path(folder), way) as service:
            marks = [time.process_time()]
            reading = Reading(EVERYTHING if keep == "everything" else ERRORS, "UTC", final=True)

            def work() -> None:
                result = import_file(service.call(), path, reading, watch=lambda _: marks.append(time.process_time()))
                assert result.state == "read", result.error

            seconds, cpu = _timed(work)
            history = _history([after - before for before, after in itertools.pairwise(marks)])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "cpu_seconds": cpu, "peak_mb": peak, "history": history}


def _history(batches: list[float]) -> dict[str, float]:
    """Compare the last batches with those around the first thousand events, by CPU time per event; {}: too few."""
    if len(batches) < SHORTEST_HISTORY:
        return {}
    first, last = statistics.median(batches[1:11]), statistics.median(batches[-21:-1])
    return {
        "events": len(batches) * BATCH,
        "first_us": first / BATCH * 1e6,
        "last_us": last / BATCH * 1e6,
        "ratio": last / first,
    }


def _parse(path: Path, *, grouped: bool) -> None:
    with path.open("rb") as stream:
        sample = stream.read(65536)
        stream.seek(0)
        moment = "2026-02-01 00:00:00"
        reader = Reader(sample, modified_at=moment, now=moment, channel=path.name)
        while chunk := stream.read(256 * 1024):
            for event in reader.feed(chunk):
                if grouped:
                    grouping_key(event, None)
        reader.close()


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    """Return the time that passed and the CPU time of this process; a busy machine leaves the latter as it is."""
    begun, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - begun, time.process_time() - cpu


def _columns(row: dict[str, Any]) -> str:
    speed = f"{row['lines_per_s']:10,.0f}{row['lines_per_cpu_s']:10,.0f}{row['mb_per_s']:8.1f}"
    return f"{speed}{row['peak_mb']:9.0f}"


def _show(figures: dict[str, Any]) -> None:
    head = f"{'lines/s':>10}{'/CPU s':>10}{'MB/s':>8}{'peak MB':>9}{'to parse':>10}{'to group':>10}{'to SQLite':>11}"
    print(f"{'stored':26}{head}")
    for title, ways in figures["formats"].items():
        for way, row in ways.items():
            ratios = "".join(
                f"{row[name]:{width}.2f}" if name in row else " " * width
                for name, width in (("to_parse", 10), ("to_group", 10), ("to_sqlite", 11))
            ).rstrip()
            print(f"  {title:13}{way:11}{_columns(row)}{ratios}")
    for title, rows in (("filtered", figures["filtered"]), ("large", {"sqlite": figures.get("large")})):
        for way, row in rows.items():
            if row:
                print(f"  {title:13}{way:11}{_columns(row)}")
    if history := figures.get("history"):
        first, last = f"{history['first_us']:.1f}", f"{history['last_us']:.1f}"
        print(f"event {history['events']:,}: {last} µs against {first} µs at the start, ratio {history['ratio']:.2f}")
    print("goals: " + ", ".join(f"{name} {goal:g}" for name, goal in GOALS.items()))


if __name__ == "__main__":
    main()
