"""Files that are read where they are: which of them grew or went elsewhere, and reading them on."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, times
from snaglist.plugins.issues import file_at, path_text
from snaglist.plugins.logs.identify.moved import follow_file, successor
from snaglist.plugins.logs.identify.search import in_place
from snaglist.plugins.logs.ingestion import Ingestion
from snaglist.plugins.logs.read.files import inspect
from snaglist.plugins.logs.read.importing import import_file
from snaglist.plugins.logs.read.open_entries import Unfinished
from snaglist.plugins.logs.read.parsing import Reading, Watch
from snaglist.plugins.logs.read.results import FileResult, Run
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.store.sources import known_source
from snaglist.plugins.system import JobCall

_PAGE = 500
LEFT_HOURS = 24  # how long a file that left its path is looked for
SYSTEM_LOGS = Path("/var/log")


def allowed_roots(call: Call) -> list[Path]:
    """Return the folders that files may be read from on behalf of the API."""
    configured = [Path(root) for root in call.setting("ingestion.allowed_roots")]
    return [root.resolve() for root in configured or [call.application.logs, SYSTEM_LOGS]]


def is_due(call: Call, source: Row[Any]) -> bool:
    """Tell whether the file of a source is other than when it was read, or its last event is to be shown as final."""
    try:
        file = inspect(file_at(call, source.path))
    except FileNotFoundError:
        return bool(source.status == "ok")
    except (OSError, ValueError):
        return False
    same_size = file.compression or source.status == "error" or file.size == source.size
    if source.status == "missing" or file.modified_at != source.modified_at or not same_size:
        return True
    unfinished = Unfinished.of(source)
    if source.status != "ok" or unfinished is None or not unfinished.may_settle:
        return False
    return times.add(file.modified_at, seconds=call.setting("ingestion.quiet_seconds")) <= times.now()


def due_sources(call: Call) -> Iterator[Row[Any]]:
    """Give the sources that are read in place and are due; needs an open transaction."""
    yield from (source for source in _in_place(call) if is_due(call, source))
    yield from (source for source in _left(call) if _went_somewhere(call, source))


def follows(call: Call) -> bool:
    """Tell whether there is any source that may become due; needs an open transaction."""
    return any(True for _ in _in_place(call)) or any(True for _ in _left(call))


def read_on(call: JobCall, run: Run, ingestion: Ingestion) -> None:
    """Read the due files on."""
    with call.transaction(write=False):
        due = list(due_sources(call))
    reading = Reading(ingestion.rules, ingestion.timezone, zone_known=ingestion.zone_known)
    for result in read_again(call, due, reading, watch=lambda _: call.check_cancelled()):
        run.add(result, path_text(result.path.name))


def read_again(
    call: Call, sources: Iterable[Row[Any]], reading: Reading, *, watch: Watch | None = None
) -> Iterator[FileResult]:
    """Read the files of sources on, and those that went elsewhere to the end."""
    left = []
    for source in sources:
        if source.status == "missing" and not file_at(call, source.path).exists():
            left.append(source.id)
            continue
        result = import_file(call, file_at(call, source.path), reading, search=in_place(call), watch=watch)
        if not result.gone:
            yield result
        left += result.left
    yield from read_left(call, left, reading, watch=watch)


def read_left(
    call: Call, source_ids: Iterable[int], reading: Reading, *, watch: Watch | None = None
) -> Iterator[FileResult]:
    """Read the files of sources to the end that left their paths, where they are found."""
    waiting = list(source_ids)
    for source_id in waiting:  # grows while it is walked: a rotation moves several files
        source = _source(call, source_id)
        if source is not None and source.status == "missing" and follow_file(call, source):
            source = _source(call, source_id)
        if source is None or source.status == "missing":
            continue
        result = import_file(call, file_at(call, source.path), reading, search=in_place(call), watch=watch)
        if not result.gone:
            yield result
        waiting += [left for left in result.left if left not in waiting]


def _source(call: Call, source_id: int) -> Row[Any] | None:
    with call.transaction(write=False) as db:
        return queries.source_by_id(db, source_id)


def _in_place(call: Call) -> Iterator[Row[Any]]:
    """Give the newest sources of files on this node that are read in place, below an allowed root."""
    roots = allowed_roots(call)
    last = 0
    while page := queries.in_place(call.db, call.service.file_node, last, _PAGE):
        last = page[-1].id
        yield from (source for source in page if _is_in_place(call, source, roots))


def _left(call: Call) -> Iterator[Row[Any]]:
    """Give the sources whose file left its path a short time ago."""
    roots = allowed_roots(call)
    since = times.add(call.now, seconds=-LEFT_HOURS * 3600)
    left = queries.left_since(call.db, call.service.file_node, since)
    yield from (source for source in left if _is_in_place(call, source, roots))


def _is_in_place(call: Call, source: Row[Any], roots: list[Path]) -> bool:
    path = file_at(call, source.path)
    return not path.is_relative_to(call.application.folder) and any(map(path.is_relative_to, roots))


def _went_somewhere(call: Call, source: Row[Any]) -> bool:
    """Tell whether the file of a source is now at a path that no other source has."""
    path = successor(call, source)
    if path is None:
        return False
    other = known_source(call, path)
    return other is None or other.status == "missing" or not other.offset
