"""The labelled logs: every line has a label, and no figure of the half to work with falls."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]
CORPUS = ROOT / "tests/data/reading"
# The least share of each figure, and the most false failures in 1,000 lines. They move one way only.
FLOORS = {"times": 0.99, "levels": 0.98, "entries": 0.97, "groups": 0.86, "failures": 0.7}
MOST_FALSE_PER_1000 = 5.0


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    module = importlib.import_module("reading")
    yield module
    sys.modules.pop("reading", None)
    sys.modules.pop("grouping", None)


def test_every_line_has_a_label() -> None:
    labelled: dict[Path, set[int]] = {}
    for source in CORPUS.rglob("labels.jsonl"):
        for text in source.read_text(encoding="utf-8").splitlines():
            row = json.loads(text)
            lines = labelled.setdefault(source.parent / row["file"], set())
            if "line" in row:
                assert row["line"] not in lines
                assert row["entry"] is None or row["entry"] <= row["line"]
                lines.add(row["line"])
            else:
                assert row["half"] == source.parent.name
    assert set(labelled) == set(CORPUS.rglob("*.log"))
    for path, numbers in labelled.items():
        lines = path.read_text(encoding="utf-8").split("\n")
        assert numbers == {number for number, line in enumerate(lines, 1) if line.strip()}, path.name


def test_no_figure_falls(reading: Any) -> None:
    results = [reading.measure(log) for log in reading.load(CORPUS, "tune")]
    total = reading.total(results).figures()
    assert {name: total[name] for name, floor in FLOORS.items() if total[name] < floor} == {}
    assert total["false_per_1000"] <= MOST_FALSE_PER_1000
    assert total["lost"] == 0
