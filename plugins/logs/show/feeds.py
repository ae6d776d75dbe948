"""Where lines end in bytes, in encodings of one or two bytes a unit."""

Buffer = bytes | bytearray


def line_feed(encoding: str) -> bytes:
    """Return how a line ends in an encoding."""
    name = encoding.lower().replace("_", "-")
    if name in ("utf-16", "utf-16-le", "utf-16le"):
        return b"\n\x00"
    return b"\x00\n" if name in ("utf-16-be", "utf-16be") else b"\n"


def split_lines(data: bytes, feed: bytes) -> list[bytes]:
    """Cut bytes behind each line feed; the last piece may be without one."""
    pieces = []
    start = 0
    while start < len(data):
        end = find_feed(data, start, feed)
        pieces.append(data[start:end])
        start = end
    return pieces


def find_feed(data: Buffer, start: int, feed: bytes, end: int | None = None) -> int:
    """Return the position behind the next line feed, or the end."""
    end = len(data) if end is None else end
    found = data.find(feed, start, end)
    # Two-byte units: the same two bytes across a unit's border are no line feed.
    while found >= 0 and (found - start) % len(feed):
        found = data.find(feed, found + 1, end)
    return end if found < 0 else found + len(feed)


def last_feed(data: Buffer, start: int, end: int, feed: bytes) -> int:
    """Return the position behind the last line feed between two, of which the first begins a unit; else the first."""
    found = data.rfind(feed, start, end)
    while found >= 0 and (found - start) % len(feed):
        found = data.rfind(feed, start, found + len(feed) - 1)
    return start if found < 0 else found + len(feed)


def count_feeds(data: bytes, encoding: str) -> int:
    """Return how many lines end in bytes that begin with a unit."""
    return data.count(b"\n") if line_feed(encoding) == b"\n" else data.decode(encoding, "replace").count("\n")
