"""The entries at the end of what was read of a file: more bytes may change them, however long none came.

They are stored at once and read again from the first of them when the file grows, so that a line or a trace that was
written in halves is one event, whenever its second half comes. A last line without its end may turn out to go on
with the entry before it; so that one is among them too. The column `open_event` of a source remembers them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sqlalchemy import Connection, Row

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, EventSource, StoredBatch, replace_event, settle_occurrence, withdraw_event
from snaglist.plugins.logs.read.portions import Rules
from snaglist.plugins.logs.read.tally import Tally
from snaglist.plugins.logs.store import queries


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the entries: its bytes, whether it was stored, the channel it was counted under, and its numbers."""

    start: int
    end: int
    stored: bool
    channel: str | None = None
    numbers: Sequence[int] = ()  # of its `Tally`; a version before did not keep them

    @classmethod
    def of(cls, event: Event, *, stored: bool, rules: Rules) -> Self:
        """Return what is remembered of an entry."""
        numbers = Tally.of(event, filtered=not rules.keep(event) and rules.filters(event)).values()
        return cls(event.byte_start, event.byte_end, stored, event.channel, numbers)

    @property
    def tally(self) -> Tally:
        """What it was counted as."""
        return Tally(*self.numbers)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The last entries of a source, in order; there is at least one.

    `whole`: the last line has its end. `settled`: they are shown as final, because nothing came for a while.
    """

    pieces: tuple[Piece, ...]
    whole: bool
    settled: bool = False

    @classmethod
    def of(cls, source: Row[Any]) -> Self | None:
        """Return what a source remembers; None when it was read to a final end."""
        found: Mapping[str, Any] | None = source.open_event
        if found is None:
            return None
        if "pieces" not in found:  # as the first version wrote it: one entry, of whose last line nothing is known
            return cls((Piece(found["start"], found["end"], found["stored"]),), whole=True)
        return cls(tuple(Piece(*piece) for piece in found["pieces"]), found["whole"], found["settled"])

    @classmethod
    def after(
        cls, events: Sequence[Event], rules: Rules, before: Self | None, *, whole: bool, settled: bool
    ) -> Self | None:
        """Return the last entries of a reading; what was stored `before` and did not change stays as it was."""
        known = {(piece.start, piece.end): piece for piece in before.pieces} if before else {}
        pieces = [
            known.get((event.byte_start, event.byte_end)) or Piece.of(event, stored=rules.keep(event), rules=rules)
            for event in events
        ]
        return cls(tuple(pieces), whole, settled) if pieces else None

    @property
    def start(self) -> int:
        """Where reading goes on."""
        return self.pieces[0].start

    @property
    def may_settle(self) -> bool:
        """True when they become final in what is shown as soon as the file is quiet."""
        return self.whole and not self.settled

    def column(self) -> dict[str, Any]:
        """Return what the source remembers."""
        pieces = [[piece.start, piece.end, piece.stored, piece.channel, list(piece.numbers)] for piece in self.pieces]
        return {"start": self.start, "pieces": pieces, "whole": self.whole, "settled": self.settled}


class Again:
    """What becomes of the last entries of a source when they are read again: the same, other ones, or none any more.

    `tally`: what the source has more, or less, than was counted of them.
    """

    def __init__(self, before: Unfinished | None, rules: Rules) -> None:
        self._rules = rules
        self._awaited = {piece.start: piece for piece in before.pieces} if before else {}
        self._same: list[int] = []
        self._revised: list[tuple[Event, Piece]] = []
        self._gone: list[Piece] = []
        self.tally = Tally()

    @property
    def events(self) -> list[Event]:
        """The entries that are other than they were."""
        return [event for event, _ in self._revised]

    def new(self, events: Sequence[Event]) -> Sequence[Event]:
        """Compare entries, which come in order, with those that are awaited; returns those that are new."""
        return [event for event in events if self._is_new(event)] if self._awaited else events

    def end(self) -> None:
        """Note that no more entries come."""
        for piece in self._awaited.values():
            self._forget(piece)
        self._awaited = {}

    def clear(self) -> None:
        """Note that all was written."""
        self._same, self._revised, self._gone = [], [], []
        self.tally = Tally()

    def write(self, call: Call, source: EventSource) -> tuple[list[StoredBatch], int]:
        """Bring what is stored in line, in the open write transaction; also returns how many events went."""
        for start in self._same:
            settle_occurrence(call.db, source.id, start)
        gone = sum(withdraw_event(call, source, piece.start, piece.channel or "") for piece in self._gone)
        revised = [replace_event(call, source, event, channel=piece.channel) for event, piece in self._revised]
        return [batch for batch in revised if batch], gone

    def _is_new(self, event: Event) -> bool:
        before = self._awaited.pop(event.byte_start, None)
        for start in [start for start in self._awaited if start < event.byte_start]:  # a part of another entry now
            self._forget(self._awaited.pop(start))
        if before is None:
            return True
        if event.byte_end == before.end:
            if not event.provisional:
                self._same.append(event.byte_start)
            return False
        if not before.stored:
            self._forget(before)
            return True
        kept = self._rules.keep(event)
        if kept:
            self._revised.append((event, before))
            self.tally -= before.tally
        else:
            self._forget(before)
        self.tally += Tally.of(event, filtered=not kept and self._rules.filters(event))
        return False

    def _forget(self, piece: Piece) -> None:
        """Note that an entry is none any more."""
        self.tally -= piece.tally
        if piece.stored:
            self._gone.append(piece)


def settle(db: Connection, source: Row[Any]) -> None:
    """Show the last entries of a source as final, in the open write transaction; they stay known."""
    unfinished = Unfinished.of(source)
    if unfinished is None or unfinished.settled:
        return
    for piece in unfinished.pieces:
        settle_occurrence(db, source.id, piece.start)
    queries.change_source(db, source.id, open_event=replace(unfinished, settled=True).column())
