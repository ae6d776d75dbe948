"""Log files on disk: their state, and their content without compression.

A file is opened once and everything is read through that one handle: a rotation in between cannot mix the
bytes of two files.
"""

import errno
import io
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from snaglist.kernel import times
from snaglist.plugins.issues import path_text
from snaglist.plugins.logs.read.decompress import LineEnds, Unpacked, compression_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# To pass through a folder the right to list it is not needed, where the system knows the difference.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_BUFFER_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the file system describes it; `modified_at` in whole seconds."""

    path: Path
    size: int
    modified_at: str
    identity: str
    compression: str

    @property
    def name(self) -> str:
        """Base name, as text."""
        return path_text(self.path.name)


@dataclass(frozen=True, slots=True)
class Damage:
    """Where a compressed file is damaged or cut, and how many lines come before; `place` and `str` say it."""

    name: str
    byte: int
    reason: str
    lines: int

    @property
    def place(self) -> str:
        """Where, and why."""
        return f"stopped at byte {self.byte} of {self.name}: {self.reason}"

    @property
    def counted(self) -> str:
        """How many lines, as the subject of a sentence."""
        return "1 line before it is" if self.lines == 1 else f"{self.lines} lines before it are"

    def __str__(self) -> str:
        return f"{self.place}; {self.counted} stored"


class OpenFile:
    """An open file: its state when it was opened, and any number of streams over its content."""

    def __init__(self, state: FileState, handle: io.RawIOBase) -> None:
        self.state = state
        self._handle = handle
        self._careful: int | None = None
        self._end: int | None = None

    @property
    def size_now(self) -> int:
        """The size on disk, which may have changed since the file was opened."""
        return os.fstat(self._handle.fileno()).st_size

    def find_damage(self) -> Damage | None:
        """Look through a compressed file. What is read of a damaged one ends, from now on, with its last whole line."""
        if not self.state.compression:
            return None
        ends = LineEnds()
        with self._unpacked() as unpacked:
            while data := unpacked.read(_BUFFER_BYTES):
                ends.feed(data)
        stopped = unpacked.stopped
        if stopped is None:
            return None
        self._careful = unpacked.careful
        # Behind a stream that is whole, its last line is complete too.
        self._end = ends.size if stopped.between else ends.end
        lines = ends.lines + (stopped.between and ends.end < ends.size)
        return Damage(self.state.name, stopped.byte, stopped.reason, lines)

    def content(self, start: int = 0) -> BinaryIO:
        """Return a stream of the uncompressed bytes from a position; it ends where compressed data is damaged."""
        raw = self._unpacked() if self.state.compression else _View(self._handle)
        stream: BinaryIO = io.BufferedReader(raw, _BUFFER_BYTES)
        if start:
            stream.seek(start)
        return stream

    def part(self, start: int, size: int) -> bytes:
        """Return some of the uncompressed bytes."""
        with self.content(start) as stream:
            return stream.read(size)

    def _unpacked(self) -> Unpacked:
        plain = io.BufferedReader(_View(self._handle), _BUFFER_BYTES)
        return Unpacked(plain, self.state.compression, careful=self._careful, end=self._end)

    def raw(self) -> BinaryIO:
        """Return a stream of the bytes as they are on disk."""
        return io.BufferedReader(_View(self._handle), _BUFFER_BYTES)

    def head(self, size: int) -> bytes:
        """Return the first uncompressed bytes."""
        with self.content() as stream:
            return stream.read(size)

    def goes_on(self, position: int) -> bool:
        """Tell whether there are uncompressed bytes behind a position."""
        with self.content(position) as stream:
            return bool(stream.read(1))


@contextmanager
def open_file(path: Path, *, links: bool = True, base: Path | None = None) -> Iterator[OpenFile]:
    """Open a file for reading; raises OSError.

    Without `links` none is followed on the way, except up to `base`, where that is given: the path was found to lead
    to the file, and a link that took the place of a part of it since then leads to another one.
    """
    with io.FileIO(path) if links else _open_found(path, base or Path(path.anchor)) as handle:
        status = os.fstat(handle.fileno())
        head = handle.read(10)
        modified = times.of_file(status.st_mtime)
        identity = f"{status.st_dev}:{status.st_ino}"
        yield OpenFile(FileState(path, status.st_size, modified, identity, compression_of(head)), handle)


def _open_found(path: Path, base: Path) -> io.FileIO:
    try:
        handle = io.FileIO(_open_below(base, path.relative_to(base).parts))
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and os.path.realpath(path) != str(path):
            raise OSError(errno.ELOOP, "a link has taken its place, and links are not followed") from error
        raise
    if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
        handle.close()
        raise OSError(errno.EINVAL, "not a file")
    return handle


if os.open in os.supports_dir_fd:

    def _open_below(base: Path, parts: Sequence[str]) -> int:
        """Open a file by the parts of its path below a folder, none of which may be a link."""
        folder = os.open(base, _FOLDER)
        try:
            for part in parts[:-1]:
                within = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = within
            return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)

else:

    def _open_below(base: Path, parts: Sequence[str]) -> int:
        """Open a file by the parts of its path below a folder, none of which may be a link."""
        path = base.joinpath(*parts)
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        if os.path.realpath(path) != os.path.join(os.path.realpath(base), *parts):
            os.close(handle)
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return handle


def inspect(path: Path) -> FileState:
    """Return the state of a file; raises OSError when it cannot be read."""
    with open_file(path) as file:
        return file.state


class _View(io.RawIOBase):
    """A stream with a position of its own over a shared handle, which it leaves open."""

    def __init__(self, handle: io.RawIOBase) -> None:
        self._handle = handle
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._handle.seek(self._position)
        size = self._handle.readinto(buffer) or 0
        self._position += size
        return size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (self._handle.seek(0, os.SEEK_END) if base is None else base)
        return self._position

    def tell(self) -> int:
        return self._position
