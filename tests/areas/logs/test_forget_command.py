"""`snaglist forget-user`, run as a real process."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

LINE = '[2026-01-03 10:00:0{}] production.ERROR: Parcel {} is lost {{"user_id": "{}"}}\n'


def test_it_shows_asks_and_deletes(tmp_path: Path, snaglist: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    log = tmp_path / "app.log"
    log.write_text("".join(LINE.format(number, number, ("jo", "ana")[number % 2]) for number in range(5)))
    assert snaglist("import", str(log)).returncode == 0
    asked = snaglist("forget-user", "jo")
    assert asked.returncode == 2 and "3 events in 1 issue, " in asked.stderr and "needs --yes" in asked.stderr
    done = snaglist("forget-user", "jo", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["deleted"] == {"occurrences": 3, "empty_issue_groups": 0}
    assert [(file["path"], file["events"]) for file in result["files"]] == [(str(log), 3)]
    again = snaglist("forget-user", "jo", "--yes")
    assert "No stored event names this user." in again.stderr and "0 events deleted" in again.stdout
    assert snaglist("forget-user", "ana", "--yes").stdout.splitlines() == [
        "2 events deleted; the issues keep their counts",
        "These files still have lines of them, and are not changed:",
        f"  {log} (2)",
    ]
