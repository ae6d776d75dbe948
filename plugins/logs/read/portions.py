"""What is stored of the entries of a file, and in which portions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from snaglist.plugins.issues import SEVERITIES, Event, EventSource
from snaglist.plugins.logs.own_formats.pattern import Format
from snaglist.plugins.logs.read.tally import LEVELLED, Tally

MAX_STORED = 1_000
FAILURES, ALL, NONE = KEEPING = ("failures", "all", "none")  # which lines without a level are kept
MAX_READ = 5_000  # a file whose lines are all filtered still moves its checkpoint


@dataclass(frozen=True, slots=True)
class Rules:
    """Which events of files become occurrences.

    `unlevelled` is for lines in which no level is written: those that look like failures of the severities that are
    kept, all of them whatever they look like, or none.
    """

    severities: frozenset[str]
    access_issue_min_status: int
    unlevelled: str = FAILURES
    formats: tuple[Format, ...] = ()  # of people's own, by which files are read

    def keep(self, event: Event) -> bool:
        """Tell whether an event is stored."""
        access = event.access
        if access is not None and access.status < self.access_issue_min_status:
            return False
        if self.unlevelled != FAILURES and event.level_source not in LEVELLED:
            return self.unlevelled == ALL
        return event.severity in self.severities

    def filters(self, event: Event) -> bool:
        """Tell whether an event that is not kept counts as filtered; requests of other statuses are none to keep."""
        return event.access is None or event.access.status >= self.access_issue_min_status

    @property
    def severities_of_unlevelled(self) -> frozenset[str]:
        """Which severities are kept of lines without a level."""
        return {FAILURES: self.severities, ALL: frozenset(SEVERITIES), NONE: frozenset[str]()}[self.unlevelled]


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Entries of one source as they were read, before any filter; the argument of the hook `lines_read`.

    `reread`: the source is read again from its start by a reindex, and these entries were given out before;
    `first` marks the batch with which that begins. `log_type` is that of the file, whatever a single entry is.
    `joined`: the id of another source, which goes: its lines belong to this one from now on; `events` is empty then.
    """

    source: EventSource
    events: Sequence[Event]
    reread: bool = False
    first: bool = False
    log_type: str = ""
    joined: int | None = None


@dataclass(slots=True)
class Portion:
    """The entries that one transaction takes in."""

    read: list[Event] = field(default_factory=list)
    kept: list[Event] = field(default_factory=list)
    access_lines: int = 0
    tally: Tally = field(default_factory=Tally)
    last: bool = False
    end: int = 0  # the byte behind all of its entries

    @property
    def full(self) -> bool:
        """True when nothing more fits in."""
        return len(self.kept) >= MAX_STORED or len(self.read) >= MAX_READ

    def ends_before(self, event: Event) -> bool:
        """Tell whether to cut before an entry: reading may go on there, as no entry before it has lines behind it.

        Where entries of several streams interleave for too long, it is cut all the same.
        """
        return self.full and (event.byte_start >= self.end or len(self.read) >= 2 * MAX_READ)

    def add(self, event: Event, rules: Rules) -> None:
        """Take an entry in and sort it out."""
        self.read.append(event)
        self.end = max(self.end, event.byte_end)
        if event.access is not None:
            self.access_lines += 1
        kept = rules.keep(event)
        if kept:
            self.kept.append(event)
        self.tally.add(event, filtered=not kept and rules.filters(event))


def portions(events: Iterable[Sequence[Event]], rules: Rules) -> Iterator[Portion]:
    """Cut lists of entries into portions; the one marked `last` ends the file and may be empty."""
    portion = Portion()
    for some in events:
        for event in some:
            if portion.ends_before(event):
                yield portion
                portion = Portion()
            portion.add(event, rules)
    portion.last = True
    yield portion
