"""Mirrors: the fetched bytes of remote files, one file per stream, whose length is the checkpoint of its transfer."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO

from snaglist.kernel import Call, digest, times
from snaglist.kernel.privacy import PRIVATE, make_folder, open_private
from snaglist.plugins.connectors import queries
from snaglist.plugins.connectors.tables import streams
from snaglist.plugins.issues import file_at
from snaglist.plugins.system import rows

_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\]")
_MAX_NAME = 200  # bytes


def folder_of(call: Call, connector_id: int) -> Path:
    """Return the folder that holds the mirrors of a connector."""
    return call.application.sources / str(connector_id)


def place_of(call: Call, connector_id: int, path: str, generation: int) -> Path:
    """Return where the mirror of one generation of a remote file goes."""
    return folder_of(call, connector_id) / f"{digest(path)[:16]}-g{generation}" / base_name(path)


def base_name(path: str) -> str:
    """Return the base name of a remote path as a name that every file system takes."""
    name = _UNFIT.sub("_", path.rstrip("/").rpartition("/")[2])
    name = name.encode("utf-8", "replace")[-_MAX_NAME:].decode("utf-8", "ignore")
    return name if name.strip(". ") else "file"


def held(mirror: Path) -> int:
    """Return how many bytes a mirror holds."""
    try:
        return mirror.stat().st_size
    except OSError:
        return 0


def head_hash(data: bytes) -> str:
    """Return the hash by which the beginning of a file is known again."""
    return sha256(data).hexdigest()


@contextmanager
def appending(mirror: Path) -> Iterator[IO[bytes]]:
    """Open a mirror to write behind what it holds."""
    make_folder(mirror.parent, PRIVATE)
    with open_private(mirror, "ab") as stream:
        yield stream


def write_through(stream: IO[bytes], data: bytes) -> None:
    """Write bytes so that the length of the mirror never tells of bytes that are not there after a power cut."""
    stream.write(data)
    stream.flush()
    os.fsync(stream.fileno())


def prune(call: Call, connector_id: int) -> None:
    """Remove the mirrors of files that did not change for `retention.mirror_max_age_days`."""
    days = call.setting("retention.mirror_max_age_days")
    if not days:
        return
    old = call.read(lambda db: queries.old_mirrors(db, connector_id, times.add(call.now, days=-days)))
    for row in old:
        mirror = file_at(call, row.local_path)
        mirror.unlink(missing_ok=True)
        with suppress(OSError):
            mirror.parent.rmdir()
        with call.transaction() as db:
            rows.change(db, streams, row.id, local_path=None)
