"""Whether the layout of a file still fits further on: a program that was upgraded may write otherwise from there.

Behind every MiB of a file the lines of 32 KiB are looked at. When they do not fit the layout that the beginning of the
file showed, that of these lines counts for the bytes behind them, up to the next such place. The decision depends on
these bytes and the beginning alone, so that reading which is resumed in between decides the same.
"""

from collections.abc import Callable, Sequence
from typing import Final

from snaglist.plugins.logs.parsers.console import Console
from snaglist.plugins.logs.parsers.heads import read_head
from snaglist.plugins.logs.parsers.levels_first import begins_with_level
from snaglist.plugins.logs.parsers.lines import Line, Lines
from snaglist.plugins.logs.parsers.special import special_head
from snaglist.plugins.logs.parsers.traces import follow

Earlier = Callable[[int, int], bytes]  # bytes of the file: from which place on, how many

WINDOW: Final = 1 << 20
SAMPLE: Final = 32 * 1024
MIN_LINES: Final = 50
MISFITS: Final = 0.2  # of the lines that are headers to anybody


class Judge:
    """The layouts of one file. `console` reads it; `at` is the byte from which on lines have to be shown to `take`."""

    def __init__(self, console: Console, start: int, encoding: str, fallback: str, earlier: Earlier | None) -> None:
        self._console = console
        self._first = console.copy()  # as the beginning of the file has it
        self._encoding, self._fallback, self._earlier = encoding, fallback, earlier
        self._lines: list[str] = []
        window = start // WINDOW * WINDOW
        if window and start >= window + SAMPLE:
            self._decide(self._sample(window, start))
            window += WINDOW
        elif window:
            if window > WINDOW:
                self._decide(self._sample(window - WINDOW, start))
            self._lines = self._sample(window, start)
        else:
            window = WINDOW
        self.at = window

    def take(self, line: Line) -> None:
        """Look at a line at or behind `at`."""
        end = self.at + SAMPLE
        if line.start < end:
            if line.end <= end:
                self._lines.append(line.text)
            return
        self._decide(self._lines)
        self._lines = []
        behind = line.start % WINDOW >= SAMPLE
        if line.start // WINDOW - self.at // WINDOW > (not behind):  # a window without lines says nothing
            self._console.adopt(self._first)
        self.at = (line.start // WINDOW + behind) * WINDOW
        if line.start >= self.at:
            self.take(line)

    def _decide(self, lines: Sequence[str]) -> None:
        if len(lines) >= MIN_LINES and _misfits(self._first, lines):
            self._console.prime(lines)
        else:
            self._console.adopt(self._first)

    def _sample(self, window: int, start: int) -> list[str]:
        """Return the whole lines behind a place, up to where reading begins."""
        if self._earlier is None:
            return []
        until = min(window + SAMPLE, start)
        begin = window - 4  # the line that ends here is of the window before; four bytes are whole characters
        reader = Lines(self._encoding, start=begin, mark=0, limit=SAMPLE, fallback=self._fallback)
        lines = reader.feed(self._earlier(begin, until - begin))[1:]
        return [line.text for line in lines if line.start >= window]


def _misfits(console: Console, lines: Sequence[str]) -> bool:
    fits = misfits = loose = 0
    for line in lines:
        if console.reads(line):
            fits += 1
        elif special_head(line) or read_head(line) or begins_with_level(line):
            misfits += 1
        elif not follow.continues(line):
            loose += 1
    if misfits > MISFITS * (fits + misfits):
        return True
    return loose > MIN_LINES and fits * 50 < loose
