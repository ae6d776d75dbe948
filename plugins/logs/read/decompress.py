"""Compressed data as a stream: one stream after another, up to where it is damaged.

What the tools do that made it holds here too: streams may follow each other, and zero bytes between and behind
them are padding. Memory is bounded, whatever the data unpacks to.
"""

import bz2
import codecs
import io
import lzma
import os
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIECE_BYTES = 16 * 1024
ROOM_BYTES = 64 * 1024  # for what a piece unpacks to; the rest of the piece waits
_ZSTD_PIECE_BYTES = 256  # here nothing waits, but this unpacks to some megabytes at most
_LONGEST_MAGIC = 6
_MAGIC = {"gzip": b"\x1f\x8b\x08", "bzip2": b"BZh", "xz": b"\xfd7zXZ\x00", "zstd": b"\x28\xb5\x2f\xfd"}
_BZIP2_BLOCK = b"1AY&SY"  # follows the level digit; tells an archive from a text that begins with BZh
_SKIPPABLE = b"\x2a\x4d\x18"  # zstandard frames without content: the first byte is 0x50 to 0x5f
_MAKE: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ),
    "zstd": lambda: zstandard.ZstdDecompressor().decompressobj(),
}
_ERRORS = (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError)

CUT = "the data ends too early"
DAMAGED = "the data is damaged"


class Stop(NamedTuple):
    """Where unpacking ended before the data did. `between`: behind a whole stream."""

    byte: int
    reason: str
    between: bool = False


def compression_of(head: bytes) -> str:
    """Name the compression that the first bytes of a file give away, empty for none."""
    for name in _MAGIC:
        if _begins(head, name) and (name != "bzip2" or head[4:10] == _BZIP2_BLOCK):
            return name
    return ""


def _begins(head: bytes, compression: str) -> bool:
    return head.startswith(_MAGIC[compression]) or (compression == "zstd" and _is_skippable(head))


def _is_skippable(head: bytes) -> bool:
    return head[1:4] == _SKIPPABLE and head[0] & 0xF0 == 0x50


class Unpacked(io.RawIOBase):
    """The content of a compressed file. It ends where the data is damaged, and then `stopped` says where and why.

    `careful` is the byte of the file from which a piece is taken byte by byte: where it is damaged, nothing
    that comes out before is lost, and the place is exact. `end` bounds the content. A seek back begins again.
    """

    def __init__(
        self, plain: BinaryIO, compression: str, *, careful: int | None = None, end: int | None = None
    ) -> None:
        self.careful = careful
        self._plain = plain
        self._compression = compression
        self._end = end
        self._piece = _ZSTD_PIECE_BYTES if compression == "zstd" else PIECE_BYTES
        self._begin()

    def _begin(self) -> None:
        self._plain.seek(0)
        self._taken = 0  # bytes of the file
        self._input = b""  # taken, but not unpacked yet
        self._full = False  # more may come without further input
        self._stream: Any = None
        self._streams = 0
        self._ready = memoryview(b"")
        self._position = 0
        self._done = False
        self.stopped: Stop | None = None

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that it can seek."""
        return True

    def tell(self) -> int:
        """Return the position in the content."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte of the content, at most to its end."""
        if whence == os.SEEK_CUR:
            offset += self._position
        elif whence != os.SEEK_SET:
            raise io.UnsupportedOperation("the size of the content is not known")
        if offset < self._position:
            self._begin()
        self._skip_to(offset)
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Give some bytes, 0 at the end."""
        target = memoryview(buffer).cast("B")
        if not self._fill():
            return 0
        piece = self._take(len(target))
        target[: len(piece)] = piece
        return len(piece)

    def _skip_to(self, position: int) -> None:
        while self._position < position and self._fill():
            self._take(position - self._position)

    def _take(self, size: int) -> memoryview:
        if self._end is not None:
            size = min(size, self._end - self._position)
        piece, self._ready = self._ready[:size], self._ready[size:]
        self._position += len(piece)
        return piece

    def _fill(self) -> bool:
        """Have some bytes ready; False at the end."""
        if self._end is not None and self._position >= self._end:
            return False
        while not self._ready and not self._done:
            if self._stream is None:
                self._next_stream()
            else:
                self._unpack()
        return bool(self._ready)

    def _stop(self, byte: int, reason: str, *, between: bool = False) -> None:
        self._done, self.stopped = True, Stop(byte, reason, between)

    def _more(self) -> bool:
        """Take a piece of the file; False at its end."""
        size = self._piece
        if self.careful is not None and self._taken < self.careful + self._piece:
            size = min(size, self.careful - self._taken) if self._taken < self.careful else 1
        data = self._plain.read(size)
        self._taken += len(data)
        self._input += data
        return bool(data)

    def _next_stream(self) -> None:
        while True:
            if self._streams:
                self._input = self._input.lstrip(b"\0")
            if len(self._input) >= _LONGEST_MAGIC or not self._more():
                break
        if not self._input:
            self._done = True
        elif _begins(self._input, self._compression):
            self._stream = _MAKE[self._compression]()
            self._streams += 1
        elif _MAGIC[self._compression].startswith(self._input):
            self._stop(self._taken, CUT)
        else:
            self._stop(self._taken - len(self._input), f"what follows is no {self._compression} data", between=True)

    def _unpack(self) -> None:
        """Unpack the input that is there, or the next piece."""
        if not self._input and not self._full and not self._more():
            self._stop(self._taken, CUT)
            return
        start, data = self._taken - len(self._input), self._input
        bounds = () if self._compression == "zstd" else (ROOM_BYTES,)
        try:
            unpacked = self._stream.decompress(data, *bounds)
        except _ERRORS:
            self._fail(start, len(data))
            return
        self._ready = memoryview(unpacked)
        self._full = len(unpacked) == ROOM_BYTES
        self._input = getattr(self._stream, "unconsumed_tail", b"")
        if self._stream.eof:
            self._input, self._stream, self._full = self._stream.unused_data, None, False

    def _fail(self, start: int, size: int) -> None:
        """Begin again, to take what is damaged byte by byte; when that was done already, this is the place."""
        if size <= 1 or (self.careful is not None and self.careful <= start):
            self._stop(start, DAMAGED)
            return
        position = self._position
        self.careful = start
        self._begin()
        self._skip_to(position)


_WIDE = {codecs.BOM_UTF16_LE: b"\n\0", codecs.BOM_UTF16_BE: b"\0\n"}


class LineEnds:
    """Counts the whole lines of a stream of bytes; `end` is the byte behind the last of them, `size` that of all."""

    def __init__(self) -> None:
        self.end = 0
        self.size = 0
        self._wide: bytes | None = None
        self._feeds = self._returns = 0
        self._return = False  # at the end of what came so far: a line feed may follow
        self._rest = b""  # half a character of two bytes

    @property
    def lines(self) -> int:
        """How many lines are whole."""
        return self._feeds or self._returns

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        if not self.size:
            self._wide = _WIDE.get(data[:2])
        start = self.size - len(self._rest)
        self.size += len(data)
        if self._wide:
            data = self._rest + data
            even = len(data) - len(data) % 2
            data, self._rest = data[:even], data[even:]
            found = data.rfind(self._wide)
            while found % 2 and found > 0:  # halves of two other characters
                found = data.rfind(self._wide, 0, found + 1)
            if found >= 0 and found % 2 == 0:
                self.end = start + found + 2
            self._feeds += data.count(self._wide)
            return
        if self._return and data:
            self.end = start
        self._return = data.endswith(b"\r") or (self._return and not data)
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
        if end:
            self.end = start + end
        self._feeds += data.count(b"\n")
        self._returns += data.count(b"\r", 0, -1)
