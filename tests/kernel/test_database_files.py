"""SQLite files under a running service: removed, replaced, damaged (503, never lost writes)."""

import shutil

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
