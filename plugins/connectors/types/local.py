"""The type `local`: a folder on this machine, read in place."""

import os
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snaglist.kernel import Call, Invalid, times
from snaglist.plugins.connectors.contract import Config, Opening, ReadAt, RemoteFailure, RemoteFile
from snaglist.plugins.connectors.names import wanted_names
from snaglist.plugins.issues import file_at, stored_path
from snaglist.plugins.logs import allowed_roots, discover, open_file

_OUTSIDE = (
    "config.directory: must be an existing folder that may be read: one below /var/log, "
    "or, where it is set, below one of ingestion.allowed_roots"
)


def check(call: Call, config: Config, secrets: Config) -> Config:
    """Resolve the folder; one message for what is outside and for what does not exist."""
    folder = _resolved(call, config["directory"])
    if folder is None:
        raise Invalid(_OUTSIDE)
    return {**config, "directory": stored_path(call, folder)}


def _resolved(call: Call, directory: str) -> Path | None:
    path = file_at(call, directory)  # what lies in the data directory is stored relative to it
    try:
        folder = path.resolve(strict=True)
        if not folder.is_dir() or not _is_allowed(call, folder):
            return None
    except (OSError, RuntimeError, ValueError):
        return None
    return folder


def _is_allowed(call: Call, path: Path) -> bool:
    return any(path.is_relative_to(root) for root in allowed_roots(call))


@contextmanager
def open_folder(opening: Opening) -> Iterator["Folder"]:
    """Look at the folder anew: links and allowed roots may have changed since it was saved."""
    folder = _resolved(opening.call, opening.config["directory"])
    if folder is None:
        raise RemoteFailure("The folder does not exist, or may not be read any more.")
    yield Folder(opening.call, folder, opening.config)


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of one folder."""

    call: Call
    folder: Path
    config: dict[str, Any] | Config

    def files(self, limit: int) -> list[RemoteFile]:
        """List the log files; links that lead out of the allowed roots are passed over."""
        wanted = wanted_names(self.call, self.config["pattern"])
        try:
            start = [self.folder] if self.config["recursive"] else sorted(self._direct(wanted))
        except OSError as error:
            raise RemoteFailure(f"The folder cannot be listed: {error.strerror}.") from error
        found = []
        for path in discover(start, wanted, within=allowed_roots(self.call)).files:
            listed = self._look_at(path) if _is_allowed(self.call, path) else None
            if listed is not None:
                found.append(listed)
                if len(found) > limit:
                    break
        return found

    def _direct(self, wanted: Any) -> Iterator[Path]:
        with os.scandir(self.folder) as listing:
            yield from (Path(e.path) for e in listing if wanted.fullmatch(e.name) and e.is_file())

    def _look_at(self, path: Path) -> RemoteFile | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return RemoteFile(
            stored_path(self.call, path),
            status.st_size,
            times.of_file(status.st_mtime),
            f"{status.st_dev}:{status.st_ino}",
        )

    @contextmanager
    def open(self, path: str) -> Iterator[ReadAt]:
        """Open a file for reading."""
        try:
            with open_file(file_at(self.call, path), links=False) as file, file.raw() as stream:

                def read_at(offset: int, size: int) -> bytes:
                    stream.seek(offset)
                    return stream.read(size)

                yield read_at
        except OSError as error:
            raise RemoteFailure(f"{posixpath.basename(path)}: {error.strerror}.") from error
