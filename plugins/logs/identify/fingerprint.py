"""How a file is known again: name family, hash of its head, and a chained hash of what was read.

The chain is h0 = empty, h(i) = SHA-256(h(i-1) + block i) over blocks of 1 MiB; the content hash is
SHA-256(last h + the bytes after the last full block). Going on after an append therefore needs at most
one block of the old bytes.
"""

import hashlib
import re
from typing import BinaryIO

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
