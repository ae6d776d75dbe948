"""What lies in folders, read bit by bit: who has seen enough stops."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def entries_below(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Give each entry below a folder, in no order; links are not followed, and what cannot be read is left out."""
    folders = [str(folder)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                yield entry
