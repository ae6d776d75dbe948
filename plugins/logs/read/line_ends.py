"""Where the last whole line of some bytes ends, without making texts of them."""

import codecs

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
