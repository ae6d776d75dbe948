"""Runs whose job ends from outside, intervals, signs of life, and repeating."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from snaglist.kernel import times
from snaglist.plugins.connectors import ConnectorType, planning, runs, syncing, tables
from snaglist.plugins.connectors.types import BUILT_IN, local
from snaglist.plugins.system import jobs_table
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.servers

PROGRAM = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]


class Gate:
    """Holds every plan until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        make_plan = planning.make_plan

        def slow(*arguments: Any) -> Any:
            self.entered.set()
            assert self.opened.wait(20)
            return make_plan(*arguments)

        monkeypatch.setattr(planning, "make_plan", slow)


def one_run(site: Any) -> dict[str, Any]:
    run: dict[str, Any] = site.client.get("connectors-runs").json["data"][0]
    return run


def until(wanted: Any) -> None:
    for _ in range(400):
        if wanted():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come to that")


def execute(site: Any, statement: Any) -> None:
    with site.service.call().transaction() as db:
        db.execute(statement)


@pytest.fixture
def idle(service: Any, folder: Path, request: pytest.FixtureRequest) -> Any:
    """A site whose worker takes no job: nothing runs unless the test says so."""
    site = request.getfixturevalue("site")
    site.service.jobs.run_next = lambda *_: False
    return site


def work(site: Any, job_id: int) -> bool:
    """Run a job of an idle site here."""
    jobs = site.service.jobs
    return bool(type(jobs).run_next(jobs, site.service.applications.all()[0], job_id=job_id))


def test_a_queued_sync_that_is_cancelled(idle: Any) -> None:
    idle.write("app.log", "alpha broke")
    made = idle.make()
    queued = idle.client.post("connectors-sync", {"id": made["id"]}).json
    assert one_run(idle)["status"] == "queued"
    idle.client.post("jobs", {"id": queued["job_id"], "action": "cancel"})
    shown = one_run(idle)
    assert (shown["status"], shown["message"]) == ("cancelled", "The job was cancelled.")
    again = idle.client.post("connectors-sync", {"id": made["id"]})
    assert again.status == 202  # the connector is free
    ended = idle.client.get("connectors-runs").json["data"][-1]
    assert ended["status"] == "cancelled" and ended["finished_at"]
    assert idle.client.get("connectors").json["data"][0]["last_status"] == "cancelled"


def test_a_running_sync_that_is_cancelled(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    site.write("app.log", "alpha broke")
    made = site.make()
    queued = site.client.post("connectors-sync", {"id": made["id"]}).json
    assert gate.entered.wait(20)
    site.client.post("jobs", {"id": queued["job_id"], "action": "cancel"})
    gate.opened.set()
    until(lambda: one_run(site)["finished_at"])
    assert one_run(site)["status"] == "cancelled"
    assert site.titles() == {}
    assert site.sync(made["id"])["events_indexed"] == 1


def test_retrying_makes_new_runs(site: Any) -> None:
    site.write("app.log", "alpha broke")
    made = site.make()
    site.folder.rename(site.folder.with_name("away"))
    assert "does not exist" in site.fail(made["id"])
    site.folder.with_name("away").rename(site.folder)
    failed = site.client.get("jobs", status="failed").json["data"][0]
    assert failed["kind"] == "connectors_sync"
    retried = site.client.post("jobs", {"id": failed["id"], "action": "retry"}).json
    until(lambda: site.client.get("jobs", id=retried["id"]).json["data"]["status"] == "succeeded")
    listed = site.client.get("connectors-runs").json["data"]
    assert [(run["status"], run["job_id"]) for run in listed] == [
        ("success", retried["id"]), ("failed", failed["id"])
    ]  # fmt: skip


def test_a_sync_whose_worker_died_goes_on_as_the_same_run(idle: Any) -> None:
    """At the next take-over; a run that was done by then is not repeated."""
    idle.write("a/app.log", "alpha broke")
    idle.write("b/app.log", "beta broke")
    first, second = (idle.make(name, directory=str(idle.folder / name)) for name in ("a", "b"))
    queued = idle.client.post("connectors-sync", {}).json
    done, left = queued["run_ids"]
    execute(idle, update(tables.connector_runs).where(tables.connector_runs.c.id == done).values(
        status="success", finished_at="2026-01-01 00:00:00"
    ))  # fmt: skip
    execute(idle, update(tables.connector_runs).where(tables.connector_runs.c.id == left).values(status="running"))
    execute(idle, update(jobs_table).values(
        status="running", attempts=1, lease_owner="gone", heartbeat_at="2026-01-01 00:00:00"
    ))  # fmt: skip
    assert work(idle, queued["job_id"])
    listed = idle.client.get("connectors-runs").json["data"]
    assert [(run["id"], run["status"], run["events_indexed"]) for run in listed] == [
        (left, "success", 1), (done, "success", 0)
    ]  # fmt: skip
    assert idle.titles() == {"beta broke": 1}
    assert {first["id"], second["id"]} == {run["connector_id"] for run in listed}


def test_a_run_without_a_sign_of_life_has_failed(idle: Any) -> None:
    """Marked by the worker, and the connector is free again."""
    made = idle.make()
    idle.client.post("connectors-sync", {"id": made["id"]})
    execute(idle, update(jobs_table).values(status="running", lease_owner="x", heartbeat_at=times.now()))
    for seconds, status in ((800, "running"), (1000, "failed")):
        silent = times.add(times.now(), seconds=-seconds)
        execute(idle, update(tables.connector_runs).values(status="running", updated_at=silent))
        assert one_run(idle)["status"] == status
    assert one_run(idle)["message"] == "There was no sign of life for 900 seconds."
    call = idle.service.call()
    with call.transaction(write=False):
        assert syncing.due(call) == {"connectors": {}}  # asks for a job that marks it
    with call.transaction():
        runs.settle(call)
    with call.transaction(write=False):
        assert syncing.due(call) is None
    assert idle.rows(tables.connector_runs)[0].status == "failed"
    assert idle.client.post("connectors-sync", {"id": made["id"]}).status == 202


def test_a_run_shows_signs_of_life_whatever_it_waits_for(sqlite_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site = sqlite_site
    monkeypatch.setattr(runs, "BEAT_SECONDS", 0.05)
    gate = Gate(monkeypatch)
    made = site.make()
    site.client.post("connectors-sync", {"id": made["id"]})
    assert gate.entered.wait(20)
    execute(site, update(tables.connector_runs).values(updated_at="2026-01-01 00:00:00"))
    until(lambda: one_run(site)["updated_at"] > "2026-01-01 00:00:00")
    gate.opened.set()
    until(lambda: one_run(site)["status"] == "success")
    assert runs.BEAT_SECONDS < 10


def test_intervals(site: Any) -> None:
    """A sync is queued that often; switched off, on demand and busy ones are left alone."""
    made = [site.make(name) for name in ("a", "b", "c")]
    site.client.patch("connectors", {"id": made[0]["id"], "interval_minutes": 5})
    site.client.patch("connectors", {"id": made[1]["id"], "interval_minutes": 5, "enabled": False})

    def due() -> Any:
        call = site.service.call()
        with call.transaction(write=False):
            return syncing.due(call)

    assert due() == {"connectors": {str(made[0]["id"]): None}}
    site.sync(made[0]["id"])
    assert due() is None
    execute(site, update(tables.connector_runs).values(started_at=times.add(times.now(), seconds=-299)))
    assert due() is None
    execute(site, update(tables.connector_runs).values(started_at=times.add(times.now(), seconds=-301)))
    assert due() == {"connectors": {str(made[0]["id"]): None}}


def test_the_worker_syncs_what_is_due(fresh_data: Path, folder: Path) -> None:
    (folder / "app.log").write_text("[2026-01-01 00:00:00] production.ERROR: alpha broke\n")
    config = {"ingestion__allowed_roots": [str(folder)], "sync__interval_seconds": 1, "ingestion__interval_seconds": 0}
    with running_service(fresh_data, schedules=True, **config) as service:
        client = Client(service)
        body = {"name": "a", "type": "local", "config": {"directory": str(folder)}, "interval_minutes": 1}
        assert client.post("connectors", body).status == 201
        until(lambda: [r for r in client.get("connectors-runs").json["data"] if r["status"] == "success"])
        run = client.get("connectors-runs").json["data"][0]
        assert client.get("jobs", id=run["job_id"]).json["data"]["created_by"] is None


def test_mirrors_go_by_age_and_nothing_is_read_twice(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """`retention.mirror_max_age_days`; what grows afterwards is fetched anew and only its tail is read."""
    elsewhere = ConnectorType(local.check, local.open_folder)  # the folder as if it were on another machine
    monkeypatch.setitem(BUILT_IN, "local", elsewhere)
    site = request.getfixturevalue("own_site")  # whose service starts with it
    path = site.write("app.log", "alpha broke")
    old = time.time() - 10 * 86400
    os.utime(path, (old, old))
    made = site.make()
    site.sync(made["id"])
    mirror = next(p for p in site.service.applications.all()[0].sources.rglob("*.log"))
    assert mirror.read_bytes() == path.read_bytes()
    execute(site, update(tables.streams).values(last_synced_at=times.add(times.now(), days=-10)))
    site.service.settings._values["retention.mirror_max_age_days"] = 7
    site.sync(made["id"])
    assert not mirror.exists()
    assert site.actions(made["id"]) == {"app.log": "unchanged"}
    site.write("app.log", "beta broke")
    assert site.preview(made["id"])["files"][0]["bytes_to_fetch"] == path.stat().st_size
    assert site.sync(made["id"])["events_indexed"] == 1
    assert site.titles() == {"alpha broke": 1, "beta broke": 1}


# -- the command line


def snaglist(data: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    env |= {"SERVICE_DATA": str(data), "SERVICE_INGESTION_ALLOWED_ROOTS": str(folder)}
    return subprocess.run([*PROGRAM, *arguments], env=env, capture_output=True, text=True, timeout=120, check=False)


def test_33_sync_on_the_command_line(fresh_data: Path, folder: Path) -> None:
    """A row per connector; 3 when some failed, 1 when all did."""
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    (folder / "a" / "app.log").write_text("[2026-01-01 00:00:00] production.ERROR: alpha broke\n")
    nothing = snaglist(fresh_data, folder, "sync", "--json")
    assert (nothing.returncode, json.loads(nothing.stdout)) == (0, {"runs": []})
    with running_service(fresh_data, jobs=False, ingestion__allowed_roots=[str(folder)]) as service:
        for name in ("a", "b"):
            body = {"name": name, "type": "local", "config": {"directory": str(folder / name)}}
            assert Client(service).post("connectors", body).status == 201
    done = snaglist(fresh_data, folder, "sync")
    assert done.returncode == 0, done.stderr
    header, first, second = (row.split() for row in done.stdout.splitlines())
    assert header == ["CONNECTOR", "TYPE", "FILES", "UPDATED", "BYTES", "EVENTS", "STATE", "MESSAGE"]
    assert (first[0], first[5], first[6], second[0]) == ("a", "1", "success", "b")
    (folder / "b").rmdir()
    some = snaglist(fresh_data, folder, "sync", "--json")
    assert some.returncode == 3
    assert [run["status"] for run in json.loads(some.stdout)["runs"]] == ["success", "failed"]
    assert snaglist(fresh_data, folder, "sync", "--connector", "B").returncode == 1
    assert snaglist(fresh_data, folder, "sync", "--connector", "1").returncode == 0
    unknown = snaglist(fresh_data, folder, "sync", "--connector", "nope")
    assert unknown.returncode == 1 and "Unknown connector" in unknown.stderr
