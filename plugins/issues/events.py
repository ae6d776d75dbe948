"""The event: one log record on its way from a parser or a sender to an issue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SEVERITIES = ("EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")
RANK = {name: rank for rank, name in enumerate(SEVERITIES)}
# How a severity was found: `LEVEL_SOURCES` of `Event.level_source`, the surest first.
LEVEL_SOURCES = ("line", "wrapper", "request", "trace", "words", "none")
# As sentences have them.
STATUS_WORDS = {
    "open": "open",
    "in_progress": "in progress",
    "fixed": "fixed",
    "wont_fix": "won't fix",
    "reoccurred": "reoccurred",
}
STATUSES = tuple(STATUS_WORDS)


class CodeContext(NamedTuple):
    """The line of source that a frame is at, and the lines before and behind it as far as they are known."""

    line: str
    pre: tuple[str, ...] = ()
    post: tuple[str, ...] = ()


@dataclass(slots=True)
class Frame:
    """One call of a stack. `in_app` tells the application's own code from libraries.

    `repeated`: how many more times the call was made in a row, where a trace says so instead of printing it again.
    Neither this nor `context` is part of the grouping key.
    """

    function: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    in_app: bool = True
    context: CodeContext | None = None
    repeated: int = 0


@dataclass(slots=True)
class ExceptionInfo:
    """One exception of a chain; `frames` innermost first."""

    type: str
    message: str = ""
    frames: list[Frame] = field(default_factory=list)


@dataclass(slots=True)
class AccessInfo:
    """The parts of an access line that group it, and who is logged in, "" for nobody."""

    method: str
    path: str
    status: int
    user: str = field(default="", kw_only=True)


@dataclass(slots=True)
class Event:
    """One record.

    `exceptions` are in raise order: the last one is the one raised last. `stack` is the trace as text,
    without the message. `context` is trailing structured data as text; `preview` is what its occurrence keeps of
    it when its text is kept elsewhere (None: the context). `template` is a message template that the logger
    itself gave; `fingerprint` is the sender's own grouping value. Bytes count from the
    start of the source's (uncompressed) content. `user` is who the event happened to: an id, a name or an address, as
    the sender names them.

    `level_source` says how the severity was found: `line`, a level is written in the entry, `wrapper`, in what was
    put around it (the priority of syslog or of a journal), `request`, by the status of an answer, `trace`, because an
    exception or a stack stands in it, `words`, by the words of the message, `none`: nothing says one, and it is a
    default. Empty: what a parser or sender gave is `line`.
    """

    message: str
    severity: str = "ERROR"
    occurred_at: str = ""
    time_source: str = "event"
    log_type: str = "console"
    family: str = "text"
    channel: str = ""
    environment: str = "production"
    exceptions: Sequence[ExceptionInfo] = ()
    stack: str = ""
    context: str = ""
    preview: str | None = None
    release: str | None = None
    server_name: str | None = None
    event_id: str | None = None
    template: str | None = None
    fingerprint: str | None = None
    access: AccessInfo | None = None
    tags: Sequence[str] = ()
    byte_start: int = 0
    byte_end: int = 0
    provisional: bool = False
    truncated: bool = False
    level_source: str = ""
    user: str | None = None


@dataclass(frozen=True, slots=True)
class EventSource:
    """The row of `sources` that events come from; `path` is relative to the data directory for files in it."""

    id: int
    module_id: int | None
    path: str


@dataclass(slots=True)
class StoredEvent:
    """Where an event went. `occurrence_id` is known of events that were stored as `unseen`."""

    event: Event
    issue_id: int
    grouping_id: int
    occurrence_id: int | None = None


@dataclass(slots=True)
class StoredBatch:
    """What storing a batch did; all sets hold issue ids.

    `changed_issues`: title, sample message or exception class are other than before.
    `counts`: the issue's total before and after. `silent`: how many of an issue's events a snooze by number
    of events covers, its first ones. `duplicates`: events whose id or bytes were known.
    """

    source: EventSource
    stored: list[StoredEvent] = field(default_factory=list)
    new_issues: set[int] = field(default_factory=set)
    changed_issues: set[int] = field(default_factory=set)
    reoccurred_issues: set[int] = field(default_factory=set)
    counts: dict[int, tuple[int, int]] = field(default_factory=dict)
    silent: dict[int, int] = field(default_factory=dict)
    duplicates: int = 0
    reread: bool = False  # the events were read before: nobody is to be told about them


@dataclass(frozen=True, slots=True)
class IssueChange:
    """A change that somebody made to issues.

    `kind`: created, status, comment, edit, assignment, snooze, merge, unmerge or delete. `details`, by kind: status:
    `status`, `note`, `release`, `comment`, `previous` (id → status before) and `followed` (a tracker said so, nobody
    here); comment: `text`; edit: `fields`; assignment: `assigned_to_id`, `assigned_to_label`; snooze: `snoozed_until`,
    `snooze_count`; merge: `target_id`, which is not in `issue_ids`: those are the issues that go; unmerge:
    `grouping_id` and `new_id`, whose issues are both in `issue_ids`. Deleted and merged issues are still there when
    the hook is called.
    """

    kind: str
    issue_ids: tuple[int, ...]
    details: Mapping[str, object] = field(default_factory=dict)
