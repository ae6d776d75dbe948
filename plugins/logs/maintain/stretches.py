"""A file read again from a saved position, cut into stretches of at most 1,000 entries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import Event
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, Trail
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.read.parsing import FileChanged, make_reader, parse
from snaglist.plugins.logs.read.portions import Portion, Rules

ENTRIES = 1_000
CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Stretch:
    """The entries that begin at bytes `start` to `end`; `last`: the source is known no further."""

    start: int
    end: int
    portion: Portion
    last: bool


class Stretches:
    """The stretches of one source; raises FileChanged when the file is not what was read."""

    def __init__(
        self,
        call: Call,
        file: OpenFile,
        row: Row[Any],
        rules: Rules,
        zone: str,
        zone_known: bool,
        parsers: Sequence[Parser],
        *,
        start: int,
        **known: Any,
    ) -> None:
        self._file = file
        self._rules = rules
        self._head = file.head(max(call.setting("ingestion.sample_bytes"), PREFIX_BYTES))
        trail = Trail.resume(file, self._head, row)
        if trail is None:
            raise FileChanged
        trail.close()
        modified_at = file.state.modified_at
        self.reader = make_reader(
            call.service,
            self._head,
            parsers=parsers,
            start=start,
            zone=zone,
            zone_known=zone_known,
            modified_at=modified_at,
            channel=row.channel,
            earlier=file.part,
            **known,
        )
        self._stream = file.content(start)
        self._read = self._start = start
        self._waiting: list[Event] = []
        self._ended = False
        self.last: list[Event] = []  # what more bytes may change, once all was given

    def up_to(self, limit: int, *, settled: bool) -> Iterator[Stretch]:
        """Give the stretches before a byte; the last entries are provisional unless they are `settled`.

        May be called again, with a later byte too, before it gave the last one.
        """
        if self._ended and self._read < limit:  # what was taken for the last entry may go on
            raise FileChanged
        while self._read < limit:
            yield from self._full()
            data = self._stream.read(min(CHUNK_BYTES, limit - self._read))
            if not data:
                raise FileChanged
            self._read += len(data)
            self._waiting += parse(partial(self.reader.feed, data))
        if not self._ended:
            self._ended = True
            rest = parse(self.reader.close)
            self.last = rest
            for event in rest:
                event.provisional = event.provisional and not settled
            self._waiting += rest
        yield from self._full()
        self._check()
        yield Stretch(self._start, limit, self._portion(self._waiting), last=True)

    def _full(self) -> Iterator[Stretch]:
        while len(self._waiting) > ENTRIES:
            some, self._waiting = self._waiting[:ENTRIES], self._waiting[ENTRIES:]
            start, self._start = self._start, self._waiting[0].byte_start
            self._check()
            yield Stretch(start, self._start, self._portion(some), last=False)

    def _portion(self, events: list[Event]) -> Portion:
        portion = Portion()
        for event in events:
            portion.add(event, self._rules)
        return portion

    def _check(self) -> None:
        begin = self._head[:PREFIX_BYTES]
        if not self._file.state.compression and self._file.head(len(begin)) != begin:
            raise FileChanged
