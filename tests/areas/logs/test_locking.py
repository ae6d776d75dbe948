"""One import at a time: whoever holds the lock, in whatever process, and however it ends."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from snaglist.kernel import Conflict
from snaglist.plugins.logs.collect.locking import LOCK_FILE, import_turn

HOLD = """
import sys
from pathlib import Path
from snaglist.plugins.logs.collect.locking import import_turn
with import_turn(Path(sys.argv[1])):
    print("holds", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its standard input ends."""
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holds\n"
        yield process


def test_what_another_process_holds_is_not_to_be_had(tmp_path: Path) -> None:
    with holder(tmp_path), pytest.raises(Conflict, match="Another import"), import_turn(tmp_path, wait=0.3):
        pass
    with import_turn(tmp_path, wait=0):
        assert (tmp_path / LOCK_FILE).exists()


def test_a_holder_that_is_killed_frees_it(tmp_path: Path) -> None:
    with holder(tmp_path) as process:
        process.kill()
        process.wait()
        with import_turn(tmp_path, wait=0):
            pass


def test_who_waits_gets_it_when_the_holder_ends(tmp_path: Path) -> None:
    asked = []
    with holder(tmp_path) as process:
        assert process.stdin is not None

        def end() -> None:
            if not asked:
                process.stdin.close()
            asked.append(True)

        with import_turn(tmp_path, waiting=end):
            assert asked


def test_who_waits_can_give_up(tmp_path: Path) -> None:
    def cancelled() -> None:
        raise KeyError("cancelled")

    with holder(tmp_path), pytest.raises(KeyError), import_turn(tmp_path, waiting=cancelled):
        pass


def test_the_file_stays_and_its_mode_with_it(tmp_path: Path) -> None:
    """Somebody may wait at it, and an operator may have let a group in."""
    with import_turn(tmp_path):
        made = (tmp_path / LOCK_FILE).stat()
    assert made.st_mode & 0o777 == 0o600
    (tmp_path / LOCK_FILE).chmod(0o660)
    with import_turn(tmp_path):
        pass
    kept = (tmp_path / LOCK_FILE).stat()
    assert (kept.st_ino, kept.st_mode & 0o777) == (made.st_ino, 0o660)


def test_a_turn_inside_a_turn_does_not_hang(tmp_path: Path) -> None:
    with import_turn(tmp_path), pytest.raises(Conflict), import_turn(tmp_path, wait=0.2):
        pass
    with import_turn(tmp_path, wait=0):
        pass
