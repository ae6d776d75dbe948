"""Parsed maps, few of them in memory, and what they say about a place."""

from typing import NamedTuple

from snaglist.plugins.releases.maps.library import parse
from snaglist.plugins.releases.maps.recent import Recent

MAX_BYTES = 128 * 1024 * 1024  # of parsed maps in a process; the one used last always stays
_TOKEN_BYTES = 32  # of a mapping in memory, beside the texts
_MAX_PLACES = 8_192  # remembered per map: the places of a program come again and again
_SCRIPTS = (".js", ".mjs", ".cjs")


class Origin(NamedTuple):
    """Where generated code comes from; line and column from 1.

    `name` is the original name of what stands there, `exact` tells that it stands at exactly that column.
    """

    source: str
    line: int
    column: int
    name: str | None
    exact: bool


class ParsedMap:
    """A map that can be asked."""

    def __init__(self, content: bytes) -> None:
        self._view = parse(content)
        names = (name for _, name in self._view.iter_sources() if name)
        self._scripts = frozenset(name for name in names if name.endswith(_SCRIPTS))
        self._known: dict[tuple[int, int], Origin | None] = {}
        self.bytes = len(content) + _TOKEN_BYTES * len(self._view)

    def is_source(self, file: str) -> bool:
        """Tell whether a script is one of the sources: a place in it was resolved before."""
        return file in self._scripts

    def find(self, line: int, column: int) -> Origin | None:
        """Return the origin of a place (both from 1, columns in UTF-16 units); None where nothing is mapped."""
        place = (line, column)
        if place not in self._known:
            if len(self._known) >= _MAX_PLACES:
                self._known.clear()
            self._known[place] = self._find(line - 1, column - 1)
        return self._known[place]

    def _find(self, line: int, column: int) -> Origin | None:
        if line < 0 or column < 0:
            return None
        found = self._view.lookup(line, column)
        # Without a mapping on the line the library answers with the last one above it.
        if found is None or not found.src or found.dst_line != line:
            return None
        return Origin(found.src, found.src_line + 1, found.src_col + 1, found.name, found.dst_col == column)


MAPS: Recent[ParsedMap] = Recent(MAX_BYTES)
