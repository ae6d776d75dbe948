"""Files of connectors: the door through which the connectors area reads what it found or fetched."""

import io
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from snaglist.kernel import Call
from snaglist.plugins.issues import file_at, path_text
from snaglist.plugins.logs.collect.in_place import read_left
from snaglist.plugins.logs.identify.compare import holds
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, name_family
from snaglist.plugins.logs.identify.search import Near, dropped_before, in_place, longest, taking_over
from snaglist.plugins.logs.ingestion import Ingestion
from snaglist.plugins.logs.read.decompress import compression_of
from snaglist.plugins.logs.read.files import FileState, OpenFile, inspect, open_file
from snaglist.plugins.logs.read.importing import import_file
from snaglist.plugins.logs.read.parsing import Reading, Watch
from snaglist.plugins.logs.read.results import FileResult
from snaglist.plugins.logs.store import queries


def read_file(
    call: Call,
    path: Path,
    *,
    connector_id: int,
    module_id: int | None = None,
    timezone: str = "",
    name: str = "",
    siblings: Collection[int] | None = None,
    watch: Watch | None = None,
) -> FileResult:
    """Read a file of a connector from where it was left, outside a transaction.

    `path` is the resolved file itself or its mirror; `name` the base name at its origin, when the mirror has another.
    `siblings` are the sources of the same remote folder, where the mirrors do not stand side by side. An empty
    `timezone` is the application's. `watch` is called with the bytes done after each transaction and may raise.
    A dropped file of the same module and name family is taken over: its source gets the path and the connector.
    """
    near: Near | None = None if siblings is None else (lambda row: row.id in siblings)
    reading = _reading(call, connector_id, module_id, timezone, name)
    place = in_place(call, name=name, near=near)
    search = taking_over(call, module_id, name or path_text(path.name), place)
    # A file of this machine was found by its resolved path, and is not looked for elsewhere.
    resolved = path.resolve() if path.is_relative_to(call.application.folder) else path
    return import_file(call, resolved, reading, search=search, watch=watch)


def read_rest(
    call: Call,
    source_ids: Iterable[int],
    *,
    connector_id: int,
    module_id: int | None = None,
    timezone: str = "",
    watch: Watch | None = None,
) -> Iterator[FileResult]:
    """Read to the end what left its path (`FileResult.left`), where it is found in its folder."""
    yield from read_left(call, source_ids, _reading(call, connector_id, module_id, timezone, ""), watch=watch)


def _reading(call: Call, connector_id: int, module_id: int | None, timezone: str, name: str) -> Reading:
    with call.transaction(write=False):
        ingestion = Ingestion.load(call)
    zone = timezone or ingestion.timezone
    own, known = bool(timezone), ingestion.zone_known or bool(timezone)
    return Reading(ingestion.rules, zone, module_id, connector_id, own_zone=own, zone_known=known, name=name)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A dropped file that a connector's file equals (`whole`) or goes on from.

    `path` and `size` say where its bytes are and how many were read of them; `plain`: they are not compressed.
    """

    source_id: int
    path: Path
    size: int
    whole: bool
    plain: bool


def find_dropped(call: Call, content: Path | io.RawIOBase, *, module_id: int | None, name: str = "") -> Dropped | None:
    """Return the dropped file of the same module and name family that a file of a connector would take over.

    `content` is the file, or a stream of its bytes that can seek; then `name` is needed. Changes nothing; outside a
    transaction. None also when the file cannot be read.
    """
    name = name or (path_text(content.name) if isinstance(content, Path) else "")
    with call.transaction(write=False) as db:
        if not queries.has_family(db, module_id, name_family(name)):
            return None
    try:
        with _opened(content) as file:
            with call.transaction(write=False):
                drops = dropped_before(call, file, file.head(PREFIX_BYTES), module_id, name)
            row = longest(file, drops)
            if row is None:
                return None
            path = file_at(call, row.path)
            plain = not file.state.compression and holds(path, row) and not inspect(path).compression
            return Dropped(row.id, path, row.offset, not file.goes_on(row.offset), plain)
    except OSError:
        return None


@contextmanager
def _opened(content: Path | io.RawIOBase) -> Iterator[OpenFile]:
    if isinstance(content, Path):
        with open_file(content.resolve()) as file:
            yield file
    else:
        size = content.seek(0, io.SEEK_END)
        content.seek(0)
        state = FileState(Path(), size, "", "", compression_of(content.read(10) or b""))
        yield OpenFile(state, content)


def holds_source(call: Call, path: Path, source_id: int) -> bool:
    """Tell whether a file holds, at its beginning, what was read of a source; outside a transaction."""
    with call.transaction(write=False) as db:
        source = queries.source_by_id(db, source_id)
    return source is not None and holds(path, source)
