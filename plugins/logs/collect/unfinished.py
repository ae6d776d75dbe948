"""Files in the folder `logs` that are handed over piece by piece: no log has their name, until all is there."""

import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

log = logging.getLogger("snaglist")

KEPT_SECONDS = 24 * 3600  # since the last piece of a file whose rest does not come
_PART = re.compile(r"\.[0-9a-f]{32}\.upload")


def part_name(token: str) -> str:
    """Return the name under which the pieces of a file are put together."""
    return f".{token}.upload"


def is_part(name: str) -> bool:
    """Tell whether a file has such a name; whatever else ends in `.upload` is somebody's file."""
    return bool(_PART.fullmatch(name))


def left_over(folder: Path) -> Iterator[Path]:
    """Give the parts of files whose rest did not come."""
    with suppress(OSError), os.scandir(folder) as listing:
        for entry in listing:
            if is_part(entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):  # it has got its name meanwhile
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > KEPT_SECONDS:
                        yield Path(entry.path)


def forget_old(folder: Path) -> None:
    """Delete the parts of files whose rest did not come."""
    for part in list(left_over(folder)):
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s, a part of a file without the rest, cannot be deleted: %s", part.name, error.strerror)
