"""One import of an application at a time on a machine: jobs and command lines take turns.

The lock is a file that the operating system frees when its holder ends, however it ends.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from snaglist.kernel import Conflict
from snaglist.kernel.privacy import narrow, open_private

LOCK_FILE = "import.lock"
WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.1


@contextmanager
def import_turn(
    folder: Path, *, wait: float = WAIT_SECONDS, waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the import lock of an application's folder; Conflict when it does not come free in time."""
    deadline = time.monotonic() + wait
    file = folder / LOCK_FILE
    narrow(file)  # who can read it can hold it
    with open_private(file, "ab") as handle:
        while not _take(handle):
            if time.monotonic() >= deadline:
                raise Conflict("Another import is running.")
            if waiting:
                waiting()
            time.sleep(_POLL_SECONDS)
        yield  # closing the file frees the lock


if sys.platform == "win32":
    import msvcrt

    def _take(handle: IO[bytes]) -> bool:
        try:
            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: IO[bytes]) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
