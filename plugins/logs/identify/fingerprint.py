"""How a file is known again: name family, hash of its head, and a chained hash of what was read.

The chain is h0 = empty, h(i) = SHA-256(h(i-1) + block i) over blocks of 1 MiB; the content hash is
SHA-256(last h + the bytes after the last full block). Going on after an append therefore needs at most
one block of the old bytes.
"""

import hashlib
import re
from typing import Any, BinaryIO, Protocol, Self

from snaglist.plugins.logs.read.files import OpenFile

PREFIX_BYTES = 4096
BLOCK_BYTES = 1024 * 1024
_COMPRESSION = re.compile(r"\.(?:gz|bz2|xz|zst)\Z")
_ROTATION = re.compile(r"(?:[._-][0-9]+)+\Z")


def name_family(name: str) -> str:
    """Return the base name in lower case without compression and rotation suffixes."""
    plain = _COMPRESSION.sub("", name.lower())
    return (_ROTATION.sub("", plain) or plain)[:255]


def is_rotated_name(name: str) -> bool:
    """Tell whether a base name has a compression or rotation suffix: no program writes to such a file by name."""
    return len(name) > len(name_family(name))


def prefix_hash(head: bytes) -> str:
    """Return the SHA-256 of the head of a file, at most 4,096 bytes."""
    return hashlib.sha256(head[:PREFIX_BYTES]).hexdigest()


class ChainedHash:
    """The chained hash of bytes 0 to `position`, fed from a stream."""

    def __init__(self, block_hash: str = "", position: int = 0) -> None:
        self.position = position - position % BLOCK_BYTES
        self._last_block = bytes.fromhex(block_hash)
        self._open = hashlib.sha256(self._last_block)

    @property
    def block_hash(self) -> str:
        """Hash of the last full block, empty before the first."""
        return self._last_block.hex()

    @property
    def content_hash(self) -> str:
        """Hash of everything fed so far."""
        return self._open.hexdigest()

    def feed(self, data: bytes | memoryview) -> None:
        """Take the next bytes."""
        view = memoryview(data)
        while view:
            room = BLOCK_BYTES - self.position % BLOCK_BYTES
            part, view = view[:room], view[room:]
            self._open.update(part)
            self.position += len(part)
            if self.position % BLOCK_BYTES == 0:
                self._last_block = self._open.digest()
                self._open = hashlib.sha256(self._last_block)

    def read_to(self, stream: BinaryIO, position: int) -> bool:
        """Feed from a stream that stands at `self.position`; False when it ends before `position`."""
        while self.position < position:
            data = stream.read(min(BLOCK_BYTES, position - self.position))
            if not data:
                return False
            self.feed(data)
        return True


class Known(Protocol):
    """What a source remembers of the bytes read so far."""

    offset: int
    prefix_hash: str
    prefix_length: int
    block_hash: str
    content_hash: str


class Trail:
    """The hash of a file's content from its start to a position that only moves forward.

    It reads with a stream of its own, behind the parser's: an entry may be open for gigabytes, and neither its bytes
    nor its length may cost memory.
    """

    def __init__(self, stream: BinaryIO, head: bytes, hashed: ChainedHash) -> None:
        self._stream = stream
        self._head = head
        self._hashed = hashed

    @classmethod
    def start(cls, file: OpenFile, head: bytes) -> Self:
        """Begin at byte 0."""
        return cls(file.content(), head, ChainedHash())

    @classmethod
    def resume(cls, file: OpenFile, head: bytes, known: Known) -> Self | None:
        """Go on behind the bytes that a source knows; None when the file holds other bytes there.

        Compared are the head, and the content from the last full block on; the hash of that block stands for
        the blocks before it.
        """
        if not known.offset:
            return cls.start(file, head)
        if not file.state.compression and file.state.size < known.offset:
            return None
        if not begins_with(head, known):
            return None
        hashed = ChainedHash(known.block_hash, known.offset)
        stream = file.content(hashed.position)
        if not hashed.read_to(stream, known.offset) or hashed.content_hash != known.content_hash:
            stream.close()
            return None
        return cls(stream, head, hashed)

    @property
    def position(self) -> int:
        """The byte up to which the content is hashed."""
        return self._hashed.position

    def advance(self, position: int) -> bool:
        """Hash up to a later position; False when the file ends before."""
        return self._hashed.read_to(self._stream, position)

    def columns(self) -> dict[str, Any]:
        """Return the columns of the source that remember the trail."""
        length = min(self.position, PREFIX_BYTES, len(self._head))
        return {
            "offset": self.position,
            "prefix_hash": prefix_hash(self._head[:length]),
            "prefix_length": length,
            "block_hash": self._hashed.block_hash,
            "content_hash": self._hashed.content_hash,
        }

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def begins_with(head: bytes, known: Known) -> bool:
    """Tell whether the head of a file is the head that a source knows."""
    return (
        len(head) >= known.prefix_length
        and hashlib.sha256(head[: known.prefix_length]).hexdigest() == known.prefix_hash
    )
