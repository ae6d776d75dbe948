"""The database server goes away and comes back: 503 meanwhile, no restart, nothing half-written."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from snaglist.plugins.issues import tables
from snaglist.testing import running_service

pytestmark = pytest.mark.whole
Config = dict[str, str]
LINES = 30_000


@pytest.fixture(params=["postgresql", "mariadb"])
def config(request: pytest.FixtureRequest, database_on: Callable[[str], Config]) -> Config:
    """A database on a server, where nothing exists yet."""
    return database_on(request.param)


def until(holds: Callable[[], bool], seconds: float) -> float:
    """Wait for something; returns how long it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds
        time.sleep(0.05)
    return time.monotonic() - began


def test_check_120_a_server_that_is_away(
    config: Config, tmp_path: Path, nodes: Callable[..., Any], forwarder: Callable[..., Any]
) -> None:
    """503 with Retry-After while it is away, health says so without naming the host, and all goes on afterwards."""
    way, through = forwarder(config)
    [node] = nodes(1, tmp_path / "data", through)
    assert node.post("tags", {"name": "before"}).status == 201
    way.cut()
    for answer in (node.get("tags"), node.post("tags", {"name": "meanwhile"}), node.get("errors")):
        assert answer.status == 503 and list(answer.json) == ["error"], answer
        assert int(answer.headers["Retry-After"]) >= 1
    health = node.get("health")
    assert (health.status, health.json["status"]) == (503, "degraded")
    assert health.json["checks"]["database"] is False and health.json["checks"]["applications"] is False
    shown = str(health.json) + str(answer.json)
    assert "127.0.0.1" not in shown and str(way.port) not in shown
    time.sleep(2)  # the worker meets the outage too
    way.open()
    assert until(lambda: node.get("tags").status == 200, 10) < 5
    assert [tag["name"] for tag in node.get("tags").json["data"]] == ["before"]
    assert node.post("tags", {"name": "after"}).status == 201
    # The worker runs jobs again.
    drop = tmp_path / "data" / "applications" / "default" / "logs" / "app.log"
    drop.write_text("[2026-01-01 10:00:00] production.ERROR: Order 1 failed\n")
    imported = node.post("import-incoming", {}, wait=1)
    assert (imported.status, imported.json["events"]) == (200, 1)
    until(lambda: node.get("health").json["status"] == "ok", 15)
    assert node.process.poll() is None


def test_nothing_is_half_written(
    config: Config, tmp_path: Path, nodes: Callable[..., Any], forwarder: Callable[..., Any]
) -> None:
    """Writers meet three outages: an answer of 201 is stored, one of 503 in whole or not at all."""
    way, through = forwarder(config)
    [node] = nodes(1, tmp_path / "data", through, "--no-jobs")
    stop = threading.Event()
    answered: list[tuple[str, int]] = []

    def write(number: int) -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            title = f"issue {number} {turn}"
            answered.append((title, node.post("issues", {"title": title, "note": "made"}).status))

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    for _ in range(3):
        time.sleep(0.4)
        way.cut()
        time.sleep(0.3)
        way.open()
    time.sleep(0.4)
    stop.set()
    for writer in writers:
        writer.join(60)
    until(lambda: node.get("tags").status == 200, 10)
    assert {status for _, status in answered} == {201, 503}
    created = {title for title, status in answered if status == 201}
    with (
        running_service(tmp_path / "data", jobs=False, **config) as service,
        service.call().transaction(write=False) as db,
    ):
        rows = db.execute(select(tables.issues.c.id, tables.issues.c.title)).all()
        histories = db.scalars(select(tables.status_history.c.issue_id)).all()
        samples = db.scalars(select(tables.issue_samples.c.issue_id)).all()
        counted = db.execute(select(func.sum(tables.issue_totals.c.issues))).scalar_one()
    titles = {row.title for row in rows}
    assert created <= titles <= {title for title, _ in answered}
    assert sorted(histories) == sorted(samples) == sorted(row.id for row in rows)
    assert counted == len(rows) == len(titles)


def test_an_import_goes_on_where_the_outage_cut_it(
    config: Config, tmp_path: Path, commands: Callable[..., Any], forwarder: Callable[..., Any]
) -> None:
    """The run fails in words; the next one reads the rest, and every event counts once."""
    way, through = forwarder(config)
    data = tmp_path / "data"
    assert commands(data, through, ["db", "upgrade"])[0][0] == 0
    log = tmp_path / "app.log"
    log.write_text(
        "".join(
            f"[2026-01-01 10:{n // 60 % 60:02}:{n % 60:02}] production.ERROR: kind {n % 7}x failed for {n}\n"
            for n in range(LINES)
        )
    )

    def cut_when_some_is_stored() -> None:
        with running_service(data, jobs=False, **config) as service:
            call = service.call()

            def some() -> bool:
                with call.transaction(write=False) as db:
                    return db.execute(select(tables.occurrences.c.id).limit(1)).first() is not None

            until(some, 60)
        way.cut()

    cutter = threading.Thread(target=cut_when_some_is_stored)
    cutter.start()
    [(code, _, err)] = commands(data, through, ["import", str(log)])
    cutter.join()
    assert code in (1, 3), err
    assert "Traceback" not in err and "database" in err, err
    way.open()
    [(code, out, err)] = commands(data, through, ["import", str(log)])
    assert code == 0, (out, err)
    with running_service(data, jobs=False, **config) as service, service.call().transaction(write=False) as db:
        stored = db.execute(select(func.count()).select_from(tables.occurrences)).scalar_one()
        counted = db.execute(select(func.sum(tables.issues.c["count"]))).scalar_one()
    assert (stored, int(counted)) == (LINES, LINES)


def test_a_job_that_lost_its_database_says_so_and_goes_on(
    config: Config, tmp_path: Path, nodes: Callable[..., Any], forwarder: Callable[..., Any]
) -> None:
    """Not that its worker died: the worker is there, and tells when the database is back."""
    way, through = forwarder(config)
    [node] = nodes(1, tmp_path / "data", through)
    drop = tmp_path / "data" / "applications" / "default" / "logs" / "app.log"
    drop.write_text("".join(f"[2026-01-01 10:00:00] production.ERROR: kind {n % 7}x failed\n" for n in range(LINES)))
    job_id = node.post("import-incoming", {}).json["job_id"]
    with running_service(tmp_path / "data", jobs=False, **config) as service:
        call = service.call()

        def stored() -> int:
            with call.transaction(write=False) as db:
                return int(db.execute(select(func.count()).select_from(tables.occurrences)).scalar_one())

        until(lambda: stored() > 0, 60)
        way.cut()
        time.sleep(1)
        way.open()

        def job() -> Any:
            answer = node.get("jobs", id=job_id)
            return answer.json["data"] if answer.status == 200 else {"status": "running"}

        until(lambda: job()["status"] != "running", 20)
        assert job()["error"].startswith("The database was not reachable while the job ran"), job()
        until(lambda: job()["status"] == "succeeded", 60)
        assert stored() == LINES
