"""What was read of a short file is read again once there is more of it to decide by.

The format of a file, and where its lines have what, is found by its head. Of a file that was short when it was read
first the head has grown since: decisions depend on bytes, never on how they arrived, so entries that are others now
take the place of those that are stored, as they do in a reindex.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Self

from sqlalchemy import Row

from snaglist.kernel import Call, Conflict
from snaglist.plugins.issues import (
    Event,
    EventSource,
    Reread,
    Unstored,
    forget_empty,
    reread_events,
    resolve_issue_id,
    withdraw_event,
)
from snaglist.plugins.logs import hookspecs
from snaglist.plugins.logs.parsers import Reader
from snaglist.plugins.logs.parsers.reader import SAMPLE_BYTES
from snaglist.plugins.logs.read.open_entries import Piece, Unfinished
from snaglist.plugins.logs.read.parsing import parse
from snaglist.plugins.logs.read.portions import MAX_READ, MAX_STORED, LineBatch, Rules
from snaglist.plugins.logs.read.tally import Tally
from snaglist.plugins.logs.store import coverage, deletions, queries

MARK_BYTES: Final = 3  # with less of a file its encoding is not known, and all of it is read again in any case
MakeReader = Callable[[bytes], Reader]  # of the first byte of a source, by a head of its file


@dataclass(frozen=True, slots=True)
class Grown:
    """The entries of a source as they were read, and as they are by the head that its file has now.

    `last` are those of `after` that more bytes may change.
    """

    known: Row[Any]
    reader: Reader
    before: Sequence[Event]
    after: Sequence[Event]
    last: Sequence[Event]

    @classmethod
    def of(cls, known: Row[Any], head: bytes, make: MakeReader) -> Self | None:
        """Look at a source; None when its entries are the same."""
        if not MARK_BYTES <= known.offset < min(len(head), SAMPLE_BYTES):
            return None
        text = head[known.first_byte : known.offset]
        before = _read(make(head[: known.offset]), text)
        reader = make(head)
        after = _read(reader, text)
        if _shown(*before) == _shown(*after):
            return None
        unfinished = Unfinished.of(known)
        settled = unfinished is None or unfinished.settled
        for event in after[1]:
            event.provisional = event.provisional and not settled
        return cls(known, reader, [*before[0], *before[1]], [*after[0], *after[1]], after[1])

    def write(self, call: Call, source: EventSource, rules: Rules) -> Reread:
        """Put the entries in the place of the stored ones, in a transaction of its own."""
        kept = [event for event in self.after if self._keep(event, rules)]
        with call.transaction() as db:
            for number, some in enumerate(_cut(self.after, MAX_READ)):
                read = LineBatch(source, some, reread=True, first=not number, log_type=self.reader.log_type)
                call.emit(hookspecs.lines_read, read)
            done = self._replace(call, source, kept)
            tally = Tally()
            for event in self.after:
                tally.add(event, filtered=not rules.keep(event) and rules.filters(event))
            found = {"log_type": self.reader.log_type, "layout": self.reader.layout, "reading": tally.document()}
            values = {**found, "open_event": self._open(kept, rules)}
            more = done.added - done.removed
            if not queries.move_checkpoint(db, self.known.id, self.known.offset, more, values):
                raise Conflict("is being read by another import")
        return done

    def _keep(self, event: Event, rules: Rules) -> bool:
        return rules.keep(event) and coverage.was_counted(self.known.counted, event)

    def _replace(self, call: Call, source: EventSource, kept: Sequence[Event]) -> Reread:
        counted = {event.byte_start: event for event in self.before if coverage.was_counted(self.known.counted, event)}
        deleted = deletions.deleted_of(call.db, source.id, self.known.first_byte, self.known.offset)
        found = queries.events_between(call.db, source.id, self.known.first_byte, self.known.offset, None)
        stored = {one.byte_start for one in found}
        lost = [(event.byte_start, event.byte_end) for start, event in counted.items() if start not in stored]

        def unstored(event: Event) -> Unstored:
            # What was counted and has no row was deleted, or given up; no part of it comes back.
            gone = any(start <= event.byte_start < end for start, end in lost)
            return Unstored.DROPPED if gone or deleted(event) else Unstored.NEW

        channels = {start: event.channel for start, event in counted.items()}
        done = Reread()
        gone = counted.keys() - {event.byte_start for event in kept}
        done.removed = sum(withdraw_event(call, source, start, channels[start]) for start in sorted(gone))
        start = self.known.first_byte
        portions = _cut(kept, MAX_STORED)
        for some, following in zip(portions, [*portions[1:], []], strict=True):
            end = following[0].byte_start if following else self.known.offset
            done.count(reread_events(call, source, start, end, some, unstored=unstored, channels=channels))
            start = end
        for issue_id in {resolve_issue_id(call.db, left) for left in done.left}:  # storing may have merged some
            forget_empty(call.db, issue_id)
        return done

    def _open(self, kept: Sequence[Event], rules: Rules) -> dict[str, Any] | None:
        """Return what the source remembers of the entries at its end."""
        before = Unfinished.of(self.known)
        if before is None or not self.last:
            return None
        stored = {event.byte_start for event in kept}
        pieces = [Piece.of(event, stored=event.byte_start in stored, rules=rules) for event in self.last]
        return replace(before, pieces=tuple(pieces)).column()


def _read(reader: Reader, text: bytes) -> tuple[list[Event], list[Event]]:
    """Return the entries of a text, and those at its end."""
    return parse(partial(reader.feed, text)), parse(reader.close)


def _shown(done: Sequence[Event], last: Sequence[Event]) -> list[Event]:
    """Return what can be compared of entries: a time that is not their own can not."""
    return [
        replace(event, provisional=False, occurred_at=event.occurred_at if event.time_source == "event" else "")
        for event in (*done, *last)
    ]


def _cut(events: Sequence[Event], size: int) -> list[Sequence[Event]]:
    """Cut entries into portions; there is at least one."""
    return [events[place : place + size] for place in range(0, len(events), size)] or [()]
