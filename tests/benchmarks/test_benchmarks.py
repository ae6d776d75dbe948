"""The benchmarks run: what they measure is not looked at, only that none breaks unseen."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if "add_argument" in path.read_text(encoding="utf-8"))
# Those that are done in a moment, with their smallest sizes.
SMALL = {
    "ingest": ["--engines", "sqlite", "--seconds", "0.3"],
    "grep": ["--megabytes", "1", "--runs", "1"],
    "parsing": ["--lines", "50"],
    "sourcemaps": ["--megabytes", "0.05"],
}


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_part_can_be_imported() -> None:
    names = sorted(path.stem for path in FOLDER.glob("*.py"))
    run("-c", f"import importlib\nfor name in {names!r}: importlib.import_module(name)")


@pytest.mark.parametrize("script", sorted(set(SCRIPTS) - set(SMALL)))
def test_a_script_takes_its_options(script: str) -> None:
    assert "--json" in run(f"{script}.py", "--help")


@pytest.mark.parametrize("script", sorted(SMALL))
def test_a_small_run_gives_figures(script: str) -> None:
    figures: dict[str, Any] = json.loads(run(f"{script}.py", *SMALL[script], "--json"))
    assert figures
