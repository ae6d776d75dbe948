"""Reads one file from where it was left; whatever is wrong with it stops no other file."""

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from snaglist.kernel import Call, Conflict, ServiceError, Unavailable, internal_error
from snaglist.plugins.logs.collect.discovery import reason
from snaglist.plugins.logs.identify.moved import leave
from snaglist.plugins.logs.identify.search import Search, nowhere
from snaglist.plugins.logs.identify.start import find_start, look_up
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.file_import import Condition, FileImport, is_quiet
from snaglist.plugins.logs.read.files import OpenFile, inspect, open_file
from snaglist.plugins.logs.read.open_entries import Unfinished, settle
from snaglist.plugins.logs.read.parsing import (
    FileChanged,
    ParseFailure,
    Reading,
    StillWritten,
    Unreadable,
    Watch,
    read_with,
)
from snaglist.plugins.logs.read.results import FileResult
from snaglist.plugins.logs.store import deletions, queries
from snaglist.plugins.logs.store.sources import known_source, new_source_row

ATTEMPTS = 3  # at a file that is rotated while it is read
_CHANGING = f"what was read of it changed {ATTEMPTS} times meanwhile; the next run tries again"


class _Stopped(BaseException):
    """The watch raised, which no failure of a file is; no clause for those catches it."""


def import_file(
    call: Call, path: Path, reading: Reading, *, search: Search = nowhere, watch: Watch | None = None
) -> FileResult:
    """Read a (resolved) file from where it was left; failures of the file are in the result.

    A link that took the place of the file, or of a folder above it, since it was found is not followed.
    `search` looks for sources with the content that the path's own source does not know. `watch` is called with the
    number of bytes done after each transaction and may raise to stop. Only that, and a database that is away
    (Unavailable), ends in an exception: whatever else is wrong with a file stops no other.
    """
    result = FileResult(path)
    # Up to the application's folder a path may hold links: a data directory may stand behind one.
    base = call.application.folder if path.is_relative_to(call.application.folder) else None

    def watched(done: int) -> None:
        try:
            if watch is not None:
                watch(done)
        except Exception as error:
            raise _Stopped from error

    def read(parsers: Sequence[Parser]) -> None:
        for _ in range(ATTEMPTS):
            with suppress(FileChanged), open_file(path, links=False, base=base) as file:
                _import(call, file, replace(reading, parsers=parsers), result, search, watched)
                return
        note_failure(call, path, reading, result, _CHANGING)

    try:
        read_with(call.service, call, read, reading.rules.formats)
    except _Stopped as stopped:
        error = stopped.__cause__
        assert error is not None
        raise error from error.__cause__  # which tells a lost database
    except Unavailable:
        raise
    except Exception as error:  # but for the file system, no schedule tries again until the file changes
        result.gone = isinstance(error, FileNotFoundError)
        modified_at = None
        with suppress(OSError):
            modified_at = None if isinstance(error, OSError) else inspect(path).modified_at
        note_failure(call, path, reading, result, what_failed(error), modified_at)
    return result


def _import(call: Call, file: OpenFile, reading: Reading, result: FileResult, search: Search, watch: Watch) -> None:
    original = None
    try:
        known = look_up(call, file, search)
        if known.here is not None and known.unchanged:
            result.state, result.log_type, result.source_id = "unchanged", known.here.log_type, known.here.id
            unfinished = Unfinished.of(known.here)
            if unfinished and unfinished.may_settle and is_quiet(call, file):
                with call.transaction() as db:
                    settle(db, known.here)
        else:
            condition = Condition.of(call, file, reading)
            start = find_start(call, file, known, search, reading.parsers)
            result.left += start.left
            if start.trail is not None:
                original = start.original
                with closing(start.trail):
                    FileImport(call, file, reading, start, condition, result).run(watch)
            elif start.source is not None:
                result.state, result.log_type, result.source_id = "duplicate", start.source.log_type, start.source.id
        if result.state != "read":
            result.deleted = deletions.number_of(call, original or result.source_id)
    except Conflict as error:
        result.fail(error.message)
    except (ParseFailure, Unreadable) as error:
        note_failure(call, file.state.path, reading, result, str(error), file.state.modified_at)
    except StillWritten as error:  # without the time of the file: the next run looks again
        if not reading.growing:  # of a file that waits the result says so
            note_failure(call, file.state.path, reading, result, str(error))


def what_failed(error: Exception) -> str:
    """Return what to say of a failure that stops one file; one that nobody foresaw is logged under a reference."""
    if isinstance(error, OSError):
        return reason(error)
    if isinstance(error, ServiceError):
        return error.message
    return f"{type(error).__name__}: {internal_error(error, 'a file is not read').message}"


def note_failure(
    call: Call, path: Path, reading: Reading, result: FileResult, message: str, modified_at: str | None = None
) -> None:
    """Note a failure in the result and at the source; nothing is written when it shows already.

    `modified_at` is that of content that cannot be read: until it changes, no schedule tries again. Without it
    the file system refused, and the next schedule for which it does not tries again.
    """
    result.fail(message)
    with call.transaction(write=False):
        known = known_source(call, path)
    values = {"status": "missing" if result.gone else "error", "last_error": message}
    if modified_at is not None:
        values["modified_at"] = modified_at
    if known is None:
        if not result.gone:
            with call.transaction() as db:
                queries.add_source(db, {**new_source_row(call, path, reading), **values})
        return
    if result.gone:
        result.left.append(known.id)
    if any(getattr(known, name) != value for name, value in values.items()):
        with call.transaction() as db:
            if result.gone:
                leave(db, known)
            queries.change_source(db, known.id, **values)
