"""Syncing with the type `local`: plans, snapshots, runs and what is read."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.connectors import tables
from snaglist.plugins.connectors.types import local
from snaglist.plugins.logs import tables as log_tables


@pytest.mark.servers
def test_74_what_a_plan_says_of_a_file(site: Any) -> None:
    """Growth, rest, truncation, rename; a preview changes nothing."""
    path = site.write("app.log", "alpha broke")
    made = site.make()
    plan = site.preview(made["id"])
    size, status = path.stat().st_size, path.stat()
    assert plan["files"] == [
        {
            "path": str(path), "identity": f"{status.st_dev}:{status.st_ino}", "size": size,
            "modified_at": plan["files"][0]["modified_at"], "action": "new", "bytes_to_fetch": size, "will_sync": True,
        }
    ]  # fmt: skip
    assert plan["summary"]["files_to_sync"] == 1 and plan["summary"]["actions"]["new"] == 1
    assert site.preview(made["id"]) == plan
    run = site.sync(made["id"])
    counts = ("files_discovered", "files_completed", "files_updated", "events_indexed")
    assert [run[count] for count in counts] == [1, 1, 1, 1]
    assert site.actions(made["id"]) == {"app.log": "unchanged"}
    site.write("app.log", "beta broke")
    plan = site.preview(made["id"])
    assert (plan["files"][0]["action"], plan["files"][0]["bytes_to_fetch"]) == ("append", path.stat().st_size - size)
    assert site.sync(made["id"])["events_indexed"] == 1
    site.write("app.log", "gamma", mode="w")
    assert site.actions(made["id"]) == {"app.log": "rotation"}
    site.sync(made["id"])
    path.rename(path.with_name("app.log.1"))
    site.write("app.log", "delta broke")
    plan = site.preview(made["id"])
    assert {Path(f["path"]).name: (f["action"], f["bytes_to_fetch"] > 0) for f in plan["files"]} == {
        "app.log": ("rotation", True),
        "app.log.1": ("rename", False),
    }
    assert site.sync(made["id"])["events_indexed"] == 1
    assert site.titles() == {"alpha broke": 1, "beta broke": 1, "gamma": 1, "delta broke": 1}
    assert site.actions(made["id"]) == {"app.log": "unchanged", "app.log.1": "unchanged"}


def test_the_tail_of_a_renamed_file_is_read(site: Any) -> None:
    """Written after the last sync and before the rename, also where the new name is not watched."""
    path = site.write("app.log", "alpha broke")
    made = site.make(directory=str(site.folder), pattern="app.log")
    site.sync(made["id"])
    site.write("app.log", "beta broke")
    path.rename(path.with_name("app.log.1"))
    site.write("app.log", "delta broke")
    assert site.sync(made["id"])["events_indexed"] == 2
    assert site.titles() == {"alpha broke": 1, "beta broke": 1, "delta broke": 1}


def test_75_a_stale_snapshot(site: Any) -> None:
    """Nothing is read by it; the fresh one succeeds."""
    site.write("app.log", "alpha broke")
    made = site.make()
    stale = site.preview(made["id"])["snapshot"]
    site.write("app.log", "beta broke")
    answer = site.client.post("connectors-sync", {"id": made["id"], "snapshot": stale}, wait=True)
    assert (answer.status, answer.error) == (409, "Snapshot is stale.")
    assert site.rows(log_tables.sources) == [] and site.rows(tables.streams) == []
    shown = site.client.get("connectors").json["data"][0]
    assert (shown["last_status"], shown["last_error"]) == ("failed", "Snapshot is stale.")
    assert shown["last_synced_at"] is None
    fresh = site.preview(made["id"])["snapshot"]
    answer = site.client.post("connectors-sync", {"id": made["id"], "snapshot": fresh}, wait=True)
    assert answer.status == 200 and answer.json["runs"][0]["status"] == "success"
    assert site.titles() == {"alpha broke": 1, "beta broke": 1}
    shown = site.client.get("connectors").json["data"][0]
    assert (shown["last_status"], shown["last_error"], shown["stream_count"]) == ("success", None, 1)
    assert shown["last_synced_at"]


def test_76_a_file_that_was_dropped_before(site: Any) -> None:
    """Equal content is not read again; when it grows only the tail is, and the connector has it."""
    logs = site.service.applications.all()[0].logs
    path = site.write("app.log", "alpha broke")
    (logs / "app.log").write_bytes(path.read_bytes())
    assert site.client.post("import-incoming", wait=True).json["events"] == 1
    made = site.make()
    assert site.actions(made["id"]) == {"app.log": "already_ingested"}
    assert site.preview(made["id"])["files"][0]["will_sync"] is False
    assert site.sync(made["id"])["events_indexed"] == 0
    assert site.actions(made["id"]) == {"app.log": "unchanged"}
    site.write("app.log", "beta broke")
    assert site.sync(made["id"])["events_indexed"] == 1
    assert site.titles() == {"alpha broke": 1, "beta broke": 1}
    assert [row.connector_id for row in site.rows(log_tables.sources)] == [made["id"]]


@pytest.mark.servers
def test_a_file_that_goes_on_from_a_dropped_one(site: Any) -> None:
    logs = site.service.applications.all()[0].logs
    path = site.write("app.log", "alpha broke")
    (logs / "app.log").write_bytes(path.read_bytes())
    site.client.post("import-incoming", wait=True)
    held = path.stat().st_size
    site.write("app.log", "beta broke")
    made = site.make()
    shown = site.preview(made["id"])["files"][0]
    assert (shown["action"], shown["bytes_to_fetch"]) == ("reconcile", path.stat().st_size - held)
    assert site.sync(made["id"])["events_indexed"] == 1
    assert site.titles() == {"alpha broke": 1, "beta broke": 1}


def test_names_that_are_not_utf_8(site: Any) -> None:
    path = site.write("app.log", "alpha broke")
    for name in (b"caf\xe9.log", b"two\nlines.log"):
        with open(os.fsencode(path.parent) + b"/" + name, "wb") as stream:
            stream.write(path.read_bytes().replace(b"alpha", b"beta"))
    made = site.make()
    assert set(site.actions(made["id"])) == {"app.log", r"caf\xe9.log", r"two\x0alines.log"}
    assert site.sync(made["id"])["events_indexed"] == 3
    assert site.titles() == {"alpha broke": 1, "beta broke": 2}
    assert set(site.actions(made["id"]).values()) == {"unchanged"}


def test_a_link_that_takes_the_place_of_a_listed_file(site: Any, tmp_path: Path) -> None:
    """Listed as a file, opened as a link: it is not followed, and named."""
    path = site.write("app.log", "alpha broke")
    made = site.make()
    real = local.Folder.files

    def swapped(self: Any, limit: int) -> Any:
        found = real(self, limit)
        path.rename(tmp_path / "secret")
        path.symlink_to(tmp_path / "secret")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local.Folder, "files", swapped)
        assert "a link has taken its place" in site.fail(made["id"])
    assert site.titles() == {}


@pytest.mark.servers
def test_all_enabled_connectors_at_once(site: Any) -> None:
    site.write("a/app.log", "alpha broke")
    site.write("b/app.log", "beta broke")
    first = site.make("a", directory=str(site.folder / "a"))
    second = site.make("b", directory=str(site.folder / "b"))
    third = site.make("c")
    site.client.patch("connectors", {"id": third["id"], "enabled": False})
    (site.folder / "b" / "app.log").unlink()
    os.rmdir(site.folder / "b")
    previewed = site.client.post("connectors-preview", {}).json
    assert [plan["connector_name"] for plan in previewed["results"]] == ["a"]
    assert [error["connector_id"] for error in previewed["errors"]] == [second["id"]]
    snapshots = {str(first["id"]): previewed["results"][0]["snapshot"]}
    assert "every enabled" in site.client.post("connectors-sync", {"snapshots": snapshots}).error
    answer = site.client.post("connectors-sync", {}, wait=True)
    assert answer.status == 200
    ended = [(run["connector_name"], run["status"]) for run in answer.json["runs"]]
    assert ended == [("a", "success"), ("b", "failed")]
    assert site.titles() == {"alpha broke": 1}
    assert site.client.post("connectors-sync", {"id": third["id"]}).status == 409
    assert site.client.post("connectors-preview", {"id": third["id"]}).status == 409
    assert site.client.post("connectors-test", {"id": third["id"]}).json["ok"] is True


@pytest.mark.servers
def test_runs_are_listed_newest_first(site: Any) -> None:
    site.write("app.log", "alpha broke")
    first, second = site.make("a"), site.make("b")
    assert site.client.get("connectors-runs").json == {
        "data": [], "meta": {"total": 0, "page": 1, "limit": 25, "pages": 0}
    }  # fmt: skip
    runs = [site.sync(first["id"]), site.sync(first["id"]), site.sync(second["id"])]
    listed = site.client.get("connectors-runs", limit=2).json
    assert [run["id"] for run in listed["data"]] == [runs[2]["id"], runs[1]["id"]]
    assert listed["meta"]["total"] == 3
    assert site.client.get("connectors-runs", connector_id=first["id"]).json["meta"]["total"] == 2
    assert site.client.get("connectors-runs", limit=101).status == 422


def test_75_one_run_of_a_connector_at_a_time(site: Any, monkeypatch: Any) -> None:
    """A second sync while one runs is 409 and queues nothing; so is deleting the connector."""
    from snaglist.plugins.connectors import planning

    entered, leave = threading.Event(), threading.Event()
    make_plan = planning.make_plan

    def slow(*arguments: Any) -> Any:
        entered.set()
        assert leave.wait(20)
        return make_plan(*arguments)

    monkeypatch.setattr(planning, "make_plan", slow)
    site.write("app.log", "alpha broke")
    made = site.make()
    queued = site.client.post("connectors-sync", {"id": made["id"]})
    assert queued.status == 202 and queued.json["accepted"] is True
    try:
        assert entered.wait(20)
        answer = site.client.post("connectors-sync", {"id": made["id"]})
        assert answer.status == 409 and "queued or running" in answer.error
        assert site.client.get("jobs").json["meta"]["total"] == 1
        assert site.client.delete("connectors", {"id": made["id"]}).status == 409
        shown = site.client.get("connectors-runs").json["data"]
        assert [(run["id"], run["status"]) for run in shown] == [(queued.json["run_ids"][0], "running")]
    finally:
        leave.set()


@pytest.mark.servers
def test_delete_takes_runs_and_streams_and_leaves_what_was_read(site: Any) -> None:
    site.write("app.log", "alpha broke")
    made = site.make()
    site.sync(made["id"])
    assert site.client.delete("connectors", {"id": made["id"]}).json == {"id": made["id"], "deleted": True}
    assert site.rows(tables.streams) == site.rows(tables.connector_runs) == site.rows(tables.connectors) == []
    assert [row.connector_id for row in site.rows(log_tables.sources)] == [None]
    assert site.titles() == {"alpha broke": 1}
    assert site.client.delete("connectors", {"id": made["id"]}).status == 404
