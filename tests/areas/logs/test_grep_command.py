"""`snaglist grep`, run as a real process."""

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

Run = Callable[..., subprocess.CompletedProcess[str]]
LOG = (
    "[2026-01-03 10:00:00] shop.INFO: Order 52045 placed\n"
    "[2026-01-03 10:00:01] shop.ERROR: Order 52045 failed\n"
    "[2026-01-04 10:00:02] shop.INFO: Order 52046 placed\n"
)


@pytest.fixture
def snaglist(tmp_path: Path, snaglist: Run) -> Run:
    """Run the command line in a folder with two logs that were imported."""
    (tmp_path / "shop.log").write_text(LOG)
    (tmp_path / "old.log.gz").write_bytes(gzip.compress(LOG.replace("2026", "2025").encode()))
    assert snaglist("import", "old.log.gz", "shop.log").returncode == 0
    return snaglist


def test_hits_are_printed_as_grep_does(snaglist: Run, tmp_path: Path) -> None:
    found = snaglist("grep", "52045 failed")
    shop, old = tmp_path / "shop.log", tmp_path / "old.log.gz"
    lines = [f"{shop}:2:{LOG.splitlines()[1]}", f"{old}:2:{LOG.splitlines()[1].replace('2026', '2025')}"]
    assert (found.returncode, found.stdout.splitlines(), found.stderr) == (0, lines, "")
    around = snaglist("grep", "ORDER 52045 FAILED", "-i", "-C", "1", "--since", "2026-01-01")
    assert around.stdout.splitlines() == [f"{shop}-{LOG.splitlines()[0]}", lines[0], f"{shop}-{LOG.splitlines()[2]}"]
    assert snaglist("grep", "Order", "--level", "error", "--source", "shop").stdout.splitlines() == lines[:1]
    rows = snaglist("grep", "--json", "--regex", r"5204[6-9] p.*d$").stdout.splitlines()
    assert [(json.loads(row)["line"], json.loads(row)["source_id"]) for row in rows] == [(3, 2), (3, 1)]


def test_exit_codes_are_those_of_grep(snaglist: Run, tmp_path: Path) -> None:
    nothing = snaglist("grep", "no such text")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, "", "")
    bad = snaglist("grep", "--regex", "a(")
    assert (bad.returncode, bad.stdout) == (2, "") and "snaglist: pattern: missing )" in bad.stderr
    for usage in (("--since", "soon", "x"), ("--level", "loud", "x"), ()):
        assert snaglist("grep", *usage).returncode == 2
    (tmp_path / "shop.log").unlink()
    less = snaglist("grep", "52045 failed")
    assert less.returncode == 0 and len(less.stdout.splitlines()) == 1
    assert less.stderr == f"not searched: {tmp_path / 'shop.log'}: Raw source is no longer available.\n"


def test_times_may_be_given_as_how_long_ago(snaglist: Run) -> None:
    assert snaglist("grep", "Order", "--since", "1h").returncode == 1
    assert snaglist("grep", "Order", "--until", "1h").returncode == 0
