"""Reading one file from where it begins to its end, storing as it goes.

The checkpoint is the end of what was read. The last entries of a file that may still grow are stored as provisional
and remembered (see `open_entries`); the next read begins at the first of them again and replaces in place what more
has arrived of.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Self

from sqlalchemy import Connection, Row
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Conflict, times
from snaglist.plugins.issues import Event, EventSource, StoredBatch, store_events, stored_path
from snaglist.plugins.logs import hookspecs
from snaglist.plugins.logs.identify.decide import Decision
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, Trail
from snaglist.plugins.logs.identify.moved import lead, leave
from snaglist.plugins.logs.identify.start import Start
from snaglist.plugins.logs.parsers import Reader
from snaglist.plugins.logs.read.files import Damage, OpenFile
from snaglist.plugins.logs.read.grown import Grown
from snaglist.plugins.logs.read.open_entries import Again, Unfinished
from snaglist.plugins.logs.read.parsing import (
    FileChanged,
    Reading,
    StillWritten,
    Unreadable,
    Watch,
    make_reader,
    note_success,
    parse,
)
from snaglist.plugins.logs.read.portions import LineBatch, Portion, portions
from snaglist.plugins.logs.read.results import FileResult
from snaglist.plugins.logs.read.tally import Tally
from snaglist.plugins.logs.store import coverage, deletions, queries
from snaglist.plugins.logs.store.sources import new_source_row

CHUNK_BYTES = 256 * 1024
_BLANK = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"  # what may stand before the first entry, byte order marks included
_BUSY = "is being read by another import"


def is_quiet(call: Call, file: OpenFile) -> bool:
    """Tell whether a file did not change for a while."""
    return times.add(file.state.modified_at, seconds=call.setting("ingestion.quiet_seconds")) <= times.now()


@dataclass(frozen=True, slots=True)
class Condition:
    """In what condition a file is. `quiet`: it did not change for a while; `final`: its last entry is complete."""

    quiet: bool
    final: bool
    damage: Damage | None

    @classmethod
    def of(cls, call: Call, file: OpenFile, reading: Reading) -> Self:
        """Look at a file; how far a compressed one can be read shows only when all of it was looked through.

        Where the rest may come its last entry stays open. Raises StillWritten, and Unreadable without a whole line.
        """
        quiet, damage = is_quiet(call, file), file.find_damage()
        if damage is None:
            return cls(quiet, reading.final or bool(file.state.compression), None)
        if not reading.complete and (reading.growing or not quiet):  # the same text while it grows
            wait = call.setting("ingestion.quiet_seconds")
            after = f"it may still be written, so it is read when it has not changed for {wait} s"
            raise StillWritten(f"the compressed data is damaged or ends too early; {after}")
        if not damage.lines:
            raise Unreadable(f"{damage.place}; no whole line comes before")
        return cls(quiet, reading.complete, damage)


class FileImport:
    """The reading of one file. What moves on is the position of its reader, and the checkpoint behind it."""

    def __init__(
        self,
        call: Call,
        file: OpenFile,
        reading: Reading,
        start: Start,
        condition: Condition,
        result: FileResult,
    ) -> None:
        assert start.trail is not None
        self.call, self.file, self.head, self.reading = call, file, start.head, reading
        self.start, self.condition, self.result = start, condition, result
        self.began = times.now()
        self.trail: Trail = start.trail
        self.resumed_at = start.trail.position
        goes_on = start.decision in (Decision.APPEND, Decision.BEGIN, Decision.MOVED)
        known = start.source if goes_on else None
        self._go_on_from(known)
        of_source = known is not None and known.counted["own_zone"] and not reading.own_zone
        self.zone = known.timezone if known and of_source else reading.zone
        self.zone_known = bool(of_source or reading.zone_known or reading.own_zone)
        self.source: EventSource | None = None
        if known is not None:
            self.source = EventSource(known.id, known.module_id, stored_path(call, file.state.path))
        self.checkpoint: int = known.offset if known else 0
        self.open_entries: list[Event] = []  # those that more bytes may change, once all was framed
        self.whole = True  # the last line has its end

    def _go_on_from(self, known: Row[Any] | None) -> None:
        """Begin with the last entries of a source, whatever they were."""
        self.known = known
        self.before = Unfinished.of(known) if known else None
        self.again = Again(self.before, self.reading.rules)
        self.tally = Tally.read(known.reading if known is not None else None)  # of all that was read of the file
        self.position = self.before.start if self.before else self.resumed_at

    def run(self, watch: Watch) -> None:
        """Read the file to its end; `watch` is called after each transaction."""
        if self.start.decision is Decision.MOVED:
            self._lead()
        fresh = self.source is None
        self._read_again()
        self.reader = self._make_reader()
        self.result.log_type = self.reader.log_type
        for portion in portions(self._entries(), self.reading.rules):
            self._store(portion)
            watch(self.checkpoint)
        note_success(self.call, self.reader.primary)
        self.result.source_id = self.source.id if self.source else None
        if self.position <= self.resumed_at and (self.resumed_at or not fresh):
            self.result.state = "duplicate" if fresh else "unchanged"
        if self.condition.damage is not None:
            self.result.stop(str(self.condition.damage))

    def _read_again(self) -> None:
        """Put right what was read of a short file, where its head says more now."""
        known, source = self.known, self.source
        if known is None or source is None:
            return
        grown = Grown.of(known, self.head, partial(self._reader, start=known.first_byte, encoding=known.encoding))
        if grown is None:
            return
        done = self.call.repeat(partial(grown.write, self.call, source, self.reading.rules))
        self.result.events += done.added
        self.result.by_type.update(done.by_type)
        self.result.issues |= done.issues
        self.result.new_issues |= done.new_issues
        with self.call.transaction(write=False) as db:
            self._go_on_from(queries.source_by_id(db, known.id))

    def _lead(self) -> None:
        """Let the source follow its file to this path."""
        source, here = self.start.source, self.start.here
        assert source is not None
        connector = {} if self.reading.connector_id is None else {"connector_id": self.reading.connector_id}
        with self.call.transaction() as db:
            if here is not None:
                leave(db, here)
            lead(db, source.id, source.path, stored_path(self.call, self.file.state.path), **connector)

    def _make_reader(self) -> Reader:
        known = self.known if self.checkpoint else None
        # What was chosen by less of the head than there is now is chosen again, what is read as text only by half
        # a first entry.
        format_of = known if known is not None and known.offset >= len(self.head) else None
        encoding_of = known if self.head[: self.position].strip(_BLANK) else None
        return self._reader(
            self.head,
            start=self.position,
            log_type=format_of.log_type if format_of is not None else None,
            encoding=encoding_of.encoding if encoding_of is not None else None,
        )

    def _reader(self, head: bytes, **known: Any) -> Reader:
        of_source = self.known if self.checkpoint else None
        return make_reader(
            self.call.service,
            head,
            parsers=self.reading.parsers,
            zone=self.zone,
            zone_known=self.zone_known,
            modified_at=self.file.state.modified_at,
            channel=of_source.channel if of_source is not None else self.reading.name or self.file.state.name,
            earlier=self.file.part,
            **known,
        )

    def _entries(self) -> Iterator[Sequence[Event]]:
        """Give the entries as they are framed; those that were unfinished before come out of the way first."""
        for events in self._framed():
            yield self.again.new(events)
        self.again.end()

    def _framed(self) -> Iterator[list[Event]]:
        # What came behind the head of a short file since then had no part in choosing the format.
        sample = max(self.call.setting("ingestion.sample_bytes"), PREFIX_BYTES)
        until = len(self.head) if len(self.head) < sample else None
        with self.file.content(self.position) as stream:
            while data := stream.read(CHUNK_BYTES if until is None else min(CHUNK_BYTES, until - self.position)):
                self.position += len(data)
                if self.start.ends is not None and self.position > self.start.ends:  # it has to be compared again
                    raise FileChanged
                yield parse(partial(self.reader.feed, data))
        events = parse(self.reader.close)
        self.whole = self.reader.whole
        self.position -= self.reader.undecoded
        if not self.condition.final:
            self.position -= self.reader.blank
            self.open_entries = events
        for event in events:
            event.provisional = event.provisional and not (self.condition.final or self._is_settled)
        yield events

    @property
    def _is_settled(self) -> bool:
        return self.condition.quiet and self.whole

    def _store(self, portion: Portion) -> None:
        """Store a portion and move the checkpoint behind it, in one transaction."""
        trail = self.trail
        if not trail.advance(self.position if portion.last else portion.end) or not self._same_file():
            raise FileChanged
        tally = self.tally + portion.tally + self.again.tally
        values = {**self._values(portion.last), "reading": tally.document()}

        def work() -> tuple[EventSource, list[StoredBatch], StoredBatch, int]:
            with self.call.transaction() as db:
                source = self.source or self._add_source(db)
                lines = sorted([*self.again.events, *portion.read], key=attrgetter("byte_start"))
                if lines:
                    self.call.emit(hookspecs.lines_read, LineBatch(source, lines, log_type=self.reader.log_type))
                revised, gone = self.again.write(self.call, source)
                stored = StoredBatch(source)
                kept = deletions.without_deleted(db, source.id, portion.kept)
                if kept:
                    stored = store_events(self.call, source, kept)
                more = len(stored.stored) - gone
                if not queries.move_checkpoint(db, source.id, self.checkpoint, more, values):
                    raise Conflict(_BUSY)
            return source, revised, stored, len(portion.kept) - len(kept)

        self.source, revised, stored, deleted = self.call.repeat(work)
        self.checkpoint = trail.position
        self.tally = self.result.reading = tally
        self.again.clear()
        self.result.count(portion, stored)
        self.result.deleted += deleted
        for batch in revised:
            self.result.touch(batch)

    def _same_file(self) -> bool:
        """Tell whether the file still begins as it did, and is not shorter than what was read of it."""
        if self.file.state.compression:
            return True
        begin = self.head[:PREFIX_BYTES]
        return self.file.size_now >= self.position and self.file.head(len(begin)) == begin

    def _values(self, last: bool) -> dict[str, Any]:
        """Return the columns that move with the checkpoint; the modification time only when all was read."""
        state, damage, reading = self.file.state, self.condition.damage, self.reading
        values = {
            **self.trail.columns(),
            **coverage.columns(
                self.known, reading.rules, reading.zone, own_zone=reading.own_zone, zone_known=self.zone_known
            ),
            "identity": state.identity,
            "size": max(self.position, 0 if state.compression else state.size),
            "log_type": self.reader.log_type,
            "encoding": self.reader.encoding,
            "layout": self.reader.layout,
            "timezone": self.zone,
            "open_event": None,
            "status": "error" if damage else "ok",
            "last_error": str(damage) if damage else None,
            "imported_at": self.began,
        }
        if not last:
            return values
        rules, settled = self.reading.rules, self._is_settled
        found = Unfinished.after(self.open_entries, rules, self.before, whole=self.whole, settled=settled)
        open_event = found.column() if found else None
        return {**values, "open_event": open_event, "modified_at": state.modified_at, "size": self.position}

    def _add_source(self, db: Connection) -> EventSource:
        """Begin a source behind the bytes that are known elsewhere; the one of the path until now has left it."""
        if self.start.here is not None:
            leave(db, self.start.here)
        try:
            row = new_source_row(self.call, self.file.state.path, self.reading)
            source_id = queries.add_source(db, {**row, "first_byte": self.resumed_at})
            if self.start.original is not None:
                deletions.copy(db, self.start.original, source_id, self.resumed_at)
        except IntegrityError as error:
            raise Conflict(_BUSY) from error
        return EventSource(source_id, self.reading.module_id, row["path"])
