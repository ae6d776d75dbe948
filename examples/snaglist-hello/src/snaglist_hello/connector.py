"""A type of connector: one file of this machine. Plans, runs and schedules are snaglist's."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from snaglist.kernel import Call, Invalid
from snaglist.plugins.connectors import ConnectorType, Opening, ReadAt, RemoteFailure, RemoteFile
from snaglist.plugins.logs import allowed_roots


def make(schemas: Traversable) -> ConnectorType:
    """Return the type; `schemas` holds the schema of its `config`."""
    return ConnectorType(check, open_file, schemas=schemas)


def check(call: Call, config: Mapping[str, Any], secrets: Mapping[str, Any]) -> dict[str, Any]:
    """Look at what a schema cannot, and return the config to store."""
    path = Path(config["file"]).resolve()
    if not path.is_file() or not any(path.is_relative_to(root) for root in allowed_roots(call)):
        raise Invalid("config.file: must be an existing file below an allowed root")
    return {"file": str(path)}


@contextmanager
def open_file(opening: Opening) -> Iterator["OneFile"]:
    """Connect; what goes wrong with the other side meanwhile is a RemoteFailure."""
    try:
        yield OneFile(Path(opening.config["file"]))
    except OSError as error:
        raise RemoteFailure(f"The file cannot be read: {error.strerror}") from error


class OneFile:
    """What is connected to: a list of files, and how to read them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def files(self, limit: int) -> list[RemoteFile]:
        """List the files."""
        return [RemoteFile(self._path.name, self._path.stat().st_size)]

    @contextmanager
    def open(self, path: str) -> Iterator[ReadAt]:
        """Open a listed file."""
        with self._path.open("rb") as file:
            yield _reader(file.seek, file.read)


def _reader(seek: Callable[[int], int], read: Callable[[int], bytes]) -> ReadAt:
    def read_at(offset: int, size: int) -> bytes:
        seek(offset)
        return read(size)

    return read_at
