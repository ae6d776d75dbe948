"""The folder `logs` of an application: dropped files are read at once, and archived when they are at rest.

The job `import`.
"""

import os
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Application, Call, ServiceError, Unavailable, key, times
from snaglist.kernel.text import slug
from snaglist.plugins.issues import file_at, find_or_create_module, path_of, path_text
from snaglist.plugins.logs.collect import in_place
from snaglist.plugins.logs.collect.discovery import compile_pattern, discover
from snaglist.plugins.logs.collect.finished import unrest
from snaglist.plugins.logs.collect.locking import import_turn
from snaglist.plugins.logs.collect.unfinished import forget_old, is_part, left_over
from snaglist.plugins.logs.identify.search import dropped
from snaglist.plugins.logs.ingestion import Ingestion
from snaglist.plugins.logs.maintain.archive import Retention, free_place, move_into, prune
from snaglist.plugins.logs.read.importing import import_file, what_failed
from snaglist.plugins.logs.read.parsing import Reading, Watch
from snaglist.plugins.logs.read.results import FileResult, Run
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.store.sources import known_source
from snaglist.plugins.system import JobCall

GROWING_HOURS = 24
_PULSE_SECONDS = 0.5


def run_import(call: JobCall) -> dict[str, Any]:
    """Read the dropped files; as a scheduled run also what grew of files that are read in place."""
    with import_turn(call.application.folder, waiting=call.check_cancelled):
        incoming = Incoming(call)
        incoming.read_dropped()
        incoming.read_grown()
        if call.args.get("follow"):
            in_place.read_on(call, incoming.run, incoming.ingestion)
        return {**incoming.run.document(), "retention": incoming.prune()}


def due(call: Call) -> Mapping[str, Any] | None:
    """Tell whether a scheduled run has something to read or to archive; asked in a read transaction."""
    folder = call.application.logs.resolve()
    found = discover([folder], compile_pattern(call.setting("ingestion.log_file_pattern")))
    dropped = any(_is_due(call, file) for file in found.files)
    work = dropped or any(_grown(call)) or any(in_place.due_sources(call)) or any(left_over(folder))
    return {"follow": True} if work else None


def rests(call: Call) -> bool:
    """Tell whether nothing but a dropped file makes a run due; asked in a read transaction."""
    growing = queries.was_read_since(call.db, times.add(call.now, seconds=-GROWING_HOURS * 3600))
    return not growing and not in_place.follows(call)


def is_dropped(application: Application) -> bool:
    """Tell, without the database, whether anything but folders and files that come lies in the folder `logs`."""
    lies = any(not is_part(name) for _, _, names in os.walk(application.logs) for name in names)
    return lies or any(left_over(application.logs))


def _is_due(call: Call, file: Path) -> bool:
    """A file is due that is new, changed or to be archived; one that failed is left alone until it changes."""
    known = known_source(call, file)
    if known is None or in_place.is_due(call, known):
        return True
    try:
        return known.status == "ok" and unrest(call, file) is None
    except OSError:
        return False


def _grown(call: Call) -> Iterator[Row[Any]]:
    """Give the archived files that changed since they were read, a day after that at most; in an open transaction."""
    archive = call.application.processed
    since = times.add(call.now, seconds=-GROWING_HOURS * 3600)
    for row in queries.imported_since(call.db, since):
        path = file_at(call, row.path)
        if path.is_relative_to(archive) and in_place.is_due(call, row):
            newest = known_source(call, path)
            if newest is not None and newest.id == row.id:
                yield row


class Incoming:
    """One run over the folder."""

    def __init__(self, call: JobCall) -> None:
        self.call = call
        self.folder = call.application.logs.resolve()
        with call.transaction(write=False):
            self.ingestion = Ingestion.load(call)
            self._grown = list(_grown(call))
        self.run = Run(self.ingestion.severities)
        self._modules: dict[str, tuple[int, str]] = {}
        self._asked = time.monotonic()

    def read_dropped(self) -> None:
        """Read and archive every log file of the folder."""
        found = discover([self.folder], compile_pattern(self.call.setting("ingestion.log_file_pattern")))
        self.run.ignored = found.ignored
        for path, error in found.problems:
            self.run.fail(self._shown(path_of(path)), error)
        for done, file in enumerate(found.files):
            pulse = partial(self._pulse, done, len(found.files), path_text(file.name))
            pulse()
            self._read_one(file, pulse)
        self.call.progress(len(found.files), len(found.files))

    def read_file(self, file: Path) -> FileResult | None:
        """Read one log file of the folder, and archive it when it is at rest; None when it is not there."""
        size = file.stat().st_size if file.exists() else 0
        return self._read_one(file, lambda read: self._pulse(min(read, size), size, path_text(file.name)))

    def read_grown(self) -> None:
        """Read on in archived files whose writer kept them open."""
        for row in self._grown:
            path = file_at(self.call, row.path)
            reading = self._reading(row.module_id)
            result = import_file(self.call, path, reading, watch=lambda _: self.call.check_cancelled())
            if not result.gone:
                self.run.add(result, self._shown(path))

    def prune(self) -> dict[str, Any]:
        """Apply the retention of the archive, and delete what came of files whose rest did not."""
        forget_old(self.folder)
        pattern = self.call.setting("ingestion.log_file_pattern")
        return prune(self.call.application.processed, pattern, Retention.configured(self.call), self.call.now)

    def _pulse(self, done: int, total: int, name: str, _read: int = 0) -> None:
        """Stop when the user asked for it, and tell how far the run is: twice a second at most."""
        if time.monotonic() - self._asked >= _PULSE_SECONDS:
            self._asked = time.monotonic()
            self.call.check_cancelled()
            self.call.progress(done, total, name)

    def _read_one(self, file: Path, watch: Watch) -> FileResult | None:
        try:
            waiting = unrest(self.call, file)  # asked first: what is read then is all of a file at rest
            module_id, archive = self._module_of(file)
            result, place = self._import(file, module_id, watch, growing=waiting is not None)
            result.waiting = waiting
        except FileNotFoundError:
            return None
        except Unavailable:
            raise
        except (OSError, ServiceError) as error:  # or no module can have the name of the folder
            result, place = FileResult(file), None
            result.fail(what_failed(error))
        if result.gone:
            return None
        if result.error is None and result.waiting is None:
            try:
                target = place or free_place(archive, file.name, times.now())
                move_into(self.call, file, target, result.source_id)
                self.run.processed += 1
            except Unavailable:
                raise
            except Exception as error:
                result.error = f"read, but not archived: {what_failed(error)}"
        self.run.add(result, self._shown(file))
        return result

    def _import(
        self, file: Path, module_id: int | None, watch: Watch, *, growing: bool
    ) -> tuple[FileResult, Path | None]:
        """Read a file; also returns the place of an equal one that a lost file left empty."""
        search = dropped(self.call, module_id, growing=growing)
        reading = self._reading(module_id, growing=growing)
        result = import_file(self.call, file, reading, search=search, watch=watch)
        if result.state != "duplicate" or result.source_id is None:
            return result, None
        with self.call.transaction(write=False) as db:
            equal = queries.source_by_id(db, result.source_id)
        result.source_id = None  # the file is not where its events come from
        former = file_at(self.call, equal.path) if equal else None
        return result, former if former and not former.exists() else None

    def _reading(self, module_id: int | None, *, growing: bool = False) -> Reading:
        zone, known = self.ingestion.timezone, self.ingestion.zone_known
        return Reading(self.ingestion.rules, zone, module_id, growing=growing, zone_known=known)

    def _module_of(self, file: Path) -> tuple[int | None, Path]:
        """Return the module that the first folder level names, made when it is missing, and its archive."""
        archive = self.call.application.processed
        parts = file.relative_to(self.folder).parts
        if len(parts) < 2:
            return None, archive
        folder = path_text(parts[0])
        if folder not in self._modules:
            name = module_name(folder)
            with self.call.transaction() as db:
                found = queries.find_module(db, [slug(folder)], [key(folder), key(name)])
                module_id = found or find_or_create_module(self.call, name)
                self._modules[folder] = module_id, queries.module_slug(db, module_id) or ""
        module_id, own = self._modules[folder]
        return module_id, archive / own

    def _shown(self, path: Path) -> str:
        for folder in (self.folder, self.call.application.folder):
            if path.is_relative_to(folder) and path != folder:
                return path_text(path.relative_to(folder).as_posix())
        return path_text(path.name)


def module_name(folder: str) -> str:
    """Return the name of a module for a folder: dashes as blanks, each word's first letter raised."""
    words = folder.replace("-", " ").replace("_", " ").split()
    return " ".join(word[0].upper() + word[1:] for word in words) or folder
