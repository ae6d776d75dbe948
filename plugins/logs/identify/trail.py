"""The verified trail behind a checkpoint: what was read of a file is hashed up to exactly that position.

The trail reads the file with a stream of its own, behind the parser's: an entry may be open for gigabytes,
and neither its bytes nor its length may cost memory.
"""

import hashlib
from typing import Any, BinaryIO, Protocol, Self

from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, ChainedHash, prefix_hash
from snaglist.plugins.logs.read.files import OpenFile


class Known(Protocol):
    """What a source remembers of the bytes read so far."""

    offset: int
    prefix_hash: str
    prefix_length: int
    block_hash: str
    content_hash: str


class Trail:
    """The hash of a file's content from its start to a position that only moves forward."""

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
