"""Files and folders for their owner alone: what was read from logs is kept as private as the logs were.

Others may pass through the data directory to the drop folders, and no further. An operator who lets a group in, by
changing a mode, finds it as he left it: only modes that earlier versions gave are narrowed.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

__all__ = ["PRIVATE", "make_folder", "narrow", "open_private"]

PASSABLE, PRIVATE = 0o755, 0o700


def make_folder(path: Path, mode: int = PASSABLE) -> None:
    """Make a folder and those above it that are missing; less the umask."""
    try:
        path.mkdir(mode)
        _hand_over(path)
    except FileNotFoundError:
        make_folder(path.parent, mode)
        make_folder(path, mode)
    except OSError:
        if not path.is_dir():
            raise


def open_private(path: Path, mode: str) -> IO[bytes]:
    """Open a file to write bytes; a new one is the owner's alone, one that is there keeps its mode."""
    return open(path, mode, opener=_open)


def narrow(path: Path) -> None:
    """Shut others out of a file of mode 0644 or a folder of 0755, as earlier versions made them, or wider ones.

    A group that may write was let in on purpose and stays, unless everybody might.
    """
    with suppress(OSError):  # not there, or not ours
        found = path.lstat()
        mode, ours = found.st_mode, hasattr(os, "geteuid") and found.st_uid == os.geteuid()
        given = {stat.S_IFREG: 0o644, stat.S_IFDIR: 0o755}.get(stat.S_IFMT(mode))
        if ours and given and mode & given == given:
            path.chmod(stat.S_IMODE(mode) & ~(0o007 if mode & 0o022 == 0o020 else 0o077))


def _open(name: str, flags: int) -> int:
    fresh = not os.path.lexists(name)
    handle = os.open(name, flags, 0o600)
    if fresh:
        _hand_over(Path(name))
    return handle


def _hand_over(path: Path) -> None:
    """Give what root made in somebody's folder to them, as SQLite does with the files beside a database."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        owner = path.parent.stat()
        with suppress(OSError):  # a file system without owners
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
