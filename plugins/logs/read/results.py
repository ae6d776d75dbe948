"""What reading one file did, and what reading many adds up to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from snaglist.plugins.issues import StoredBatch
from snaglist.plugins.logs.read.portions import Portion
from snaglist.plugins.logs.read.tally import NUMBERS, Tally, left_out

MAX_WAITING_SHOWN = MAX_REMARKS_SHOWN = 100


@dataclass(slots=True)
class FileResult:
    """What reading one file did. `state`: read, unchanged, duplicate, partial or failed; the last two have an `error`.

    `deleted` are lines that do not come back: of a file that was read those met again, otherwise all of its source.

    `waiting`: why a dropped file is not archived yet. `left` are the sources whose file was at this path and is there
    no more. `tally` are the entries that were read, `reading` all that were ever read of the file.
    """

    path: Path
    state: str = "read"
    log_type: str = ""
    source_id: int | None = None
    events: int = 0
    tally: Tally = field(default_factory=Tally)
    reading: Tally = field(default_factory=Tally)
    access_lines: int = 0
    deleted: int = 0
    issues: set[int] = field(default_factory=set)
    new_issues: set[int] = field(default_factory=set)
    by_type: Counter[str] = field(default_factory=Counter)
    error: str | None = None
    waiting: str | None = None
    gone: bool = False
    left: list[int] = field(default_factory=list)

    def fail(self, error: str) -> None:
        """Note the failure; what was stored before stays counted."""
        self.state, self.error = "failed", error

    def stop(self, error: str) -> None:
        """Note why the file was read to a part only."""
        self.state, self.error = "partial", error

    def count(self, portion: Portion, batch: StoredBatch) -> None:
        """Count what a transaction took in."""
        self.tally += portion.tally
        self.access_lines += portion.access_lines
        self.events += len(batch.stored)
        self.by_type.update(stored.event.log_type for stored in batch.stored)
        self.touch(batch)

    @property
    def filtered(self) -> int:
        """How many entries were not kept, because of their level."""
        return self.tally.filtered

    @property
    def remarks(self) -> list[dict[str, str]]:
        """What people should know of how the file is read, where something of it was."""
        return self.reading.remarks() if self.tally.entries else []

    def touch(self, batch: StoredBatch) -> None:
        """Note the issues of a batch."""
        self.issues.update(stored.issue_id for stored in batch.stored)
        self.new_issues |= batch.new_issues


@dataclass(slots=True)
class Run:
    """The sum of a run, in the words of the API."""

    severities: Sequence[str]
    files: int = 0
    events: int = 0
    skipped: int = 0
    duplicates: int = 0
    ignored: int = 0
    tally: Tally = field(default_factory=Tally)
    access_lines: int = 0
    deleted: int = 0
    processed: int = 0
    waiting: int = 0
    waiting_files: list[dict[str, str]] = field(default_factory=list)
    issues: set[int] = field(default_factory=set)
    new_issues: set[int] = field(default_factory=set)
    by_type: Counter[str] = field(default_factory=Counter)
    errors: list[dict[str, str]] = field(default_factory=list)
    remarks: list[dict[str, str]] = field(default_factory=list)

    @property
    def filtered(self) -> int:
        """How many entries were not kept, because of their level."""
        return self.tally.filtered

    def add(self, result: FileResult, shown: str) -> None:
        """Count a file in; `shown` is its name in the lists of errors, of remarks and of waiting files."""
        if result.waiting is not None:
            self.waiting += 1
            if len(self.waiting_files) < MAX_WAITING_SHOWN:
                self.waiting_files.append({"file": _utf8(shown), "reason": result.waiting})
        if result.state in ("read", "partial"):
            self.files += 1
        elif result.state == "unchanged":
            self.skipped += 1
        elif result.state == "duplicate" and result.waiting is None:
            self.duplicates += 1
        self.events += result.events
        self.tally += result.tally
        self.access_lines += result.access_lines
        self.deleted += result.deleted
        self.issues |= result.issues
        self.new_issues |= result.new_issues
        self.by_type.update(result.by_type)
        if result.error is not None:
            self.fail(shown, result.error)
        self.remark(shown, result.remarks)

    def remark(self, shown: str, remarks: Sequence[Mapping[str, str]]) -> None:
        """Note what is to be known of how a file is read."""
        room = MAX_REMARKS_SHOWN - len(self.remarks)
        self.remarks.extend({"file": _utf8(shown), **remark} for remark in remarks[:room])

    def fail(self, shown: str, error: str) -> None:
        """Note a file or folder that could not be read."""
        self.errors.append({"file": _utf8(shown), "error": error})

    def copy(self) -> "Run":
        """Return the same, to count on from."""
        own = {
            name: type(getattr(self, name))(getattr(self, name))
            for name in ("issues", "new_issues", "errors", "waiting_files", "remarks")
        }
        return replace(self, by_type=Counter(self.by_type), **own)

    def resume(self, saved: Mapping[str, Any]) -> None:
        """Go on from what `document` returned; which issues were touched before is not known any more."""
        for name in ("files", "events", "skipped", "access_lines"):
            setattr(self, name, saved[name])
        # A job that an earlier version began did not count all of that.
        self.deleted = saved.get("deleted", 0)
        self.tally = Tally(**{name: saved.get(name, 0) for name in NUMBERS})
        self.remarks.extend(saved.get("remarks", ()))
        self.by_type.update(saved["by_type"])
        self.errors.extend(saved["errors"])

    def document(self) -> dict[str, Any]:
        """Return the result as the API has it."""
        return {
            "files": self.files,
            "events": self.events,
            "groups": len(self.issues),
            "new_groups": len(self.new_issues & self.issues),
            "skipped": self.skipped,
            "duplicates": self.duplicates,
            "ignored": self.ignored,
            **self.tally.document(),
            "filtered_as": left_out(self.severities),
            "access_lines": self.access_lines,
            "deleted": self.deleted,
            "processed": self.processed,
            "waiting": self.waiting,
            "waiting_files": self.waiting_files,
            "ingested_severities": list(self.severities),
            "by_type": dict(self.by_type.most_common()),
            "errors": self.errors,
            "remarks": self.remarks,
        }


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
