"""The file of a dump: lines of JSON inside zstd.

    {"snaglist_dump": 1, "version": …, "created_at": …, "engine": …}
    {"application": {"id": …, "name": …, "created_at": …}, "steps": [["core", "s001"], …]}
    {"table": "issues", "columns": ["id", …], "last": 7}   `last`: where ids are never given again, the highest given
    [1, …]                                              a row; bytes as base64, JSON columns as they are
    {"end": {"applications": 1, "rows": 1}}

zstd's checksum finds damage, the last line finds a file that ends too early.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from snaglist.kernel import Invalid
from snaglist.kernel.privacy import open_private

FORMAT = 1
LEVEL = 6
CHUNK = 16 * 1024  # small, because compressed it may be a thousand times as much
CUT = "cut off: it ends too early"
Line = dict[str, Any] | list[Any]


class DumpFile(Invalid):
    """The file cannot be loaded; the message says why."""


class Writer:
    """Writes lines and counts what it wrote."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.applications = 0
        self.rows = 0

    def line(self, line: Line) -> None:
        """Write a line."""
        self._stream.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")

    def application(self, described: dict[str, Any]) -> None:
        """Begin an application."""
        self.applications += 1
        self.line(described)

    def row(self, values: list[Any]) -> None:
        """Write a row of the table begun last."""
        self.rows += 1
        self.line(values)


@contextmanager
def write_dump(path: Path, header: dict[str, Any]) -> Iterator[Writer]:
    """Write a dump; it appears under its name when it is complete, and nothing is left when it fails.

    A name that is taken by anything but a file (a device, a pipe, a folder) raises Invalid: it would be replaced.
    So does `-`, which elsewhere is standard output.
    """
    if str(path) == "-" or (path.exists() and not path.is_file()):
        raise Invalid(f"{path}: is not a file")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        # For the owner alone: what is in the logs is in the dump.
        with open_private(part, "xb") as raw:
            compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
            with compressor.stream_writer(raw, closefd=False) as stream:
                writer = Writer(stream)
                writer.line({"snaglist_dump": FORMAT, **header})
                yield writer
                writer.line({"end": {"applications": writer.applications, "rows": writer.rows}})
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_dump(path: Path, moved: Callable[[int], None] = lambda position: None) -> Iterator[Line]:
    """Give the lines after the header and before the end; `moved` is told the position in the file.

    Raises DumpFile when the file is not a dump, damaged or cut off.
    """
    rows = applications = 0
    with path.open("rb") as raw:
        lines = _lines(raw)
        header = next(lines, None)
        if not isinstance(header, dict) or "snaglist_dump" not in header:
            raise DumpFile("not a dump of snaglist")
        if header["snaglist_dump"] != FORMAT:
            raise DumpFile("written by a newer version of snaglist: load it with that one")
        for line in lines:
            if isinstance(line, list):
                rows += 1
                if rows % 1000 == 0:
                    moved(raw.tell())
            elif "application" in line:
                applications += 1
            elif "end" in line:
                if line["end"] != {"applications": applications, "rows": rows} or next(lines, None) is not None:
                    raise DumpFile("damaged")
                moved(raw.tell())
                return
            yield line
    raise DumpFile(CUT)


def _lines(raw: BinaryIO) -> Iterator[Line]:
    stream = zstandard.ZstdDecompressor().decompressobj()
    rest = b""
    try:
        while chunk := raw.read(CHUNK):
            *lines, rest = (rest + stream.decompress(chunk)).split(b"\n")
            for line in lines:
                yield json.loads(line)
    except zstandard.ZstdError as error:
        raise DumpFile("damaged, or not a dump of snaglist") from error
    except ValueError as error:
        raise DumpFile("damaged") from error
    if not stream.eof:
        raise DumpFile(CUT)
    if rest or stream.unused_data:
        raise DumpFile("damaged")
