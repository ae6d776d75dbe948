"""Measure grouping on labelled logs: accuracy and speed, beside Drain3 in the same run when it is installed.

`python benchmarks/grouping.py DIR [--json] [--first-stage]` reads every `<Set>_2k.log` with its
`<Set>_2k.labels.csv` (columns LineId, Content, EventId) of a folder, and groups them with both stages, or with the
first alone. GA is the share of lines whose group is exactly the labelled one, FGA the F1 score of whole groups. Speed
is lines per second of CPU time, of both tools in the state of a running service: the set was seen before; the
unrepeated figure is for its messages with other numbers, so that no line comes twice, the repeated one for the same
lines again.
"""

import argparse
import csv
import gc
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.grouping import GroupingKey, grouping_key
from snaglist.plugins.issues.learning import GroupingModel

Grouper = Callable[[Sequence[str]], Sequence[Hashable]]
MIN_SECONDS = 0.3
_NUMBER = re.compile(r"(?<![A-Za-z\d])\d{2,}")


def accuracy(groups: Sequence[Hashable], labels: Sequence[str]) -> dict[str, Any]:
    """Return GA, FGA and the numbers of groups."""
    group_sizes, label_sizes = Counter(groups), Counter(labels)
    pairs = Counter(zip(groups, labels, strict=True))
    right = [n for (group, label), n in pairs.items() if n == group_sizes[group] == label_sizes[label]]
    precision, recall = len(right) / len(group_sizes), len(right) / len(label_sizes)
    return {
        "ga": round(sum(right) / len(labels), 4),
        "fga": round(2 * precision * recall / (precision + recall), 4) if right else 0.0,
        "groups": len(group_sizes),
        "true_groups": len(label_sizes),
    }


def speed(prepare: Callable[[], Callable[[], object]], lines: int) -> float:
    """Return lines per CPU second: the best of several runs, each prepared anew outside the clock."""
    best, spent = 0.0, 0.0
    gc.disable()
    try:
        while spent < MIN_SECONDS:
            run = prepare()
            start = time.process_time()
            run()
            took = time.process_time() - start
            spent += took
            best = max(best, lines / max(took, 1e-9))
    finally:
        gc.enable()
    return best


def fresh(messages: Sequence[str], seed: int, rounds: int = 5) -> list[str]:
    """Return messages that never came before: those of the set with other numbers in the same places.

    Digits that stand behind a letter may belong to a name and stay; messages without numbers are left out.
    """
    random = Random(seed)
    new = {
        _NUMBER.sub(lambda found: "".join(random.choices("123456789", k=len(found[0]))), message)
        for _ in range(rounds)
        for message in messages
    }
    return sorted(new.difference(messages), key=lambda message: random.random())


class Grouping:
    """This product's grouping: the key of each event, and what is learned from the set of templates."""

    def __init__(self) -> None:
        self._model = GroupingModel()
        self._known: dict[str, GroupingKey] = {}

    def add(self, event: Event) -> str:
        """Take an event and return its key; a template that was not there before is learned from."""
        key = grouping_key(event, None)
        if key.fingerprint not in self._known:
            self._known[key.fingerprint] = key
            self._model.add([key])
        return key.fingerprint

    def group(self, fingerprint: str) -> Hashable:
        """Return the group of a key."""
        return self._model.group(self._known[fingerprint])


class FirstStage(Grouping):
    """The key alone."""

    def add(self, event: Event) -> str:
        """Take an event and return its key."""
        return grouping_key(event, None).fingerprint

    def group(self, fingerprint: str) -> Hashable:
        """Return the key."""
        return fingerprint


def snaglist_groups(messages: Sequence[str], stages: type[Grouping] = Grouping) -> list[Hashable]:
    """Group with this product."""
    grouping = stages()
    keys = [grouping.add(event) for event in _events(messages)]
    return [grouping.group(key) for key in keys]


def _events(messages: Sequence[str]) -> list[Event]:
    return [Event(message=message, log_type="console") for message in messages]


def snaglist_speed(messages: Sequence[str], stages: type[Grouping] = Grouping) -> dict[str, float]:
    """Return lines per second of this product."""
    seeds, everything = count(1), _events(messages)  # what came in one run is remembered in the next

    def trained(events: Sequence[Event]) -> Callable[[], object]:
        grouping = stages()
        for event in everything:
            grouping.add(event)
        return lambda: [grouping.add(event) for event in events]

    return {
        "unrepeated": speed(lambda: trained(_events(fresh(messages, next(seeds)))), len(fresh(messages, 0))),
        "repeated": speed(lambda: trained(everything), len(everything)),
    }


def drain_groups(messages: Sequence[str]) -> list[Hashable]:
    """Group with Drain3 in its default configuration."""
    miner = _miner()
    return [miner.add_log_message(message)["cluster_id"] for message in messages]


def drain_speed(messages: Sequence[str]) -> dict[str, float]:
    """Return lines per second of Drain3."""
    new = fresh(messages, 1)

    def trained(lines: Sequence[str]) -> Callable[[], object]:
        miner = _miner()
        for message in messages:
            miner.add_log_message(message)
        return lambda: [miner.add_log_message(message) for message in lines]

    return {
        "unrepeated": speed(lambda: trained(new), len(new)),
        "repeated": speed(lambda: trained(messages), len(messages)),
    }


def _miner() -> Any:
    config = import_module("drain3.template_miner_config").TemplateMinerConfig()
    return import_module("drain3").TemplateMiner(config=config)


def read_set(path: Path) -> tuple[list[str], list[str]]:
    """Return the messages and labels of one set."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["Content"] for row in rows], [row["EventId"] for row in rows]


def measure(
    sets: dict[str, tuple[list[str], list[str]]], group: Grouper, rate: Callable[[Sequence[str]], dict[str, float]]
) -> dict[str, Any]:
    """Return the figures of one method on all sets."""
    results: dict[str, Any] = {}
    for name, (messages, labels) in sets.items():
        rates = rate(messages)
        results[name] = {
            **accuracy(group(messages), labels),
            "lines_per_s": round(rates["unrepeated"]),
            "lines_per_s_repeated": round(rates["repeated"]),
        }
    figures = ("ga", "fga", "lines_per_s", "lines_per_s_repeated")
    means = {figure: round(statistics.fmean(row[figure] for row in results.values()), 4) for figure in figures}
    return {"sets": results, "mean": means}


def show(title: str, figures: dict[str, Any]) -> None:
    """Print one method's table."""
    print(f"{title:<22}{'GA':>7}{'FGA':>7}{'groups':>8}{'true':>6}{'lines/s':>10}{'repeated':>10}")
    for name, row in figures["sets"].items():
        print(
            f"  {name:<20}{row['ga']:>7.3f}{row['fga']:>7.3f}{row['groups']:>8}{row['true_groups']:>6}"
            f"{row['lines_per_s']:>10,}{row['lines_per_s_repeated']:>10,}"
        )
    mean = figures["mean"]
    print(
        f"  {'mean':<20}{mean['ga']:>7.3f}{mean['fga']:>7.3f}{'':>14}"
        f"{mean['lines_per_s']:>10,.0f}{mean['lines_per_s_repeated']:>10,.0f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--first-stage", action="store_true", help="without the second stage")
    options = parser.parse_args(arguments)
    paths = sorted(options.folder.glob("*_2k.labels.csv"))
    if not paths:
        print(f"no *_2k.labels.csv in {options.folder}", file=sys.stderr)
        return 2
    sets = {path.name.removesuffix("_2k.labels.csv"): read_set(path) for path in paths}
    stages = FirstStage if options.first_stage else Grouping
    figures = measure(sets, partial(snaglist_groups, stages=stages), partial(snaglist_speed, stages=stages))
    try:
        _miner()
    except ImportError:
        figures["drain3"] = None
    else:
        drain = measure(sets, drain_groups, drain_speed)
        figures["drain3"] = drain
        figures["ratio"] = {
            figure: round(figures["mean"][figure] / drain["mean"][figure], 2)
            for figure in ("lines_per_s", "lines_per_s_repeated")
        }
    if options.json:
        print(json.dumps(figures, indent=1))
        return 0
    show("snaglist", figures)
    if figures["drain3"]:
        show("Drain3 (default)", figures["drain3"])
        ratio = figures["ratio"]
        print(f"speed against Drain3: {ratio['lines_per_s']} x unrepeated, {ratio['lines_per_s_repeated']} x repeated")
    else:
        print("Drain3 is not installed: no comparison (pip install drain3)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
