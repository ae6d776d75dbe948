"""Whether a dropped file is finished, so that it may be archived: nobody can say so for a file that is being copied.

It has not changed for a while, and where the system tells, no program has it open for writing. That a program has not
is no proof: another machine may write, or a program that opens the file for each line.
"""

import errno
import os
import signal
import stat
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from snaglist.kernel import Call, times
from snaglist.plugins.logs.store.sources import known_source

GROWS = "it was changed a moment ago, so it may still grow"
WRITTEN = "a program has it open for writing"


def unrest(call: Call, file: Path) -> str | None:
    """Return why a file may not be finished, None when it is. Raises OSError."""
    status = file.stat()
    quiet_seconds = call.setting("ingestion.quiet_seconds")
    if time.time() - status.st_mtime < quiet_seconds and not _stood_still(call, file, status, quiet_seconds):
        return GROWS
    return WRITTEN if is_written(file) else None


def _stood_still(call: Call, file: Path, status: os.stat_result, quiet_seconds: int) -> bool:
    """Tell whether a file is as it was when it was read, a while ago: its clock may be ahead of ours."""
    with nullcontext() if call.connection is not None else call.transaction(write=False):
        known = known_source(call, file)
    if known is None or known.modified_at is None:
        return False
    unchanged = int(times.read(known.modified_at).timestamp()) == int(status.st_mtime)
    return unchanged and times.add(known.imported_at, seconds=quiet_seconds) < times.now()


if sys.platform == "linux":
    import fcntl

    def is_written(file: Path) -> bool:
        """Tell whether a program is known to have a file open for writing; raises OSError.

        The kernel grants a lease for reading only when there is none. It tells the owner of the file alone, and not on
        every file system.
        """
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return False
            # A program that opens the file in this moment breaks the lease; the usual signal for that would end us.
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as error:
            return error.errno == errno.EAGAIN
        else:
            return False
        finally:
            os.close(handle)  # gives the lease back

else:

    def is_written(file: Path) -> bool:
        """Tell whether a program is known to have a file open for writing: never, this system does not say."""
        return False
