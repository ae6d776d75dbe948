"""The export format of the system journal: records of fields, some of them with a length and any bytes.

Such a file has no lines that could be framed as text, so its records become lines of JSON here.
"""

from snaglist.plugins.logs.parsers.context import dump
from snaglist.plugins.logs.parsers.lines import Line

_BEGINNINGS = (b"__CURSOR=", b"__REALTIME_TIMESTAMP=")
_LENGTH_BYTES = 8


def is_export(sample: bytes) -> bool:
    """Tell whether a file begins with a record."""
    return sample.lstrip(b"\n").startswith(_BEGINNINGS)


class ExportLines:
    """Cut a stream of records into JSON lines; the same methods as `Lines`."""

    undecoded = 0

    def __init__(self, *, start: int, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._at = start  # of the buffer's first byte
        self._start = start  # of the record
        self._fields: dict[str, str] = {}
        self._binary = ""  # the field that a value is being read for
        self._remaining = 0
        self._value = bytearray()
        self._cut = False

    @property
    def position(self) -> int:
        """The first byte of the record that is not complete yet."""
        return self._start

    def feed(self, data: bytes) -> list[Line]:
        """Take a piece and return the records that it completed."""
        self._buffer += data
        lines: list[Line] = []
        while self._binary_part() if self._binary else self._field(lines):
            pass
        return lines

    def close(self) -> Line | None:
        """Return the record that has no blank line behind it yet."""
        if self._buffer and not self._binary:
            self._text_field(bytes(self._buffer))
        self._take(len(self._buffer))
        return self._record() if self._fields else None

    def _take(self, size: int) -> bytes:
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._at += size
        return taken

    def _field(self, lines: list[Line]) -> bool:
        """Read one line of the record, if it is complete."""
        end = self._buffer.find(b"\n")
        if end < 0:
            if len(self._buffer) > self._limit:  # go on as with a value that is cut
                self._begin_value(self._take(self._limit), -1)
                return True
            return False
        if b"=" not in self._buffer[:end] and end:
            if len(self._buffer) < end + 1 + _LENGTH_BYTES:
                return False
            name = self._take(end + 1)[:-1]
            size = int.from_bytes(self._take(_LENGTH_BYTES), "little")
            self._begin_value(name + b"=", size + 1)
            return True
        line = self._take(end + 1)[:-1]
        if line:
            self._text_field(line)
        elif self._fields:
            lines.append(self._record())
        else:
            self._start = self._at
        return True

    def _begin_value(self, beginning: bytes, size: int) -> None:
        name, _, value = beginning.partition(b"=")
        self._binary = name.decode("utf-8", "replace") or "?"
        self._value[:] = value
        self._remaining = size

    def _binary_part(self) -> bool:
        """Read what is there of a value; its last byte is a line feed."""
        if not self._buffer:
            return False
        end = self._buffer.find(b"\n") + 1 if self._remaining < 0 else min(self._remaining, len(self._buffer))
        part = self._take(end or len(self._buffer))
        room = self._limit - len(self._value)
        self._cut = self._cut or len(part) > room + 1
        self._value += part[: max(room, 0)]
        if self._remaining > 0:
            self._remaining -= len(part)
        if (self._remaining < 0 and end) or self._remaining == 0:
            value = bytes(self._value).removesuffix(b"\n")
            self._fields.setdefault(self._binary, value.decode("utf-8", "replace"))
            self._binary = ""
        return True

    def _text_field(self, line: bytes) -> None:
        name, _, value = line.partition(b"=")
        self._fields.setdefault(name.decode("utf-8", "replace"), value.decode("utf-8", "replace"))

    def _record(self) -> Line:
        line = Line(dump(self._fields), self._start, self._at, self._cut, exact=False)
        self._start = self._at
        self._fields = {}
        self._cut = False
        return line
