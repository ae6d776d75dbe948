"""Bytes to lines: line ends, encodings, byte positions, and a bound on what one line may hold."""

import codecs
import re
from dataclasses import dataclass

MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
_UNWANTED = ("\x1b", "\0", "\ufeff")


@dataclass(slots=True)
class Line:
    """One line without its end. `start` to `end` are its bytes, line end included; `cut`: longer than kept."""

    text: str
    start: int
    end: int
    cut: bool = False
    exact: bool = True  # the text is all of the bytes, so that a part of it has a known place


def sniff(sample: bytes, fallback: str) -> tuple[str, int]:
    """Return the encoding of a file's beginning and the size of its byte order mark."""
    for mark, name in MARKS:
        if sample.startswith(mark):
            return name, len(mark)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return fallback, 0
    return "utf-8", 0


class Lines:
    """Cut a stream of bytes into lines; the result does not depend on how the stream is cut into pieces.

    `mark` bytes are skipped at the beginning. Runs of NUL bytes before a line are skipped too: writers
    that keep their position leave such holes behind a truncation.
    """

    def __init__(self, encoding: str, *, start: int, mark: int, limit: int, fallback: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding.startswith("utf-16") else None
        self._encoding = encoding
        self._fallback = fallback
        self._mark = mark
        self._limit = limit
        self._start = start  # of the line that is being read
        self._head = bytearray()  # what was read of it
        self._size = 0  # how many bytes that was, what exceeded the limit included
        self._return = b""  # a carriage return at the end of a piece: a line feed may follow

    @property
    def position(self) -> int:
        """The first byte of the line that is not complete yet."""
        return self._start

    @property
    def undecoded(self) -> int:
        """How many bytes of a character that is not complete were taken: no line holds them."""
        return len(self._decoder.getstate()[0]) if self._decoder is not None else 0

    def feed(self, data: bytes) -> list[Line]:
        """Take a piece and return the lines that it completed."""
        if self._mark:
            skip = min(self._mark, len(data))
            self._mark -= skip
            self._start += skip
            data = data[skip:]
        if self._decoder is not None:
            data = self._decoder.decode(data).encode("utf-8", "surrogatepass")
        if self._return:
            data = self._return + data
            self._return = b""
        pieces = data.splitlines(keepends=True)
        if not pieces:
            return []
        rest = b"" if pieces[-1].endswith(b"\n") else pieces.pop()
        lines: list[Line] = []
        for piece in pieces:
            lines.append(self._line(piece))
        if rest.endswith(b"\r"):
            self._return = b"\r"
            rest = rest[:-1]
        self._keep(rest)
        return lines

    def close(self) -> Line | None:
        """Return the line without an end, if there is one."""
        if not self._size and not self._return:
            return None
        return self._line(self._return)

    def _keep(self, piece: bytes) -> None:
        if not self._size and piece.startswith(b"\0"):
            piece = self._without_hole(piece)
        if piece:
            self._head += piece[: self._limit - len(self._head)]
            self._size += self._measure(piece)

    def _line(self, piece: bytes) -> Line:
        if self._size:
            self._keep(piece)
            raw, size = bytes(self._head), self._size
            kept = len(raw) if self._decoder is None else self._measure(raw)
            self._head.clear()
            self._size = 0
        else:
            if piece.startswith(b"\0"):
                piece = self._without_hole(piece)
            size = self._measure(piece)
            raw, kept = piece, size
            if len(raw) > self._limit:
                raw, kept = raw[: self._limit], -1
        start = self._start
        self._start = end = start + size
        cut = kept != size
        raw = raw.rstrip(b"\r\n")
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            if cut and error.start >= len(raw) - 3:
                text = raw[: error.start].decode()
            else:
                text = raw.decode(self._fallback, "replace")
        exact = not cut and self._decoder is None
        for character in _UNWANTED:
            if character in text:
                text = clean(text)
                exact = False
                break
        return Line(text, start, end, cut, exact)

    def _without_hole(self, piece: bytes) -> bytes:
        rest = piece.lstrip(b"\0")
        self._start += (len(piece) - len(rest)) * (1 if self._decoder is None else 2)
        return rest

    def _measure(self, piece: bytes) -> int:
        """Return how many bytes of the source the piece was."""
        if self._decoder is None:
            return len(piece)
        return len(piece.decode("utf-8", "ignore").encode(self._encoding))


def clean(text: str) -> str:
    """Remove colours, NUL characters and byte order marks, which are no content."""
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    return text.replace("\0", "").replace("\ufeff", "")
