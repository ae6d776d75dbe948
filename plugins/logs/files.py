"""Log files on disk: their state, and their content without compression.

A file is opened once and everything is read through that one handle: a rotation in between cannot mix the
bytes of two files.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import zstandard

from snaglist.kernel import times
from snaglist.plugins.logs.paths import path_text

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MAGIC = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_BZIP2_BLOCK = b"1AY&SY"  # follows the level digit; tells an archive from a text that begins with BZh
# To pass through a folder the right to list it is not needed, where the system knows the difference.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_BUFFER_BYTES = 256 * 1024
_ZSTD_INPUT_BYTES = 1024  # what one piece of input unpacks to stays within some megabytes, however it was made
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zstandard.ZstdError)


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


class OpenFile:
    """An open file: its state when it was opened, and any number of streams over its content."""

    def __init__(self, state: FileState, handle: io.RawIOBase) -> None:
        self.state = state
        self._handle = handle

    @property
    def size_now(self) -> int:
        """The size on disk, which may have changed since the file was opened."""
        return os.fstat(self._handle.fileno()).st_size

    def content(self, start: int = 0) -> BinaryIO:
        """Return a stream of the uncompressed bytes from a position; one of DAMAGED may come while reading."""
        stream = _unpacked(_View(self._handle), self.state.compression)
        if start:
            stream.seek(start)
        return stream

    def raw(self) -> BinaryIO:
        """Return a stream of the bytes as they are on disk."""
        return io.BufferedReader(_View(self._handle), _BUFFER_BYTES)

    def head(self, size: int) -> bytes:
        """Return the first uncompressed bytes."""
        with self.content() as stream:
            return stream.read(size)


@contextmanager
def open_file(path: Path, *, links: bool = True, base: Path | None = None) -> Iterator[OpenFile]:
    """Open a file for reading; raises OSError.

    Without `links` none is followed on the way, except up to `base`, where that is given: the path was found to lead
    to the file, and a link that took the place of a part of it since then leads to another one.
    """
    with io.FileIO(path) if links else _open_found(path, base or Path(path.anchor)) as handle:
        status = os.fstat(handle.fileno())
        head = handle.read(10)
        modified = times.show(datetime.fromtimestamp(int(status.st_mtime), UTC))
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


def compression_of(head: bytes) -> str:
    """Name the compression that the first bytes of a file give away, empty for none."""
    for magic, name in _MAGIC:
        if head.startswith(magic) and (name != "bzip2" or head[4:10] == _BZIP2_BLOCK):
            return name
    return ""


def _unpacked(plain: "_View", compression: str) -> BinaryIO:
    match compression:
        case "gzip":
            raw = cast(io.RawIOBase, gzip.GzipFile(fileobj=plain))
        case "bzip2":
            raw = cast(io.RawIOBase, bz2.BZ2File(cast(BinaryIO, plain)))
        case "xz":
            raw = cast(io.RawIOBase, lzma.LZMAFile(cast(BinaryIO, plain)))  # noqa: SIM115 - the caller closes it
        case "zstd":
            raw = _Zstandard(plain)
        case _:
            raw = plain
    return io.BufferedReader(raw, _BUFFER_BYTES)


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


class _Zstandard(io.RawIOBase):
    """The content of zstandard frames, one after another; a seek back begins again."""

    def __init__(self, plain: _View) -> None:
        self._plain = io.BufferedReader(plain, _BUFFER_BYTES)
        self._begin()

    def _begin(self) -> None:
        self._plain.seek(0)
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._whole = True  # no frame is open
        self._input = b""
        self._ready = memoryview(b"")
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._position
        elif whence != os.SEEK_SET:
            raise io.UnsupportedOperation("the size of the content is not known")
        if offset < self._position:
            self._begin()
        while self._position < offset and self._fill():
            self._take(offset - self._position)
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        if not self._fill():
            return 0
        target = memoryview(buffer).cast("B")
        piece = self._take(len(target))
        target[: len(piece)] = piece
        return len(piece)

    def _take(self, size: int) -> memoryview:
        piece, self._ready = self._ready[:size], self._ready[size:]
        self._position += len(piece)
        return piece

    def _fill(self) -> bool:
        """Have some bytes ready; False at the end. Raises EOFError when the last frame is not whole."""
        while not self._ready:
            data = self._input or self._plain.read(_ZSTD_INPUT_BYTES)
            if not data:
                if not self._whole:
                    raise EOFError("the last frame is cut off")
                return False
            self._ready = memoryview(self._frame.decompress(data))
            self._whole = self._frame.eof
            self._input = self._frame.unused_data if self._whole else b""
            if self._whole:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
        return True
