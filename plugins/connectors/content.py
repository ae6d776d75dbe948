"""A remote file as a stream of bytes that can be read from any position, opened when it is first read."""

import io
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

from snaglist.plugins.connectors.contract import ReadAt, Remote, RemoteFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class RemoteContent(io.RawIOBase):
    """The content of a listed file; what it was listed with is its size."""

    def __init__(self, remote: Remote, file: RemoteFile) -> None:
        self._remote, self._file = remote, file
        self._position = 0
        self._opened = ExitStack()
        self._read_at: ReadAt | None = None

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that it can be read from any position."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence, self._file.size)
        self._position = base + offset
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read the bytes at the position, never those that were appended since the file was listed."""
        if self._read_at is None:
            self._read_at = self._opened.enter_context(self._remote.open(self._file.path))
        target = memoryview(buffer).cast("B")
        size = min(len(target), max(0, self._file.size - self._position))
        data = self._read_at(self._position, size) if size else b""
        target[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        """Close the remote file."""
        self._opened.close()
        super().close()
