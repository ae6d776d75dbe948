"""Lines read twice count once, whatever happens to the file; addresses are not stored."""

import gzip
import random
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from snaglist.kernel import times
from snaglist.plugins.access_analytics import folding
from snaglist.plugins.access_analytics.tables import hours
from snaglist.plugins.issues import EventSource
from snaglist.plugins.logs import LineBatch, hookspecs
from snaglist.plugins.system import JobCall
from snaglist.testing import Client

pytestmark = pytest.mark.servers

Line = Callable[..., str]
Before = Callable[..., datetime]


def test_a_line_that_grows_counts_once_and_as_it_is_in_the_end(analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    whole = line("/a") + line("/b", 200)
    cut = whole.rindex('" "')  # the agent is missing yet
    log.write_text(whole[:cut] + '"')
    analytics.read(log)
    assert (analytics.report()["total"], analytics.report()["bots"]) == (2, 1)
    log.write_text(whole)
    analytics.read(log)
    report = analytics.report()
    assert (report["total"], report["bots"], report["bytes"]) == (2, 0, 200)
    log.write_text(whole + line("/c"))
    analytics.read(log)
    assert [analytics.report()[name] for name in ("total", "bots", "bytes")] == [3, 0, 300]
    analytics.read(log)
    assert analytics.report()["total"] == 3


def test_reindex_rotation_and_copies(analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text("".join(line(f"/{name}") for name in "abc"))
    analytics.read(log)
    analytics.reindex()
    assert analytics.report()["total"] == 3
    log.rename(tmp_path / "access.log.1")
    log.write_text(line("/d") * 2)
    for name in ("access.log", "access.log.1"):
        analytics.read(tmp_path / name)
    assert analytics.report()["total"] == 5
    (tmp_path / "access.log.1").rename(tmp_path / "access.log.2")
    with gzip.open(tmp_path / "access.log.2.gz", "wb") as packed:
        packed.write((tmp_path / "access.log.2").read_bytes())
    (tmp_path / "access.log.2").unlink()
    analytics.read(tmp_path / "access.log.2.gz")
    assert analytics.report()["total"] == 5
    analytics.reindex()
    assert analytics.report()["total"] == 5


def test_what_was_read_while_the_area_was_off(analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    analytics.switch(False)
    log.write_text(line("/a") * 3)
    analytics.read(log)
    analytics.switch(True)
    assert analytics.report()["total"] == 0
    log.write_text(log.read_text() + line("/b"))
    analytics.read(log)
    assert analytics.report()["total"] == 1
    analytics.reindex()
    assert analytics.report()["total"] == 4


def test_severity_settings_change_nothing(sqlite_analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(line("/a", 200) + line("/b", 500))
    changed = sqlite_analytics.client.patch("ingestion-settings", {"severities": ["CRITICAL"]})
    assert changed.status == 200
    sqlite_analytics.read(log)
    assert sqlite_analytics.report()["total"] == 2


def test_addresses_are_not_stored(sqlite_analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(line("/a", address="203.0.113.77"))
    sqlite_analytics.read(log)
    with sqlite_analytics.client.service.call().transaction(write=False) as db:
        rows = db.execute(select(hours)).all()
    assert rows and "203.0.113.77" not in repr(rows)


class UnleasedJob(JobCall):
    """A run of a job that nobody watches."""

    def progress(self, done: int, total: int | None = None, text: str | None = None) -> None:
        assert self.connection is None

    def check_cancelled(self) -> None:
        assert self.connection is None


def test_old_hours_become_days(analytics: Any, line: Line, before: Before, tmp_path: Path) -> None:
    """Lines of old days go to their day at once; hours that grew old are folded by a job, sums unchanged."""
    service = analytics.client.service
    log = tmp_path / "access.log"
    old, new = before(days=20), before(days=3)
    log.write_text(line("/a", when=old, rest=" 5") + line("/b", when=new) + line("/b", when=new, address="192.0.2.9"))
    analytics.read(log, final=True)

    def kept() -> set[str]:
        with service.call().transaction(write=False) as db:
            return set(db.execute(select(hours.c.hour)).scalars())

    assert f"{old:%Y-%m-%d} 00:00:00" in kept() and f"{new:%Y-%m-%d %H}:00:00" in kept()
    report = analytics.report(days=30)
    call = service.call()
    job = UnleasedJob(service, call.selected, now=times.add(call.now, days=6))
    with job.transaction(write=False):
        assert folding.due(job) is not None
    folding.run(job)
    assert {hour[11:] for hour in kept()} == {"00:00:00"}
    with job.transaction(write=False):
        assert folding.due(job) is None
    folded = analytics.report(days=30)
    hourly: dict[str, Any] = {"to": "", "from": "", "by_hour": [], "hours_of_day": {}}
    assert folded | hourly == report | hourly


PATHS = ("/", "/a?x=1", "/a", "/b;j=1", "/orders/1", "/orders/22", "/a%20b")
AGENTS = ("-", "curl/8.0", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
requests = st.tuples(
    st.sampled_from(PATHS), st.sampled_from((101, 200, 302, 404, 503)), st.sampled_from(("GET", "POST")),
    st.integers(0, 10**6), st.sampled_from(AGENTS), st.integers(1, 9),
)  # fmt: skip


@settings(max_examples=15)
@given(made=st.lists(requests, min_size=1, max_size=60), seed=st.integers(0, 10**6))
def test_sums_equal_a_naive_recount(
    made: list[Any], seed: int, sqlite_analytics: Any, line: Line, before: Before, tmp_path: Path
) -> None:
    """However the file grows between reads (cut anywhere), is reindexed or read again."""
    chance = random.Random(seed)
    log = tmp_path / f"{uuid.uuid4().hex}.log"
    when = before(hours=1)
    lines = [
        line(path, status, method=method, size=size, agent=agent, address=f"192.0.2.{host}", when=when)
        for path, status, method, size, agent, host in made
    ]
    data = "".join(lines).encode()
    position = 0
    while position < len(data):
        position = min(len(data), position + chance.randrange(1, len(data) + 1))
        log.write_bytes(data[:position])
        sqlite_analytics.read(log)
        if chance.random() < 0.2:
            sqlite_analytics.reindex()
    report = sqlite_analytics.report(source=log.name)
    assert report["total"] == len(made)
    assert report["bytes"] == sum(row[3] for row in made)
    assert {r["status"]: r["count"] for r in report["statuses"]} == Counter(row[1] for row in made)
    assert {r["method"]: r["count"] for r in report["methods"]} == Counter(row[2] for row in made)
    assert report["bots"] == sum(row[4] in AGENTS[:2] for row in made)
    pages = {"/": "/", "/a?x=1": "/a", "/b;j=1": "/b", "/orders/1": "/orders/{id}", "/orders/22": "/orders/{id}"}
    expected = Counter(pages.get(row[0], row[0].replace("%20", " ")) for row in made)
    assert {r["path"]: r["count"] for r in report["top_paths"]} == expected
    assert report["unique_visitors"] == len({(row[4], row[5]) for row in made})
    assert (report["malformed"], report["not_understood"]) == (0, 0)


@pytest.mark.parametrize("way", ["copy", "rename"])
def test_lines_of_a_rotation_count_once(analytics: Any, line: Line, tmp_path: Path, way: str) -> None:
    log, rotated = tmp_path / "access.log", tmp_path / "access.log.1"
    log.write_text("".join(line(f"/{n}x", 200, size=n) for n in range(50)))
    analytics.read(log)
    log.write_text(log.read_text() + line("/late"))
    if way == "copy":
        rotated.write_bytes(log.read_bytes())
        log.write_text("")
    else:
        log.rename(rotated)
    log.write_text(line("/new"))
    for path in (rotated, log, rotated):
        analytics.read(path)
    assert analytics.report()["total"] == 52


def test_a_source_that_another_takes_over_is_counted_there(analytics: Any, line: Line, tmp_path: Path) -> None:
    """A copy that was read on by itself becomes one with its original: nothing is lost, a reindex doubles nothing."""
    service = analytics.client.service
    original, copy = tmp_path / "access.log", tmp_path / "other.log"
    original.write_text(line("/a") * 2)
    copy.write_text(line("/b", address="192.0.2.9", rest=" 5") * 3)
    first, second = (analytics.read(path).source_id for path in (original, copy))
    call = service.call()
    with call.transaction():
        source = EventSource(first, None, str(original))
        call.emit(hookspecs.lines_read, LineBatch(source, (), log_type="access", joined=second))
    report = analytics.report(source="access.log")
    assert (report["total"], report["unique_visitors"], report["response_time"]["measured"]) == (5, 2, 3)
    assert analytics.report()["total"] == 5
    with call.transaction(write=False) as db:
        assert {abs(id) for id in db.execute(select(hours.c.source_id)).scalars()} == {first}


def test_application_logs_count_nothing(sqlite_client: Client, line: Line, tmp_path: Path) -> None:
    sqlite_client.post("plugins", {"id": "access_analytics", "enabled": True})
    service = sqlite_client.service
    log = service.applications.all()[0].logs / "app.log"
    log.write_text("[2026-01-01T10:00:00+00:00] production.ERROR: broken {} []\n")
    assert sqlite_client.post("import-incoming", {}, wait=True).json["events"] == 1
    assert sqlite_client.get("access-analytics", days=90).json["not_understood"] == 0
