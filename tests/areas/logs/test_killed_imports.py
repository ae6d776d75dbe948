"""An import that is killed at random points and repeated counts like an undisturbed one."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from snaglist.plugins.issues import tables
from snaglist.testing import running_service

pytestmark = pytest.mark.whole

Line = Callable[..., str]
KINDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


def write_lines(path: Path, line: Line, first: int, count: int) -> None:
    """Append lines of six issues; every third one has a stack."""
    with path.open("a", encoding="utf-8") as stream:
        for number in range(first, first + count):
            stream.write(line(f"{KINDS[number % 6]} failed for order {number}", seconds=number // 1_000))
            if number % 3 == 0:
                stream.write("Stack trace:\n#0 /srv/shop/cart.php(12): pay()\n#1 {main}\n")


@pytest.mark.parametrize(
    ("kills", "lines"), [(5, 5_000), pytest.param(50, 30_000, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_64_fl25_killed_at_random_points(
    kills: int,
    lines: int,
    tmp_path: Path,
    database_config: dict[str, str],
    line: Line,
    reading_process: Any,
    make_store: Any,
) -> None:
    """The file grows when a run got through, so that every kill has something to interrupt."""
    chance = Random(kills)
    data, log = tmp_path / "data", tmp_path / "big.log"
    with running_service(data, jobs=False, **database_config):
        pass
    readers = reading_process(data, **database_config)
    written = 0
    while readers.killed < kills:
        write_lines(log, line, written, lines)
        written += lines
        reader = readers.start(str(log))
        while not reader.ended and readers.killed < kills:
            time.sleep(chance.random() * 0.3)
            reader.kill()
            reader = readers.start(str(log))
        assert reader.code() == 0
    assert readers.start(str(log)).code() == 0
    with running_service(data, jobs=False, **database_config) as service:
        store = make_store(service)
        counted = {row.title.split()[0]: row.count for row in store.rows(tables.issues)}
        assert counted == Counter(KINDS[number % 6] for number in range(written))
        assert store.source(log).offset == log.stat().st_size
        assert store.count(tables.occurrences) == store.source(log).occurrence_count == written
        store.check_counters()
