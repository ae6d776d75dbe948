"""The run over one file: finding out what is known of it, and reading the rest.

The checkpoint is the end of what was read. The last entries of a file that may still grow are stored as provisional
and remembered (see `unfinished`); the next read begins at the first of them again and replaces in place what more
has arrived of.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Conflict, times
from snaglist.plugins.issues import Event, EventSource, StoredBatch, store_events, stored_path
from snaglist.plugins.logs import counted, hookspecs, memory, queries
from snaglist.plugins.logs.batches import LineBatch, Portion, portions
from snaglist.plugins.logs.files import Damage, OpenFile
from snaglist.plugins.logs.identity import PREFIX_BYTES, is_rotated_name
from snaglist.plugins.logs.moving import lead, leave, see_off
from snaglist.plugins.logs.parsers import Reader
from snaglist.plugins.logs.readings import (
    FileChanged,
    Found,
    Reading,
    Search,
    Watch,
    check_damage,
    known_source,
    make_reader,
    note_success,
    parse,
)
from snaglist.plugins.logs.results import FileResult
from snaglist.plugins.logs.shrinking import cut_down
from snaglist.plugins.logs.source_rows import new_source_row
from snaglist.plugins.logs.trail import Trail
from snaglist.plugins.logs.unfinished import Again, Unfinished, settle

CHUNK_BYTES = 256 * 1024
_BLANK = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"  # what may stand before the first entry, byte order marks included
_BUSY = "is being read by another import"


class FileImport:
    """The run over one file."""

    def __init__(self, call: Call, file: OpenFile, reading: Reading, result: FileResult, watch: Watch) -> None:
        self.call = call
        self.file = file
        self.state = file.state
        self.reading = reading
        self.result = result
        self.watch = watch
        self.started = times.now()
        quiet = call.setting("ingestion.quiet_seconds")
        self.quiet = times.add(self.state.modified_at, seconds=quiet) <= self.started
        self.final = reading.final or bool(self.state.compression)
        self.damage: Damage | None = None
        # What is known of the file already, and where this run stands.
        self.known: Row[Any] | None = None
        self.source: EventSource | None = None
        self.superseded: Row[Any] | None = None
        self.original: int | None = None  # the source whose bytes a new one repeats, with what was deleted of them
        self.before: Unfinished | None = None
        self.again = Again(None, reading.rules)
        self.read_under = counted.stamp(reading.rules, None if reading.own_zone else reading.zone)
        self.counted = counted.begin(reading.rules, own_zone=reading.own_zone)
        self.trail: Trail | None = None
        self.first_byte = 0
        self.ends: int | None = None  # where a file ended that may be a copy in the making
        self.until: int | None = None  # where the head ends; what came since had no part in choosing the format
        self.checkpoint = self.position = 0
        # The entries that more bytes may change.
        self.last: list[Event] = []
        self.whole = True

    def run(self, search: Search) -> None:
        """Find out what is known of the file and read the rest."""
        with self.call.transaction(write=False):
            known = known_source(self.call, self.state.path)
        if known is not None and self._unchanged(known):
            self._pass_over(known)
            return
        self._look_for_damage()
        sample = max(self.call.setting("ingestion.sample_bytes"), PREFIX_BYTES)
        self.head = self.file.head(sample)
        if len(self.head) < sample:
            self.until = len(self.head)
        if self._goes_on(search, known):
            self._read()
            if self.damage is not None:
                self.result.stop(str(self.damage))
        else:
            self.result.state = "duplicate"

    def _look_for_damage(self) -> None:
        """Find out how far a compressed file can be read. Where the rest may come, its last entry stays open."""
        self.damage = self.file.find_damage()
        if self.damage is not None:
            settled = (self.quiet and not self.reading.growing) or self.reading.complete
            check_damage(self.damage, waiting=0 if settled else self.call.setting("ingestion.quiet_seconds"))
            self.final = self.reading.complete

    def _goes_on(self, search: Search, known: Row[Any] | None) -> bool:
        """Find where to go on; False when the file needs no reading."""
        if known is not None and (found := self._look_again(search, known)):
            return self._take(found, known)
        if self._resume(known):
            return True
        if known is not None and known.offset:
            self.result.left.append(known.id)
            if trail := cut_down(self.call, self.file, self.head, known, self.reading.parsers):
                return self._take(Found(known, trail), known)
            known = self._out_of_the_way(known)
        return self._resume(known) or self._take(search(self.file, self.head), known)

    def close(self) -> None:
        """Close the trail."""
        if self.trail is not None:
            self.trail.close()

    def _unchanged(self, known: Row[Any]) -> bool:
        # A change in the second of the last read does not show in the modification time: look closer then.
        return (
            known.status == "ok"
            and known.identity == self.state.identity
            and known.modified_at == self.state.modified_at
            and known.modified_at < known.imported_at
            and (bool(self.state.compression) or known.offset == known.size == self.state.size)
        )

    def _pass_over(self, known: Row[Any]) -> None:
        self.result.state, self.result.log_type, self.result.source_id = "unchanged", known.log_type, known.id
        unfinished = Unfinished.of(known)
        if unfinished and unfinished.may_settle and self.quiet:
            with self.call.transaction() as db:
                settle(db, known)

    def _resume(self, known: Row[Any] | None) -> bool:
        """Go on with the path's own source; False when the file does not hold what was read of it."""
        if known is None or not known.offset:
            return False
        self.trail = Trail.resume(self.file, self.head, known)
        if self.trail is not None:
            self._pick_up(known)
        return self.trail is not None

    def _out_of_the_way(self, known: Row[Any]) -> Row[Any] | None:
        """Let the source of the file that was here follow it; returns the path's source then."""
        see_off(self.call, known)
        with self.call.transaction(write=False):
            return known_source(self.call, self.state.path)

    def _pick_up(self, known: Row[Any]) -> None:
        """Go on with a source."""
        self.known = known
        self.source = EventSource(known.id, known.module_id, stored_path(self.call, self.state.path))
        self.checkpoint, self.before = known.offset, Unfinished.of(known)
        self.again = Again(self.before, self.reading.rules)
        if known.offset:
            self._continue_record(known)

    def _continue_record(self, known: Row[Any]) -> None:
        own_zone = known.counted["own_zone"] or self.reading.own_zone
        if own_zone:
            self.read_under = counted.stamp(self.reading.rules, None)
        if self.read_under != known.read_under:
            self.read_under = ""
        record = counted.extend(known.counted, known.offset, self.reading.rules)
        self.counted = {**record, "own_zone": own_zone}

    def _look_again(self, search: Search, known: Row[Any]) -> Found | None:
        """Ask anew for the original of a copy that held nothing of its own: it may have been seen half made."""
        if not known.offset or known.offset != known.first_byte:
            return None
        held = Trail.resume(self.file, self.head, known)
        if held is None:
            return None
        held.close()
        found = search(self.file, self.head)
        return found if found is not None and found.source.id != known.id else None

    def _take(self, found: Found | None, known: Row[Any] | None) -> bool:
        """Go on with what was found for the file, or begin a source; False when the file needs no reading."""
        if found is None:
            self.trail = Trail.start(self.file, self.head)
            self.ends = self._said_little()
            if known is not None and not known.offset:  # it was empty when it was seen first
                self._pick_up(known)
            else:
                self.superseded = known
                self.original = memory.copied_from(self.call, self.file, self.head)
            return True
        self.trail = found.trail
        if self.trail is None:
            self.result.log_type, self.result.source_id = found.source.log_type, found.source.id
            return False
        if found.moves:
            self._lead(found.source, known)
        else:
            self.superseded, self.first_byte, self.ends = known, self.trail.position, found.ends
            self.original = found.source.id
        return True

    def _said_little(self) -> int | None:
        """Return where a rotated file ended that was shorter than what files are known by."""
        short = is_rotated_name(self.state.name) and not self.state.compression and len(self.head) < PREFIX_BYTES
        return len(self.head) if short else None

    def _lead(self, source: Row[Any], superseded: Row[Any] | None) -> None:
        """Let a source follow its file to this path."""
        connector = {} if self.reading.connector_id is None else {"connector_id": self.reading.connector_id}
        with self.call.transaction() as db:
            if superseded is not None:
                leave(db, superseded)
            lead(db, source.id, source.path, stored_path(self.call, self.state.path), **connector)
        self._pick_up(source)

    def _read(self) -> None:
        assert self.trail is not None
        resumed_at = self.trail.position
        fresh = self.source is None
        self.position = self.before.start if self.before else resumed_at
        self.reader = self._make_reader()
        self.result.log_type = self.reader.log_type
        for portion in portions(self._entries(), self.reading.rules):
            self._store(portion)
            self.watch(self.checkpoint)
        note_success(self.call, self.reader.primary)
        self.result.source_id = self.source.id if self.source else None
        if self.position <= resumed_at and (resumed_at or not fresh):
            self.result.state = "duplicate" if fresh else "unchanged"

    def _make_reader(self) -> Reader:
        known = self.known if self.checkpoint else None
        # What was chosen by less of the head than there is now is chosen again, what is read as text only by half
        # a first entry.
        format_of = known if known is not None and known.offset >= len(self.head) else None
        encoding_of = known if self.head[: self.position].strip(_BLANK) else None
        self.zone = self.reading.zone
        if known is not None and known.counted["own_zone"] and not self.reading.own_zone:
            self.zone = known.timezone
        return make_reader(
            self.call.service,
            self.head,
            parsers=self.reading.parsers,
            start=self.position,
            zone=self.zone,
            modified_at=self.state.modified_at,
            channel=known.channel if known is not None else self.reading.name or self.state.name,
            log_type=format_of.log_type if format_of is not None else None,
            encoding=encoding_of.encoding if encoding_of is not None else None,
        )

    def _entries(self) -> Iterator[Sequence[Event]]:
        """Give the entries as they are framed; those that were unfinished before come out of the way first."""
        for events in self._framed():
            yield self.again.new(events)
        self.again.end()

    def _framed(self) -> Iterator[list[Event]]:
        with self.file.content(self.position) as stream:
            while data := stream.read(self._room()):
                self.position += len(data)
                if self.ends is not None and self.position > self.ends:  # what it is a copy of has to be asked again
                    raise FileChanged
                yield parse(partial(self.reader.feed, data))
        events = parse(self.reader.close)
        self.whole = self.reader.whole
        if not self.final:
            self.last = events
        for event in events:
            event.provisional = event.provisional and not (self.final or self._is_settled)
        yield events

    def _room(self) -> int:
        return CHUNK_BYTES if self.until is None else min(CHUNK_BYTES, self.until - self.position)

    @property
    def _is_settled(self) -> bool:
        return self.quiet and self.whole

    def _store(self, portion: Portion) -> None:
        assert self.trail is not None
        trail = self.trail
        if not trail.advance(self.position if portion.last else portion.read[-1].byte_end) or not self._same_file():
            raise FileChanged
        values = self._values(trail, portion.last)

        def work() -> tuple[EventSource, list[StoredBatch], StoredBatch, int]:
            with self.call.transaction() as db:
                source = self.source or self._add_source(db)
                lines = sorted([*self.again.events, *portion.read], key=_first_byte)
                if lines:
                    self.call.emit(hookspecs.lines_read, LineBatch(source, lines, log_type=self.reader.log_type))
                revised, gone = self.again.write(self.call, source)
                stored = StoredBatch(source)
                kept = memory.without_deleted(db, source.id, portion.kept)
                if kept:
                    stored = store_events(self.call, source, kept)
                more = len(stored.stored) - gone
                if not queries.move_checkpoint(db, source.id, self.checkpoint, more, values):
                    raise Conflict(_BUSY)
            return source, revised, stored, len(portion.kept) - len(kept)

        self.source, revised, stored, deleted = self.call.repeat(work)
        self.checkpoint = trail.position
        self.again.clear()
        self.superseded = None
        self.result.count(portion, stored)
        self.result.deleted += deleted
        for batch in revised:
            self.result.touch(batch)

    def _same_file(self) -> bool:
        """Tell whether the file still begins as it did, and is not shorter than what was read of it."""
        if self.state.compression:
            return True
        begin = self.head[:PREFIX_BYTES]
        return self.file.size_now >= self.position and self.file.head(len(begin)) == begin

    def _values(self, trail: Trail, last: bool) -> dict[str, Any]:
        """Return the columns that move with the checkpoint; the modification time only when all was read."""
        values = {
            **trail.columns(),
            "identity": self.state.identity,
            "size": max(self.position, 0 if self.state.compression else self.state.size),
            "log_type": self.reader.log_type,
            "encoding": self.reader.encoding,
            "timezone": self.zone,
            "open_event": self._unfinished() if last else None,
            "read_under": self.read_under,
            "counted": self.counted,
            "status": "error" if self.damage else "ok",
            "last_error": str(self.damage) if self.damage else None,
            "imported_at": self.started,
        }
        return {**values, "modified_at": self.state.modified_at, "size": self.position} if last else values

    def _unfinished(self) -> dict[str, Any] | None:
        rules = self.reading.rules
        found = Unfinished.after(self.last, rules, self.before, whole=self.whole, settled=self._is_settled)
        return found.column() if found else None

    def _add_source(self, db: Connection) -> EventSource:
        if self.superseded is not None:
            leave(db, self.superseded)
        try:
            row = new_source_row(self.call, self.state.path, self.reading)
            source_id = queries.add_source(db, {**row, "first_byte": self.first_byte})
            if self.original is not None:
                memory.copy(db, self.original, source_id, self.first_byte)
        except IntegrityError as error:
            raise Conflict(_BUSY) from error
        return EventSource(source_id, self.reading.module_id, row["path"])


def _first_byte(event: Event) -> int:
    return event.byte_start
