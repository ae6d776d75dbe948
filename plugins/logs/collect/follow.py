"""`import --follow`: files and folders named on the command line, read on as they grow, like `tail -F`.

New issues are printed as they appear, a line each; failures go to stderr, once until they change.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import click

from snaglist.kernel import Conflict
from snaglist.plugins.issues import path_text
from snaglist.plugins.logs.collect.command import (
    STANDARD_INPUT,
    Move,
    check_paths,
    find_files,
    make_reading,
    move_bar,
    turn,
)
from snaglist.plugins.logs.collect.in_place import read_left
from snaglist.plugins.logs.identify.search import in_place
from snaglist.plugins.logs.read.importing import import_file
from snaglist.plugins.logs.read.results import FileResult, Run
from snaglist.plugins.logs.store import queries
from snaglist.plugins.system import Session

PAUSE_SECONDS = 1.0


class Mark(NamedTuple):
    """What changes when a file does; the times in nanoseconds."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Return the mark of a file, None when nothing can be said of it."""
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def follow_paths(
    session: Session, paths: Sequence[str], *, module: str | None, timezone: str | None, follow_links: bool
) -> None:
    """Read files and folders on until an interrupt; NotFound when one of them does not exist at the start."""
    if STANDARD_INPUT in paths:
        raise click.UsageError("--follow: standard input cannot be followed; name files or folders")
    check_paths(paths)
    follower = Follower(session, paths, module, timezone, follow_links=follow_links)
    try:
        with session.progress("reading") as move:
            results = list(follower.read(move))
        follower.show(results)
        session.note("reading on as files grow, until interrupted")
        while True:
            time.sleep(PAUSE_SECONDS)
            follower.show(list(follower.read()))
    except KeyboardInterrupt:
        run = follower.run
        session.note(f"{run.events} events read, of {len(run.issues)} issues, {len(run.new_issues)} of them new")


class Follower:
    """Files and folders that are read again and again, and how they were when they were read last."""

    def __init__(
        self,
        session: Session,
        paths: Sequence[str],
        module: str | None,
        timezone: str | None,
        *,
        follow_links: bool = False,
    ) -> None:
        self.session = session
        self.paths = paths
        self.module = module
        self.timezone = timezone
        self.follow_links = follow_links
        self.run = Run(())
        self._quiet = session.call().setting("ingestion.quiet_seconds")
        self._marks: dict[Path, Mark | None] = {}  # None: to be read in the next round in any case
        self._settle_at: dict[Path, float] = {}  # when the last entry of a file that does not grow becomes final
        self._problems: set[tuple[str, str]] = set()
        self._failed: dict[Path, str] = {}

    def read(self, move: Move | None = None) -> Iterator[FileResult]:
        """Read what changed since the last round, and to its end what went to other paths."""
        changed = self._changed()
        if not changed:
            return
        call = self.session.call()
        try:
            with turn(self.session, call):
                reading, _ = make_reading(call, self.module, self.timezone)
                left: list[int] = []
                done, total = 0, sum(mark.size for mark in changed.values() if mark)
                for path, mark in changed.items():
                    watch = partial(move_bar, move, done, total, path.name) if move else None
                    result = import_file(call, path, reading, search=in_place(call), watch=watch)
                    self._remember(result, mark)
                    left += result.left
                    done += mark.size if mark else 0
                    yield result
                for result in read_left(call, left, reading):
                    self._marks[result.path] = None
                    yield result
        except Conflict as error:  # another import takes long: the next round comes
            self.session.note(error.message)

    def show(self, results: Sequence[FileResult]) -> None:
        """Print the new issues, and failures that were not there before."""
        for result in (result for result in results if not result.gone):
            shown = path_text(result.path)
            self.run.add(result, shown)
            for issue in self._issues(result.new_issues):
                self.session.print({**issue, "source": shown}, _line(issue, shown))
            if result.error and self._failed.get(result.path) != result.error:
                self.session.note(f"{shown}: {result.error}")
            self._failed[result.path] = result.error or ""

    def _changed(self) -> dict[Path, Mark | None]:
        found = find_files(self.session.call(), self.paths, follow_links=self.follow_links)
        problems = set(found.problems)
        for path, error in sorted(problems - self._problems):
            self.session.note(f"{path}: {error}")
        self._problems = problems
        now = time.monotonic()
        marks = {path: Mark.of(path) for path in dict.fromkeys([*found.files, *self._marks])}
        return {
            path: mark
            for path, mark in marks.items()
            if mark is None or mark != self._marks.get(path) or self._settle_at.get(path, now + 1) <= now
        }

    def _remember(self, result: FileResult, mark: Mark | None) -> None:
        path = result.path
        before = self._marks.pop(path, None)
        self._settle_at.pop(path, None)
        if not result.gone:
            self._marks[path] = mark
            if mark != before:
                self._settle_at[path] = time.monotonic() + self._quiet + 1

    def _issues(self, ids: set[int]) -> Sequence[Mapping[Any, Any]]:
        if not ids:
            return []
        with self.session.call().transaction(write=False) as db:
            return queries.issues_in_short(db, sorted(ids))


def _line(issue: Mapping[Any, Any], path: str) -> str:
    return f"{issue['last_seen']}  {issue['severity']:9}  #{issue['id']}  {issue['title']}  ({path})"
