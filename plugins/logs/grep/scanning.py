"""Looking through the content of one file in large blocks, line by line only where something was found.

Blocks are read, not mapped: a file that is cut while it is mapped would end the process.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from snaglist.plugins.logs.grep.matching import Pattern
from snaglist.plugins.logs.show.feeds import count_feeds, find_feed, last_feed, line_feed, split_lines

AROUND: Final = 64 << 10  # bytes kept on both sides of a line for the lines around, and of a line that is longer
_BEFORE: Final = 4  # at least: what ^ and \b look at is the character before
_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Found:
    """A line with a match: its first byte in the file and its bytes, of a very long line those around the match."""

    start: int
    end: int
    data: bytes
    whole: bool


class Scan:
    """Look through a stream from the first byte of a line up to `size`, or to the end of the block of `until`.

    `around`: bytes that are kept for `before`, `after` and `part`. Whoever stops goes on from `position`: the line
    behind the one that was given last, or the rest of it where it is longer than a block.
    """

    def __init__(
        self,
        stream: BinaryIO,
        pattern: Pattern,
        encoding: str,
        *,
        size: int,
        position: int = 0,
        until: int | None = None,
        around: int = 0,
        block: int = 0,
        longest: int = AROUND,
    ) -> None:
        self.feed = line_feed(encoding)
        self._stream, self._pattern, self._encoding = stream, pattern, encoding
        self._size, self._until = size, size if until is None else min(until, size)
        self._keep, self._around = max(around - around % 4, _BEFORE), around
        self._longest = longest - longest % 4
        self._buffer = bytearray((block or pattern.block) + 2 * max(around, self._longest) + 2 * _BEFORE)
        self.position = position - position % len(self.feed)
        self._base = max(0, self.position - self._keep)  # of the file: where the buffer begins
        self._filled = 0
        self._at = self.position - self._base  # in the buffer: what comes next
        self._line = self.position  # the first byte of the line that is looked at
        self._told = False  # that it has a match
        self._final = False
        stream.seek(self._base)

    def __iter__(self) -> Iterator[Found | None]:
        """Give each line that has a match, and None behind every block."""
        while self._base + self._at < self._until and self._load():
            stop = self._stop()
            yield from self._search(stop or self._filled, complete=stop > 0)
            if stop:
                self._at = stop
            else:  # a line longer than the buffer: its beginning goes
                self._at = self._filled - min(self._longest, (self._filled - self._at) // 2)
                self._at -= self._at % len(self.feed)
            self.position = self._base + self._at
            yield None

    def before(self, found: Found, lines: int) -> list[bytes]:
        """Return the lines before one that was found."""
        end = found.start - self._base
        return split_lines(bytes(self._buffer[max(0, end - self._around) : end]), self.feed)[-lines:] if end > 0 else []

    def after(self, found: Found, lines: int) -> list[bytes]:
        """Return the lines behind one that was found."""
        return split_lines(self.part(found.end, self._around), self.feed)[:lines]

    def part(self, start: int, size: int) -> bytes:
        """Return those of some bytes of the file that are at hand."""
        first = max(0, start - self._base)
        return bytes(self._buffer[first : min(self._filled, max(first, start - self._base + size))])

    @property
    def kept(self) -> int:
        """The first byte of the file that is at hand."""
        return self._base

    def _load(self) -> bool:
        """Move what is still needed to the front and read on; False when nothing is left."""
        drop = max(0, self._at - self._keep)
        drop -= drop % 4
        kept = self._filled - drop
        self._buffer[:kept] = self._buffer[drop : self._filled]
        self._base, self._at, self._filled = self._base + drop, self._at - drop, kept
        view = memoryview(self._buffer)
        while not self._final and self._filled < len(view):
            wanted = min(len(view) - self._filled, self._size - self._base - self._filled)
            read = self._stream.readinto(view[self._filled : self._filled + wanted]) if wanted > 0 else 0  # type: ignore[attr-defined]
            self._filled += read
            self._final = not read
        return self._at < self._filled

    def _stop(self) -> int:
        """Return where the complete lines at hand end that have enough behind them; 0 when there is none."""
        if self._final:
            return self._filled
        for end in (self._filled - self._around, self._filled):
            stop = last_feed(self._buffer, self._at, max(self._at, end), self.feed)
            if stop > self._at:
                return stop
        return 0

    def _search(self, stop: int, *, complete: bool) -> Iterator[Found]:
        if self._told:  # the line goes on in which something was found already
            if not complete:
                return
            self._at = find_feed(self._buffer, self._at, self.feed, stop)
            self._line, self._told = self._base + self._at, False
        lines = self._as_text(stop) if self._needs_text(stop) else self._as_bytes(stop)
        for match, first, behind in lines:
            start = self._line if first <= self._at else self._base + first
            self.position = self._base + behind
            self._told = not complete
            yield self._found(start, match, first, behind, complete=complete)
            if not complete:
                return
        if complete:
            self._line = self._base + stop

    def _found(self, start: int, match: int, first: int, behind: int, *, complete: bool) -> Found:
        whole = complete and start >= self._base and behind - first <= 2 * self._longest
        if not whole:
            first = max(first, match - self._longest)
            first += (self._base + first) % len(self.feed)
            data = bytes(self._buffer[first : min(behind, match + self._longest)])
            return Found(start, self._base + behind, data, False)
        first = start - self._base
        return Found(start, self._base + behind, bytes(self._buffer[first:behind]), True)

    def _needs_text(self, stop: int) -> bool:
        """Tell whether the bytes as they are would not do: another encoding, line ends of two characters, a mark."""
        if len(self.feed) > 1:
            return True
        data = memoryview(self._buffer)[self._at : stop]
        if self._base + self._at == 0 and bytes(data[:3]) == _MARK.encode():
            return True
        if self._pattern.regex and self._buffer.find(b"\r", self._at, stop) >= 0:
            return True
        return self._encoding != "utf-8" and not bytes(data).isascii()

    def _as_bytes(self, stop: int) -> Iterator[tuple[int, int, int]]:
        """Give match, first byte and end of each line with a match, as places in the buffer."""
        at = self._at
        data = memoryview(self._buffer)[: self._filled]  # what is behind it is old, and no end of a line for `$`
        while at < stop:
            match = self._pattern.find(data, at)
            if match < 0 or match >= stop:
                return
            first = last_feed(self._buffer, at, match, self.feed)
            behind = find_feed(self._buffer, match, self.feed, stop)
            yield match, first if first > at else at, behind
            at = behind

    def _as_text(self, stop: int) -> Iterator[tuple[int, int, int]]:
        """Do the same for what has to be decoded; lines of the text and of the bytes are counted side by side."""
        text = self._buffer[self._at : stop].decode(self._encoding, "replace").removeprefix(_MARK)
        if text.endswith("\r"):  # the first half of a line end
            text += "\n"
        data = text.replace("\r\n", "\n").encode("utf-8", "replace")
        line = self._at  # in the buffer, the line that begins at `begin` in the text
        begin = at = 0
        while at < len(data):
            match = self._pattern.find(data, at)
            if match < 0 or match >= len(data):
                return
            for _ in range(data.count(b"\n", begin, match)):
                line = find_feed(self._buffer, line, self.feed, stop)
            behind = find_feed(self._buffer, line, self.feed, stop)
            lead = data[data.rfind(b"\n", begin, match) + 1 or begin : match].decode("utf-8", "replace")
            yield min(behind, line + len(lead.encode(self._encoding, "replace"))), line, behind
            at = begin = find_feed(data, match, b"\n")
            line = behind


class LineNumbers:
    """The numbers of lines, counted from a line whose number is known; None behind more than `most` further bytes."""

    def __init__(self, opened: Callable[[], BinaryIO], encoding: str, most: int, position: int, line: int) -> None:
        self.position, self.line = position, line
        self._opened, self._most = opened, most
        self._encoding = encoding
        self._stream: BinaryIO | None = None

    def at(self, start: int) -> int | None:
        """Return the number, from 1 on, of the line that begins at a byte, behind the one asked for before."""
        if not self.line or not 0 <= start - self.position <= self._most:
            return None
        if self._stream is None:
            self._stream = self._opened()
        self._stream.seek(self.position)
        while self.position < start:
            data = self._stream.read(min(1 << 20, start - self.position))
            if not data:
                return None
            self.line += count_feeds(data, self._encoding)
            self.position += len(data)
        return self.line
