"""How many entries of a file have a time and a level, and what to say of those that have none.

Nothing is dropped in silence: these numbers stand with each result of an import and with each source.
"""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from typing import Self

from snaglist.plugins.issues import SEVERITIES, Event

LEVELLED = frozenset(("line", "wrapper", "request"))  # sources of a level that somebody wrote
ENOUGH = 0.9  # of the entries; below that it is worth a remark
FEWEST = 5  # entries of which none has it, so that it is a warning
REMARK, WARNING = "remark", "warning"
NEXT_STEP = "make a format for it (dashboard → Logs → Formats, or `snaglist formats`)"


@dataclass(slots=True)
class Tally:
    """Numbers of entries.

    `with_time`: of the line or its wrapper; `with_level`: written in the line or its wrapper, or that of a request;
    `unexplained`: plain text with neither; `filtered`: not kept, because of their level.
    """

    entries: int = 0
    with_time: int = 0
    with_level: int = 0
    unexplained: int = 0
    filtered: int = 0

    @classmethod
    def of(cls, event: Event, *, filtered: bool) -> Self:
        """Return the numbers of one entry."""
        tally = cls()
        tally.add(event, filtered=filtered)
        return tally

    @classmethod
    def read(cls, document: Mapping[str, int] | None) -> Self:
        """Return the numbers that `document` made; zeros for None."""
        return cls(**document) if document else cls()

    def add(self, event: Event, *, filtered: bool) -> None:
        """Count an entry."""
        timed, levelled = event.time_source == "event", event.level_source in LEVELLED
        self.entries += 1
        self.with_time += timed
        self.with_level += levelled
        self.unexplained += not timed and not levelled and event.log_type == "console"
        self.filtered += filtered

    def values(self) -> tuple[int, ...]:
        """Return the numbers in the order of the fields."""
        return astuple(self)

    def document(self) -> dict[str, int]:
        """Return the numbers by their names."""
        return dict(zip(NUMBERS, self.values(), strict=True))

    def __add__(self, other: "Tally") -> "Tally":
        """Return both together."""
        return Tally(*(mine + its for mine, its in zip(self.values(), other.values(), strict=True)))

    def __sub__(self, other: "Tally") -> "Tally":
        """Return these without others that are among them."""
        return Tally(*(mine - its for mine, its in zip(self.values(), other.values(), strict=True)))

    def remarks(self) -> list[dict[str, str]]:
        """Return what people should know of a file with these numbers: `kind` and `text` of each."""
        having = {"time": self.with_time, "level": self.with_level}
        none = [what for what, number in having.items() if not number and self.entries >= FEWEST]
        few = [what for what, number in having.items() if number < self.entries * ENOUGH and what not in none]
        found = []
        if none:
            text = f"no line of this file has a {' or a '.join(none)} that is known: {NEXT_STEP}"
            found.append({"kind": WARNING, "text": text})
        for what in few:
            text = f"{self.entries - having[what]:,} of {self.entries:,} entries have no {what} that is known"
            found.append({"kind": REMARK, "text": text})
        return found


NUMBERS = tuple(field.name for field in fields(Tally))


def share(some: int, entries: int) -> str:
    """Return a share in percent, never 100 or 0 while there are others; empty of nothing."""
    if not entries:
        return ""
    percent = round(100 * some / entries)
    if some not in (0, entries):
        percent = min(99, max(1, percent))
    return f"{percent}%"


def left_out(severities: Iterable[str]) -> str:
    """Say which entries are not kept where these severities are, as the end of a sentence."""
    kept = frozenset(severities)
    gone = [name for name in SEVERITIES if name not in kept]
    if len(gone) < len(SEVERITIES) and gone == list(SEVERITIES[len(kept) :]):
        return f"below {SEVERITIES[len(kept) - 1]}"
    return f"of the levels {', '.join(gone)}"
