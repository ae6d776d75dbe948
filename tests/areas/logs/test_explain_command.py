"""`snaglist explain`, run as a real process."""

import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from snaglist.plugins.issues.grouping import VERSION

pytestmark = pytest.mark.whole

Run = Callable[..., subprocess.CompletedProcess[str]]
NAMES = ["anna", "ben", "carla", "elif", "hugo", "kaya"]
LOG = "".join(
    f'[2026-01-03 10:00:0{second}] shop.ERROR: Holiday calendar of {name} loaded {{"n":{second}}} []\n'
    for second, name in enumerate(NAMES)
) + (
    "[2026-01-03 10:00:09] shop.CRITICAL: Order 4711 failed\n"
    '[2026-01-03 10:00:10] shop.CRITICAL: Order 4712 failed {"exception":"[object] (App\\\\Boom(code: 0): x at'
    ' /srv/app/Pay.php:4)\\n[stacktrace]\\n#0 /srv/app/index.php(2): App\\\\Pay->charge()\\n#1 {main}\\n"} []\n'
)


def test_each_entry_is_explained(snaglist: Run, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text(LOG)
    found = snaglist("--json", "explain", "app.log")
    assert (found.returncode, found.stderr) == (0, "")
    document = json.loads(found.stdout)
    assert (document["log_type"], document["encoding"], document["groups"]) == ("monolog", "utf-8", 3)
    entries = document["entries"]
    assert len(entries) == 8 and {entry["log_type"] for entry in entries} == {"monolog"}
    anna, order, failure = entries[0], entries[6], entries[7]
    assert (anna["byte_start"], anna["byte_end"]) == (0, LOG.index("\n") + 1)
    assert (anna["occurred_at"], anna["severity"], anna["context"]) == ("2026-01-03 10:00:00", "ERROR", '{"n":0}')
    assert anna["template"] == "Holiday calendar of anna loaded"
    assert {entry["group"] for entry in entries[:6]} == {"-|text||Holiday calendar of <*> loaded"}
    assert (order["template"], order["key"], order["group"]) == (
        "Order <*> failed",
        "-|text||Order <*> failed",
        "-|text||Order <*> failed",
    )
    assert failure["exceptions"] == [{"class": "App\\Boom", "message": "x", "frames": 2}]
    assert failure["parts"]["exceptions"][0]["frames"] and failure["template"] is None
    assert all(len(entry["fingerprint"]) == 64 and entry["fingerprint_version"] == VERSION for entry in entries)


def test_the_table_shows_format_fields_template_parts_and_key(snaglist: Run) -> None:
    found = snaglist("explain", "-", stdin=LOG)
    assert found.returncode == 0, found.stderr
    blocks = found.stdout.split("\n\n")
    last = ["monolog, utf-8: 8 entries, 3 groups", "with a time: 100%, with a level: 100%"]
    assert blocks[-1].strip().splitlines() == last
    assert blocks[0] == "format: monolog"
    rows = dict(line.split(None, 1) for line in blocks[1].splitlines()[1:])
    assert blocks[1].startswith("#1  bytes 0-") and "monolog" in blocks[1].splitlines()[0]
    assert rows["template"] == "Holiday calendar of anna loaded"
    assert rows["parts"] == "family text, template yes" and rows["channel"] == "stdin"
    assert rows["key"] == "-|text||Holiday calendar of anna loaded"
    assert rows["group"] == "-|text||Holiday calendar of <*> loaded"


def test_nothing_is_stored(snaglist: Run, tmp_path: Path) -> None:
    snaglist("explain", "-", stdin=LOG)
    assert list(tmp_path.iterdir()) == []


def test_compressed_files_and_zones(snaglist: Run, tmp_path: Path) -> None:
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(LOG.encode()))
    found = snaglist("explain", "app.log.gz", "--timezone", "Asia/Shanghai", "--json")
    assert json.loads(found.stdout)["entries"][0]["occurred_at"] == "2026-01-03 02:00:00"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("nope.log",), 1), ((".",), 1), ((), 2), (("-", "--timezone", "Mars/Base"), 2)],
)
def test_wrong_use(snaglist: Run, arguments: tuple[str, ...], code: int) -> None:
    assert snaglist("explain", *arguments).returncode == code


def test_an_empty_file(snaglist: Run) -> None:
    assert snaglist("explain", "-").stdout.strip() == "console, utf-8: 0 entries, 0 groups"
