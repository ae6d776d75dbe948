"""A connector type to start from: log files inside a zip archive."""

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from snaglist.kernel import Call, Description, Invalid, hookimpl
from snaglist.plugins.connectors import ConnectorType, Opening, ReadAt, RemoteFailure, RemoteFile
from snaglist.plugins.logs import allowed_roots, compile_pattern


@hookimpl
def describe() -> Description:
    """Say what this plugin is."""
    return Description("zip", "Zip archives", "Reads logs inside zip archives", "Examples", version("snaglist-zip"))


@hookimpl
def register_connectors() -> Mapping[str, ConnectorType]:
    """Add the type."""
    return {"zip": ConnectorType(check, open_archive, schemas=files(__name__) / "schemas")}


def check(call: Call, config: Mapping[str, Any], secrets: Mapping[str, Any]) -> Mapping[str, Any]:
    """Store the resolved path; the archive must lie where snaglist may read."""
    try:
        archive = Path(config["archive"]).resolve(strict=True)
    except (OSError, ValueError):
        archive = None
    if archive is None or not any(archive.is_relative_to(root) for root in allowed_roots(call)):
        raise Invalid("config.archive: must be an existing file below an allowed root")
    return {"archive": str(archive)}


@contextmanager
def open_archive(opening: Opening) -> Iterator["Archive"]:
    """Open the archive; what goes wrong with it meanwhile is a failure of the other side."""
    try:
        with zipfile.ZipFile(opening.config["archive"]) as archive:
            yield Archive(opening.call, archive)
    except (OSError, zipfile.BadZipFile) as error:
        raise RemoteFailure(f"The archive cannot be read: {error}") from error


class Archive:
    """The files of an archive."""

    def __init__(self, call: Call, archive: zipfile.ZipFile) -> None:
        self._wanted = compile_pattern(call.setting("ingestion.log_file_pattern"))
        self._archive = archive

    def files(self, limit: int) -> list[RemoteFile]:
        """List the members that are logs by their base names."""
        names = [info for info in self._archive.infolist() if self._wanted.fullmatch(Path(info.filename).name)]
        return [RemoteFile(info.filename, info.file_size, _time(info)) for info in names[: limit + 1]]

    @contextmanager
    def open(self, path: str) -> Iterator[ReadAt]:
        """Open a member."""
        with self._archive.open(path) as member:

            def read_at(offset: int, size: int) -> bytes:
                member.seek(offset)
                return member.read(size)

            yield read_at


def _time(info: zipfile.ZipInfo) -> str:
    year, month, day, hour, minute, second = info.date_time
    return f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
