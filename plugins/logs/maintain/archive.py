"""The archive of dropped files: names in it, moving into it, and how long files stay."""

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from snaglist.kernel import Call, times
from snaglist.kernel.privacy import PRIVATE, make_folder
from snaglist.plugins.issues import stored_path
from snaglist.plugins.logs.collect.discovery import compile_pattern
from snaglist.plugins.logs.identify.moved import lead
from snaglist.plugins.logs.read.open_entries import settle
from snaglist.plugins.logs.store import queries


def free_place(folder: Path, name: str, now: str) -> Path:
    """Return where a file of that name goes: time and a random part tell equal names apart."""
    plain = folder / name
    if not os.path.lexists(plain):
        return plain
    dot = name.find(".", 1)
    stem, suffix = (name, "") if dot < 0 else (name[:dot], name[dot:])
    stamp = times.read(now).strftime("%Y%m%d%H%M%S")
    while True:
        place = folder / f"{stem}-{stamp}-{secrets.token_hex(3)}{suffix}"
        if not os.path.lexists(place):
            return place


def move_into(call: Call, file: Path, target: Path, source_id: int | None) -> None:
    """Move a file to its place in the archive; its source follows, and its last entry is shown as final.

    The source is told first: when the process dies in between, the file is found again as a known content
    without its file, and takes that place at the next run.
    """
    make_folder(target.parent, PRIVATE)
    if source_id is not None:
        _lead(call, source_id, file, target)
    try:
        shutil.move(file, target)
    except OSError:
        if source_id is not None:
            _lead(call, source_id, target, file)
        raise


def _lead(call: Call, source_id: int, path: Path, new_path: Path) -> None:
    with call.transaction() as db:
        # For a day from now it is looked at whether somebody writes on.
        lead(db, source_id, stored_path(call, path), stored_path(call, new_path), imported_at=times.now())
        if (source := queries.source_by_id(db, source_id)) is not None:
            settle(db, source)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long archived files stay: days by modification time, and the number of newest files; 0 is off."""

    max_age_days: int
    max_files: int

    @classmethod
    def configured(cls, call: Call) -> Self:
        """Return the rules of the configuration."""
        return cls(call.setting("retention.processed_max_age_days"), call.setting("retention.processed_max_files"))

    @property
    def enabled(self) -> bool:
        """True when a rule is on."""
        return bool(self.max_age_days or self.max_files)


@dataclass(frozen=True, slots=True, order=True)
class Archived:
    """A file of the archive."""

    modified: float  # seconds since 1970
    path: Path
    size: int


def prune(folder: Path, pattern: str, retention: Retention, now: str) -> dict[str, Any]:
    """Delete archived log files that the rules give up; one that cannot be deleted counts as remaining."""
    archived = archived_files(folder, pattern)
    deleted = freed = 0
    for file in _given_up(archived, retention, now):
        try:
            file.path.unlink()
        except OSError:
            continue
        deleted, freed = deleted + 1, freed + file.size
    return {
        "enabled": retention.enabled,
        "deleted": deleted,
        "freed_bytes": freed,
        "remaining": len(archived) - deleted,
        "scanned": len(archived),
    }


def archived_files(folder: Path, pattern: str) -> list[Archived]:
    """Return the log files of the archive, newest first."""
    wanted = compile_pattern(pattern)
    found = []
    for parent, _, names in os.walk(folder):
        for name in names:
            if not wanted.fullmatch(name):
                continue
            file = Path(parent, name)
            try:
                status = file.stat()
            except OSError:
                continue
            found.append(Archived(status.st_mtime, file, status.st_size))
    return sorted(found, reverse=True)


def _given_up(archived: list[Archived], retention: Retention, now: str) -> list[Archived]:
    if not retention.enabled:
        return []
    oldest = times.read(now).timestamp() - 86_400 * retention.max_age_days
    kept = [file for file in archived if not retention.max_age_days or file.modified >= oldest]
    if retention.max_files:
        kept = kept[: retention.max_files]
    stays = set(kept)
    return [file for file in archived if file not in stays]
