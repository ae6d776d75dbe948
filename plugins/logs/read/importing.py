"""Reads one file from where it was left; whatever is wrong with it stops no other file."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from snaglist.kernel import Call, Conflict, Unavailable
from snaglist.plugins.logs.collect.discovery import reason
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.failures import note_failure, note_unforeseen
from snaglist.plugins.logs.read.file_import import FileImport
from snaglist.plugins.logs.read.files import OpenFile, open_file
from snaglist.plugins.logs.read.parsing import (
    FileChanged,
    ParseFailure,
    Reading,
    Search,
    StillWritten,
    Unreadable,
    Watch,
    Watching,
    read_with,
)
from snaglist.plugins.logs.read.results import FileResult
from snaglist.plugins.logs.store import deletions

ATTEMPTS = 3  # at a file that is rotated while it is read
_CHANGING = f"what was read of it changed {ATTEMPTS} times meanwhile; the next run tries again"


def import_file(
    call: Call, path: Path, reading: Reading, *, search: Search | None = None, watch: Watch | None = None
) -> FileResult:
    """Read a (resolved) file from where it was left; failures of the file are in the result.

    A link that took the place of the file, or of a folder above it, since it was found is not followed.
    `search` is asked, with the head of the file, when the path's own source does not know the content. `watch`
    is called with the number of bytes done after each transaction and may raise to stop. Only that, and a database
    that is away (Unavailable), ends in an exception: whatever else is wrong with a file stops no other.
    """
    result = FileResult(path)
    watching = Watching(watch)

    def read(parsers: Sequence[Parser]) -> None:
        for _ in range(ATTEMPTS):
            with suppress(FileChanged), open_file(path, links=False, base=_base(call, path)) as file:
                _import(call, file, replace(reading, parsers=parsers), result, search, watching)
                return
        note_failure(call, path, reading, result, _CHANGING)

    try:
        read_with(call.service, call, read)
    except FileNotFoundError as error:
        result.gone = True
        note_failure(call, path, reading, result, reason(error))
    except Exception as error:
        if error is watching.raised or isinstance(error, Unavailable):
            raise
        note_unforeseen(call, path, reading, result, error)
    return result


def _base(call: Call, path: Path) -> Path | None:
    """Return the folder up to which a path may hold links: a data directory may stand behind one."""
    folder = call.application.folder
    return folder if path.is_relative_to(folder) else None


def _import(
    call: Call, file: OpenFile, reading: Reading, result: FileResult, search: Search | None, watch: Watch
) -> None:
    run = FileImport(call, file, reading, result, watch)
    try:
        run.run(search or (lambda _file, _head: None))
        if result.state != "read":
            result.deleted = deletions.number_of(call, run.original or result.source_id)
    except Conflict as error:
        result.fail(error.message)
    except (ParseFailure, Unreadable) as error:
        note_failure(call, file.state.path, reading, result, str(error), file.state.modified_at)
    except StillWritten as error:  # without the time of the file: the next run looks again
        if not reading.growing:  # of a file that waits the result says so
            note_failure(call, file.state.path, reading, result, str(error))
    finally:
        run.close()
