"""CONTRIBUTING.md, followed to the letter: its blocks go into a copy of the checkout, its commands succeed there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HOW_TOS = ("A log format", "A channel type", "An endpoint", "A screen", "A column")
PLACE = r"(?P<place>at the end|(?:above|below|in place of) the (?:last )?line)(?: `(?P<line>[^`\n]+)`)?"
BLOCK = re.compile(
    rf"(?:^`(?P<file>[^`\n]+)`(?:, {PLACE})?:\n\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def blocks(how_to: str) -> Iterator[re.Match[str]]:
    """Give the blocks of a how-to: what goes into a file, and commands."""
    (section,) = [part for part in re.split(r"^##+ ", PAGE, flags=re.MULTILINE) if part.startswith(f"{how_to}\n")]
    yield from BLOCK.finditer(section)


def apply(checkout: Path, block: re.Match[str]) -> None:
    """Do what a reader does with a block: make a file, or put lines where the page says."""
    path = checkout / block["file"]
    if block["place"] is None:
        assert not path.exists(), f"{block['file']} is there already: the page has to say where the block goes"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block["text"], encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at, kept = place(lines, block)
    path.write_text("".join([*lines[:at], block["text"], *lines[kept:]]), encoding="utf-8")


def place(lines: list[str], block: re.Match[str]) -> tuple[int, int]:
    """Return how many lines stay before the block, and from which line on they stay behind it."""
    if block["place"] == "at the end":
        return len(lines), len(lines)
    if "last" in block["place"]:
        return len(lines) - 1, len(lines) - 1
    wanted, begins = block["line"].removesuffix("…"), block["line"].endswith("…")
    found = [
        number
        for number, line in enumerate(lines)
        if (line.strip().startswith(wanted) if begins else line.strip() == wanted)
    ]
    assert len(found) == 1, f"{block['file']}: {len(found)} lines are `{block['line']}`"
    return found[0] + block["place"].startswith("below"), found[0] + (not block["place"].startswith("above"))


def run(checkout: Path, command: str) -> None:
    """Run a command of the page as in a fresh checkout, where `.venv` holds an editable install of it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SERVICE_", "PYTEST_"))}
    # One process, and SQLite alone: the servers have their turn where the product is tested.
    nowhere = {name: "mysql+pymysql://127.0.0.1:9" for name in ("TEST_POSTGRESQL_URL", "TEST_MYSQL_URL")}
    own = {"PYTHONPATH": str(checkout), "PYTEST_ADDOPTS": "-n 0 -p no:cacheprovider", "TEST_ENGINES": "sqlite"}
    own |= nowhere | {"REQUIRE_SERVERS": ""}
    done = subprocess.run(
        shlex.split(command), cwd=checkout, env=kept | own, capture_output=True, text=True, timeout=580
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this checkout: what git has, and what it would add."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in dict.fromkeys(names.rstrip("\0").split("\0")):
        source, target = ROOT / name, tmp_path / "snaglist" / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    (tmp_path / "snaglist" / ".venv").symlink_to(sys.prefix)
    return tmp_path / "snaglist"


@pytest.mark.parametrize("how_to", HOW_TOS)
def test_it_works_as_written(checkout: Path, how_to: str) -> None:
    """Each has tests of its own among its files, which are among its commands."""
    written, commands = [], []
    for block in blocks(how_to):
        if block["language"] == "console":
            commands += re.findall(r"^\$ (.+)$", block["text"], re.MULTILINE)
        else:
            assert block["file"], f"no file is named above:\n{block['text']}"
            apply(checkout, block)
            written.append(block["file"])
    tests = [file for file in written if file.startswith("tests/")]
    assert tests and all(any(file in command for command in commands) for file in tests)
    for command in commands:
        run(checkout, command)


def test_all_of_them_together_keep_the_rules_of_the_house(checkout: Path) -> None:
    """Style, types, and what tests/kernel/test_architecture.py holds: nobody has to tidy up behind the page."""
    for block in (block for how_to in HOW_TOS for block in blocks(how_to) if block["language"] != "console"):
        apply(checkout, block)
    for command in (
        ".venv/bin/ruff check -q .",
        ".venv/bin/ruff format -q --check .",
        ".venv/bin/mypy",
        ".venv/bin/python scripts/examples.py",
        ".venv/bin/python scripts/reference.py",
        ".venv/bin/pytest tests/kernel/test_architecture.py",
    ):
        run(checkout, command)


def test_the_page_has_no_how_to_that_is_not_tested() -> None:
    section = PAGE.split("\n## Change it\n")[1].split("\n## ")[0]
    assert tuple(re.findall(r"^### (.+)$", section, re.MULTILINE)) == HOW_TOS
