"""What was read from logs is kept for the owner alone, whatever the umask; modes that an operator chose stay."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from snaglist.kernel import privacy
from snaglist.kernel.service import KEY_FILE
from snaglist.testing import Client, running_service

OWN = "applications/default"
UMASKS = [0o000, 0o022, 0o077]
AS_ROOT = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root")


@contextmanager
def masked(umask: int) -> Iterator[None]:
    before = os.umask(umask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", UMASKS, ids=oct)
def test_a_fresh_installation_is_the_owners(tmp_path: Path, umask: int) -> None:
    data = tmp_path / "deep" / "data"
    with masked(umask), running_service(data, jobs=False) as service:
        service.secrets.prepare()
        with service.call().transaction():  # while SQLite's own files are there
            files = [path for path in data.rglob("*") if path.is_file()]
            assert {f"{OWN}/service.sqlite", f"{OWN}/service.sqlite-wal", f"{OWN}/service.sqlite-shm", KEY_FILE} <= {
                str(path.relative_to(data)) for path in files
            }
            assert {path.name: oct(mode(path)) for path in files if mode(path) & 0o177} == {}
        assert mode(data / OWN / "processed") == mode(data / OWN / "sources") == 0o700
        assert mode(data / OWN / "logs") == 0o777 & ~umask
        for passable in (data.parent, data, data / "applications", data / OWN):
            assert mode(passable) == 0o755 & ~umask


@pytest.mark.parametrize("umask", UMASKS, ids=oct)
def test_the_archive_keeps_the_mode_of_a_file(tmp_path: Path, umask: int) -> None:
    with masked(umask), running_service(tmp_path / "data", jobs=False) as service:
        logs = service.applications.all()[0].logs
        for name, given in (("one.log", 0o640), ("two.log", 0o604)):
            (logs / name).write_text(f"ERROR {name}\n", encoding="utf-8")
            (logs / name).chmod(given)
            os.utime(logs / name, (0, 0))  # it was finished long ago
        assert Client(service).post("import-incoming").status == 202
        service.jobs.run_queued(service.applications.all()[0])
        archived = {path.name: mode(path) for path in (tmp_path / "data" / OWN / "processed").rglob("*.log")}
        assert archived == {"one.log": 0o640, "two.log": 0o604}
        assert mode(tmp_path / "data" / OWN / "import.lock") == 0o600


def test_what_earlier_versions_made_is_narrowed_at_the_start(fresh_data: Path) -> None:
    application, key = fresh_data / OWN, fresh_data / KEY_FILE
    key.write_text("k" * 43, encoding="ascii")
    files = [fresh_data / "registry.sqlite", application / "service.sqlite", key]
    beside = application / "service.sqlite-journal"
    beside.touch()
    for path in (*files, beside):
        path.chmod(0o644)
    for folder in (application, application / "logs", application / "processed", application / "sources"):
        folder.chmod(0o755)
    with running_service(fresh_data, jobs=False):
        assert [mode(path) for path in files] == [0o600] * 3
        assert not beside.exists() or mode(beside) == 0o600
        assert [mode(application / name) for name in ("processed", "sources")] == [0o700] * 2
        assert [mode(folder) for folder in (application, application / "logs")] == [0o755] * 2


def test_a_mode_that_an_operator_chose_stays(fresh_data: Path) -> None:
    chosen = {"registry.sqlite": 0o640, f"{OWN}/service.sqlite": 0o660, f"{OWN}/processed": 0o750, f"{OWN}/logs": 0o733}
    for name, given in chosen.items():
        (fresh_data / name).chmod(given)
    with masked(0o022), running_service(fresh_data, jobs=False) as service, service.call().transaction():
        assert {name: mode(fresh_data / name) for name in chosen} == chosen
        assert mode(fresh_data / OWN / "service.sqlite-wal") == 0o660


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (0o644, 0o600), (0o664, 0o660), (0o666, 0o600), (0o755, 0o700),
        (0o640, 0o640), (0o660, 0o660), (0o600, 0o600), (0o604, 0o604), (0o400, 0o400),
    ],
)  # fmt: skip
def test_narrowing(tmp_path: Path, given: int, left: int) -> None:
    """Others go; a group goes with them unless it may write, which the usual umask gives to none."""
    path = tmp_path / "file"
    path.touch()
    path.chmod(given)
    privacy.narrow(path)
    assert mode(path) == left
    privacy.narrow(tmp_path / "none")


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Whoever may put links there must not choose what is changed."""
    there = tmp_path / "there"
    there.touch()
    there.chmod(0o644)
    (tmp_path / "link").symlink_to(there)
    privacy.narrow(tmp_path / "link")
    assert mode(there) == 0o644


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match="file"):
            privacy.make_folder(path)


@AS_ROOT
def test_what_root_makes_is_of_whom_the_folder_is(tmp_path: Path) -> None:
    """A command of root's must not lock the service out of its own data directory, nor narrow what is not root's."""
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, 65534, 65534)
    with running_service(data, jobs=False) as service:
        service.secrets.prepare()
    assert {path.name for path in data.rglob("*") if path.stat().st_uid != 65534} == set()
    (data / KEY_FILE).chmod(0o644)
    privacy.narrow(data / KEY_FILE)
    assert mode(data / KEY_FILE) == 0o644
