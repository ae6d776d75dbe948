"""The measure of reading: what it counts."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOG = """2025-02-11 07:30:15 ERROR pool of till 7 is empty
2025-02-11 07:30:16 INFO rates are fresh
  asked for by basket 8812
2025-02-11 07:31:15 ERROR pool of till 9 is empty
2025-02-11 07:31:16 valve 7 open
"""


def measured(folder: Path, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "reading.py", str(folder), "--json", *options],
        cwd=ROOT / "benchmarks",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def label(line: int, entry: int | None, time: str | None = None, level: str | None = None, **more: Any) -> str:
    time = time and f"2025-02-11 {time}"
    return json.dumps({"file": "till.log", "line": line, "entry": entry, "time": time, "level": level, **more})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "till.log").write_text(LOG)
    return tmp_path


RIGHT = [
    label(1, 1, "07:30:15", "error", group="pool"),
    label(2, 2, "07:30:16", "info", group="rates"),
    label(3, 2),
    label(4, 4, "07:31:15", "error", group="pool"),
    label(5, 5, "07:31:16"),
]


def test_labels_that_say_what_is_read_give_full_shares(folder: Path) -> None:
    (folder / "labels.jsonl").write_text("\n".join(RIGHT))
    total = measured(folder, "--misses")["total"]
    assert [total[name] for name in ("times", "levels", "entries", "groups")] == [1.0, 1.0, 1.0, 1.0]
    assert (total["times_written"], total["levels_written"], total["pairs_all"]) == (4, 3, 3)
    assert (total["false_per_1000"], total["unexplained"], total["lost"]) == (0, 0, 0)
    assert total["failures"] is None  # no line is labelled so
    assert total["mb_per_s"] > 0


def test_what_is_read_otherwise_is_counted_and_listed(folder: Path) -> None:
    wrong = [
        label(1, 1, "07:30:15", "warning", group="pool"),
        label(2, 2, "08:30:16", "notice", group="rates"),
        label(3, 3),
        label(4, 2),
        label(5, 5, "07:31:16", failure=True),
    ]
    (folder / "labels.jsonl").write_text("\n".join(wrong))
    figures = measured(folder, "--misses")
    total = figures["total"]
    assert (total["times_right"], total["times_written"]) == (2, 3)
    assert (total["levels_right"], total["levels_written"]) == (0, 2)
    # The second is torn apart by the fourth line, the third does not start.
    assert (total["entries_right"], total["entries_all"]) == (2, 4)
    assert (total["pairs_right"], total["pairs_all"]) == (1, 1)
    assert (total["failures_found"], total["failures_all"]) == (0, 1)
    assert total["false_failures"] == 2  # the first line, and the fourth that is no entry of its own
    assert total["unexplained_lines"] == 2  # the second entry with its two lines
    assert {"where": "till.log:2", "what": "level", "expected": "notice", "got": "info"} in figures["misses"]


def test_a_line_that_is_no_content_may_be_an_entry_but_no_failure(folder: Path) -> None:
    (folder / "labels.jsonl").write_text("\n".join([*RIGHT[:3], label(4, None), label(5, None)]))
    total = measured(folder)["total"]
    assert (total["entries_right"], total["entries_all"], total["false_failures"]) == (2, 2, 1)


def test_a_record_of_the_file_tells_zone_and_half(folder: Path) -> None:
    record = {"file": "till.log", "half": "tune", "zone": "Europe/Berlin"}
    (folder / "labels.jsonl").write_text("\n".join([json.dumps(record), label(1, 1, "06:30:15", "error")]))
    assert measured(folder, "--half", "tune")["total"]["times"] == 1.0
    done = subprocess.run(
        [sys.executable, "reading.py", str(folder), "--half", "report"], cwd=ROOT / "benchmarks", capture_output=True
    )
    assert done.returncode == 2
