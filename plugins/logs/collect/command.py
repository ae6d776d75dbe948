"""Files and folders named on the command line: read where they are, and reported as a table."""

import secrets
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from snaglist.kernel import Call, NotFound, key, times
from snaglist.kernel.privacy import PRIVATE, make_folder, open_private
from snaglist.kernel.text import slug
from snaglist.plugins.issues import find_or_create_module, path_text
from snaglist.plugins.logs.collect.discovery import OUTSIDE, Discovery, compile_pattern, discover
from snaglist.plugins.logs.collect.in_place import read_left
from snaglist.plugins.logs.collect.locking import import_turn
from snaglist.plugins.logs.identify.search import in_place
from snaglist.plugins.logs.ingestion import Ingestion
from snaglist.plugins.logs.read.importing import import_file
from snaglist.plugins.logs.read.parsing import Reading
from snaglist.plugins.logs.read.results import FileResult, Run
from snaglist.plugins.logs.read.tally import left_out, share
from snaglist.plugins.logs.store import queries
from snaglist.plugins.system import Session, table

STANDARD_INPUT = "-"
FOLDER = "stdin"
NAME = "stdin"


def keep_piped(call: Call, stream: BinaryIO, reading: Reading) -> FileResult:
    """Read a stream to its end and import it as a new source: every run counts."""
    stamp = times.read(times.now()).strftime("%Y%m%d%H%M%S")
    kept = call.application.sources.resolve() / FOLDER / f"{stamp}-{secrets.token_hex(3)}" / NAME
    make_folder(kept.parent, PRIVATE)
    try:
        with open_private(kept, "xb") as target:
            shutil.copyfileobj(stream, target)
    except BaseException:  # interrupted, or the disk is full: half a stream is of no use
        shutil.rmtree(kept.parent, ignore_errors=True)
        raise
    result = import_file(call, kept, replace(reading, final=True, complete=True))
    result.path = Path(STANDARD_INPUT)
    return result


Move = Callable[[int, int | None, str], None]


def read_paths(
    session: Session,
    call: Call,
    paths: Sequence[str],
    *,
    module: str | None = None,
    timezone: str | None = None,
    follow_links: bool = False,
) -> tuple[Run, list[FileResult]]:
    """Read files and folders; NotFound when one of them does not exist, Conflict when another import goes on."""
    check_paths(paths)
    with turn(session, call):
        reading, ingestion = make_reading(call, module, timezone)
        run = Run(ingestion.severities)
        found = find_files(call, paths, follow_links=follow_links)
        return run, _read(session, call, found, reading, run, piped=STANDARD_INPUT in paths)


def check_paths(paths: Sequence[str]) -> None:
    """Raise NotFound when a path does not exist."""
    for path in paths:
        if path != STANDARD_INPUT and _is_missing(Path(path)):
            raise NotFound(f"{path_text(path)}: no such file or folder")


def turn(session: Session, call: Call) -> AbstractContextManager[None]:
    """Hold the import lock; says so when another import holds it first."""
    return import_turn(call.application.folder, waiting=_once(session, "another import is running, waiting for it"))


def make_reading(call: Call, module: str | None, timezone: str | None) -> tuple[Reading, Ingestion]:
    """Return how files are read, by the options and the settings of the application; a missing module is made."""
    with call.transaction():
        ingestion = Ingestion.load(call)
        module_id = _module(call, module) if module else None
    zone = timezone or ingestion.timezone
    own = timezone is not None
    return Reading(ingestion.rules, zone, module_id, own_zone=own, zone_known=own or ingestion.zone_known), ingestion


def find_files(call: Call, paths: Sequence[str], *, follow_links: bool) -> Discovery:
    """Find the log files of paths; links out of a folder are problems, unless they are to be followed."""
    pattern = compile_pattern(call.setting("ingestion.log_file_pattern"))
    named = [Path(path) for path in paths if path != STANDARD_INPUT]
    found = discover(named, pattern, within=[Path(Path.cwd().anchor)] if follow_links else ())
    hint = f"{OUTSIDE}; give --follow-links to read what they lead to"
    found.problems = [(path, hint if error == OUTSIDE else error) for path, error in found.problems]
    return found


def _read(
    session: Session, call: Call, found: Discovery, reading: Reading, run: Run, *, piped: bool
) -> list[FileResult]:
    run.ignored = found.ignored
    for path, error in found.problems:
        run.fail(path, error)
    results = []
    with session.progress("reading") as move:
        done, total = 0, sum(_size(file) for file in found.files)
        for file in found.files:
            watch = partial(move_bar, move, done, total, file.name)
            results.append(import_file(call, file, reading, search=in_place(call), watch=watch))
            done += _size(file)
        read = {result.path for result in results}
        left = [source_id for result in results for source_id in result.left]
        results += [result for result in read_left(call, left, reading) if result.path not in read or result.events]
    if piped:
        results.append(keep_piped(call, sys.stdin.buffer, reading))
    there = [result for result in results if not result.gone]
    for result in there:
        run.add(result, path_text(result.path))
    return there


def _is_missing(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # it may be there: reading it says what is wrong
        return False
    return False


def move_bar(move: Move, done: int, total: int, name: str, position: int) -> None:
    """Move the progress bar to a position in a file, behind the bytes of the files before."""
    move(done + position, total, path_text(name))


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _module(call: Call, name: str) -> int:
    name = path_text(name)
    return queries.find_module(call.db, [slug(name)], [key(name)]) or find_or_create_module(call, name)


def _once(session: Session, text: str) -> Callable[[], None]:
    noted: list[bool] = []

    def note() -> None:
        if not noted:
            noted.append(True)
            session.note(text)

    return note


def document(run: Run, results: list[FileResult]) -> dict[str, Any]:
    """Return the result as `--json` prints it."""
    sources = [
        {
            "path": _shown(result),
            "log_type": result.log_type,
            "events": result.events,
            **result.tally.document(),
            "deleted": result.deleted,
            "state": result.state,
            "remarks": result.remarks,
        }
        for result in results
    ]
    return {"job_id": None, "status": "succeeded", **run.document(), "sources": sources}


def report(run: Run, results: list[FileResult]) -> str:
    """Return the result as a table with a total line."""
    rows: list[list[Any]] = [[_shown(r), r.log_type, *_numbers(r), r.state] for r in results]
    files = "1 file" if len(results) == 1 else f"{len(results)} files"
    rows.append([f"total {files}", "", *_numbers(run), ""])
    headers = ["FILE", "TYPE", "ENTRIES", "TIME", "LEVEL", "EVENTS", "ISSUES", "NEW", "FILTERED", "DELETED", "STATE"]
    for column, number in ((9, run.deleted), (8, run.filtered)):
        if not number:
            for row in [headers, *rows]:
                del row[column]
    hint = "".join(f"\n{one['kind']}: {one['file']}: {one['text']}" for one in run.remarks)
    if run.filtered and run.events:
        entries = "1 entry" if run.filtered == 1 else f"{run.filtered:,} entries"
        hint += f"\nFiltered: {entries} {left_out(run.severities)}."
    if not results and not run.errors:
        passed = f"{run.ignored} passed over by their names" if run.ignored else "it is empty"
        hint += f"\nNo log file there: {passed}. A file that is named itself is always read."
    if run.filtered and not run.events:
        kept = ", ".join(run.severities)
        hint += (
            f"\nEvery event is below the severities that are stored ({kept}); change them in the ingestion settings."
        )
    return table(headers, rows) + hint


def _numbers(of: FileResult | Run) -> list[Any]:
    """Return the columns of numbers of a row; of time and level it is the share of the entries that have one."""
    tally = of.tally
    shares = [share(some, tally.entries) for some in (tally.with_time, tally.with_level)]
    return [tally.entries, *shares, of.events, len(of.issues), len(of.new_issues), tally.filtered, of.deleted]


def _shown(result: FileResult) -> str:
    return path_text(result.path)
