"""SQLite files under a running service: removed, replaced, damaged (503, never lost writes)."""

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from snaglist.testing import Client, running_service


@pytest.fixture
def idle(fresh_data):
    """A client of a service without a worker, whose connections rest in the pool."""
    with running_service(fresh_data, jobs=False) as service:
        yield Client(service)


def _file(client):
    return client.service.applications.all()[0].file


def test_a_removed_file_takes_no_writes(idle):
    """A connection to a file that is gone would go on to work, and what it is told would be lost."""
    assert idle.post("tags", {"name": "before"}).status == 201
    file = _file(idle)
    for suffix in ("", "-wal", "-shm"):
        shutil.move(f"{file}{suffix}", f"{file}.away{suffix}")
    for answer in (idle.get("tags"), idle.post("tags", {"name": "lost"})):
        assert answer.status == 503 and answer.error
        assert answer.headers["retry-after"] == "300"  # no waiting mends it
    assert not file.exists()
    for suffix in ("", "-wal", "-shm"):
        shutil.move(f"{file}.away{suffix}", f"{file}{suffix}")
    assert [tag["name"] for tag in idle.get("tags").json["data"]] == ["before"]


def test_a_replaced_file_is_opened_anew(idle, tmp_path):
    """Putting a copy back works while the service runs."""
    file = _file(idle)
    idle.post("tags", {"name": "old"})
    with running_service(tmp_path / "other", jobs=False) as other:
        Client(other).post("tags", {"name": "restored"})
        restored = other.applications.all()[0].file
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink()
    shutil.move(restored, file)
    assert [tag["name"] for tag in idle.get("tags").json["data"]] == ["restored"]


def test_a_damaged_file_is_an_outage(idle):
    file = _file(idle)
    idle.get("tags")
    idle.service.database.dispose()
    file.write_bytes(b"no database " * 1000)
    assert idle.get("tags").status == 503
    assert idle.post("tags", {"name": "x"}).status == 503


def test_connections_of_known_files_make_room_for_each_other(fresh_data, monkeypatch):
    """Also when no file is new: 150 applications with eight connections each took all files of the process."""
    monkeypatch.setattr("snaglist.kernel.database.OPEN_CONNECTIONS", 8)
    with running_service(fresh_data, jobs=False) as service:
        for number in range(6):
            assert Client(service).post("applications", {"name": f"Shop {number}"}).status == 201
        applications = service.applications.all()
        for application in applications:
            with service.database.transaction(application, write=False):
                pass
        for application in applications:
            with ExitStack() as at_once:
                for _ in range(4):
                    at_once.enter_context(service.database.transaction(application, write=False))
        opened = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
        assert len([path for path in opened if path.startswith(str(fresh_data)) and path.endswith(".sqlite")]) <= 8
