"""The source texts of maps, one row each: what shows the code of a resolved frame.

Those of libraries are not kept, nor is one that is over 1 MiB: nobody wrote it by hand.
"""

import re
from collections.abc import Mapping
from typing import Any

import zstandard
from sqlalchemy import Connection, delete, insert, select

from snaglist.kernel import digest
from snaglist.kernel.database import chunks
from snaglist.plugins.issues import CodeContext, clean
from snaglist.plugins.releases.maps.names import is_library
from snaglist.plugins.releases.maps.recent import Recent
from snaglist.plugins.releases.tables import source_texts

MAX_TEXT = 1024 * 1024  # characters
MAX_BYTES = 16 * 1024 * 1024  # of texts in a process
AROUND = 5
_LEVEL = 6
_ROWS = 100
_LINE_END = re.compile(r"\r\n|\n|\r")
_CHARACTER_BYTES = 4  # of a text in lines, at most
_EMPTY_BYTES = 200


def own_texts(sources: list[str], contents: Any) -> dict[str, str]:
    """Return texts by source, as `sourcesContent` gives them in the order of `sources`; it may be short."""
    given = contents if isinstance(contents, list) else []
    found: dict[str, str] = {}
    for source, text in zip(sources, given, strict=False):
        if isinstance(text, str) and 0 < len(text) <= MAX_TEXT and source and not is_library(source):
            add_text(found, source, text)
    return found


def add_text(found: dict[str, str], source: str, text: str) -> None:
    """Add a text; of a source that has two it is "": the wrong line is worse than none."""
    found[source] = text if found.get(source, text) == text else ""


def replace_texts(db: Connection, map_id: int, texts: Mapping[str, str]) -> None:
    """Keep the texts of a map in place of those that it had."""
    db.execute(delete(source_texts).where(source_texts.c.map_id == map_id))
    pack = zstandard.ZstdCompressor(_LEVEL).compress
    for some in chunks([(source, text) for source, text in texts.items() if text], _ROWS):
        rows = [
            {"map_id": map_id, "source_hash": digest(source), "content": pack(_bytes(text))} for source, text in some
        ]
        db.execute(insert(source_texts), rows)


class SourceText:
    """The lines of a source; none where its text is not known."""

    def __init__(self, text: str) -> None:
        self._lines = _LINE_END.split(text) if text else []
        self.bytes = _CHARACTER_BYTES * len(text) + _EMPTY_BYTES

    def code(self, line: int) -> CodeContext | None:
        """Return a line, from 1, with those around it; None for one that is not there, or says nothing."""
        if not 1 <= line <= len(self._lines) or not self._lines[line - 1].strip():
            return None
        pre = tuple(self._lines[max(0, line - 1 - AROUND) : line - 1])
        return CodeContext(self._lines[line - 1], pre, tuple(self._lines[line : line + AROUND]))


_TEXTS: Recent[SourceText] = Recent(MAX_BYTES)


def source_text(db: Connection, map_id: int, content_hash: str, source: str) -> SourceText:
    """Return the text of a source of a map, whose content has this digest."""

    def read() -> SourceText:
        table = source_texts.c
        packed = db.execute(
            select(table.content).where(table.map_id == map_id, table.source_hash == digest(source))
        ).scalar()
        unpack = zstandard.ZstdDecompressor().decompress
        return SourceText("" if packed is None else unpack(packed, max_output_size=MAX_TEXT * 4).decode())

    return _TEXTS.get(f"{content_hash} {source}", read)


def _bytes(text: str) -> bytes:
    return clean(text).encode()
