"""Which files of a folder are logs, and in what order they are read."""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from snaglist.kernel import Option
from snaglist.plugins.issues import path_text
from snaglist.plugins.logs.collect.unfinished import is_part

# Endings and whole names, then rotation numbers or dates, then compression. Every repeat begins with its own
# separator, so that matching takes time in proportion to the name.
DEFAULT_PATTERN = (
    r"(?:.*\.(?:log|jsonl|ndjson|out|err)|syslog|messages|access_log|error_log)"
    r"(?:[._-][0-9]+)*(?:\.(?:gz|bz2|xz|zst))?"
)
ARCHIVE_FOLDER = "processed"
OUTSIDE = "links out of the folder are not followed"
MAX_PATTERN_BYTES = 512
_SLOW_SECONDS = 0.02
_PROBES = ("a", "1", ".", "-", "_", "a.", "1-", ".log")
_LONGEST_NAME = 255


class PatternOption(Option):
    """A configuration key that holds a pattern for file names; one that could hang the scan does not fit."""

    wanted = f"a regular expression of at most {MAX_PATTERN_BYTES} bytes that is fast on any name"

    def read(self, raw: object) -> str:
        """Return the pattern; raises ValueError when it is too long, does not compile or is slow."""
        pattern = str(Option.read(self, raw))
        if pattern and not usable_pattern(pattern):
            raise ValueError(self.name)
        return pattern


def usable_pattern(pattern: str) -> bool:
    """Tell whether a pattern compiles and answers fast for names made to mislead it."""
    if len(pattern.encode("utf-8", "surrogatepass")) > MAX_PATTERN_BYTES:
        return False
    try:
        compiled = compile_pattern(pattern)
    except (re.error, RecursionError, OverflowError):
        return False
    return all(_fast(compiled, probe) for probe in _PROBES)


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the pattern for whole base names in any case; empty is the default. A dot is any character."""
    return re.compile(pattern or DEFAULT_PATTERN, re.IGNORECASE | re.DOTALL)


def _fast(compiled: re.Pattern[str], probe: str) -> bool:
    # The probe grows a little at a time, so that an exponential pattern is caught before it takes seconds.
    length = 8
    while length <= _LONGEST_NAME:
        name = (probe * length)[:length] + "!"
        started = time.thread_time()
        compiled.fullmatch(name)
        if time.thread_time() - started > _SLOW_SECONDS:
            return False
        length += 1 if length < 40 else 15
    return True


@dataclass(slots=True)
class Discovery:
    """What was found: resolved files in order, names passed over, and what could not be looked at.

    Problems name paths as `path_text` has them.
    """

    files: list[Path] = field(default_factory=list)
    ignored: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)


def discover(paths: Iterable[Path], pattern: re.Pattern[str], *, within: Sequence[Path] = ()) -> Discovery:
    """Find the log files below the given files and folders, each resolved file once.

    A file that is named itself is always taken, a link too; in folders the base name decides, and links have to stay
    in the folder that was named, or lead into one of `within` (resolved): who may write into a folder may not choose
    what else of the machine is read. A path that does not exist is a problem, like a folder that may not be listed
    and a link that leads elsewhere.
    """
    found = Discovery()
    seen_files: set[Path] = set()
    seen_folders: set[Path] = set()
    for path in paths:
        try:
            resolved = path.resolve(strict=True)
            mode = resolved.stat().st_mode
        except (OSError, RuntimeError, ValueError) as error:
            found.problems.append((path_text(path), reason(error)))
            continue
        if stat.S_ISDIR(mode):
            walk = _Walk(pattern, (resolved, *within), found, seen_folders)
            named = walk.files(resolved)
        elif stat.S_ISREG(mode):
            named = iter([resolved])
        else:
            found.problems.append((path_text(path), "not a file or folder"))
            continue
        for file in named:
            if file in seen_files:
                continue
            seen_files.add(file)
            found.files.append(file)
    return found


def reason(error: Exception) -> str:
    """Return a short message without paths for a failure of the file system."""
    text = getattr(error, "strerror", None)
    return str(text) if text else "cannot be read"


class _Walk:
    """A walk through a folder that was named."""

    def __init__(self, pattern: re.Pattern[str], within: Sequence[Path], found: Discovery, seen: set[Path]) -> None:
        self._pattern, self._within, self._found, self._seen = pattern, within, found, seen

    def files(self, folder: Path) -> Iterator[Path]:
        """Give the resolved log files of a resolved folder, and of those below it."""
        if folder in self._seen:  # links can form a ring
            return
        self._seen.add(folder)
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self._found.problems.append((path_text(folder), reason(error)))
            return
        for entry in entries:
            try:
                yield from self._below(entry)
            except (OSError, RuntimeError):  # went away, or a link to itself
                self._found.ignored += 1

    def _below(self, entry: "os.DirEntry[str]") -> Iterator[Path]:
        is_folder = entry.is_dir()
        if not is_folder and is_part(entry.name):
            return
        if entry.name == ARCHIVE_FOLDER if is_folder else not self._pattern.fullmatch(entry.name):
            self._found.ignored += not is_folder
            return
        path = Path(entry.path)
        if entry.is_symlink():
            path = path.resolve(strict=True)
            if not any(map(path.is_relative_to, self._within)):
                self._found.problems.append((path_text(entry.path), OUTSIDE))
                return
        if is_folder:
            yield from self.files(path)
        elif entry.is_file():
            yield path
        else:
            self._found.ignored += 1
