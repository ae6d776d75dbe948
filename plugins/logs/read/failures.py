"""Files that cannot be read: what the result and the source say of it."""

from pathlib import Path

from snaglist.kernel import Call, ServiceError
from snaglist.kernel.errors import internal_error
from snaglist.plugins.logs.collect.discovery import reason
from snaglist.plugins.logs.identify.moved import leave
from snaglist.plugins.logs.read.files import inspect
from snaglist.plugins.logs.read.parsing import Reading, known_source
from snaglist.plugins.logs.read.results import FileResult
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.store.source_rows import new_source_row


def unforeseen(error: Exception) -> str:
    """Return what to say of a failure that stops one file; one that nobody foresaw is logged under a reference."""
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


def note_unforeseen(call: Call, path: Path, reading: Reading, result: FileResult, error: Exception) -> None:
    """Note whatever went wrong with a file; but for the file system, no schedule tries again until it changes."""
    if isinstance(error, OSError):
        note_failure(call, path, reading, result, reason(error))
        return
    try:
        modified_at = inspect(path).modified_at
    except OSError:
        modified_at = None
    note_failure(call, path, reading, result, unforeseen(error), modified_at)
