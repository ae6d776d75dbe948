"""One import of an application at a time on a machine: jobs and command lines take turns.

The lock is a file that the operating system frees when its holder ends, however it ends.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from snaglist.kernel import Conflict
from snaglist.kernel.privacy import narrow, open_private

LOCK_FILE = "import.lock"
WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.1


@contextmanager
def import_turn(
    folder: Path, *, wait: float = WAIT_SECONDS, waiting: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Hold the import lock of an application's folder; Conflict when it does not come free in time.

    `waiting` is called again and again while another holds it; what it raises ends the wait, as does a true answer.
    """
    from filelock import FileLock, Timeout  # PERF: loaded with the first import, not at each start

    file = folder / LOCK_FILE
    narrow(file)  # who can read it can hold it
    open_private(file, "ab").close()
    # Never deleted: a process that waits at a deleted file would not see the next one that is made.
    lock = FileLock(file, wait, poll_interval=_POLL_SECONDS, preserve_lock_file=True)
    try:
        turn = lock.acquire(cancel_check=lambda: bool(waiting()))
    except Timeout as error:
        raise Conflict("Another import is running.") from error
    with turn:
        yield
