"""A search in the raw lines in steps: each is bounded, says how far it came, and gives the place to go on from."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, Final

from sqlalchemy import Row

from snaglist.kernel import Call, Invalid, NotFound, key, paging
from snaglist.plugins.issues import RANK, show_path
from snaglist.plugins.logs.grep.entries import Entries, Entry
from snaglist.plugins.logs.grep.matching import Pattern
from snaglist.plugins.logs.grep.narrowing import part_of
from snaglist.plugins.logs.grep.scanning import AROUND, Found, LineNumbers, Scan
from snaglist.plugins.logs.parsers import ParserFailed
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.read.parsing import ParseFailure
from snaglist.plugins.logs.show.raw_text import MAX_COUNTED, opened_file
from snaglist.plugins.logs.show.shown import shown_lines
from snaglist.plugins.logs.store import queries

SECONDS: Final = 1.0
MAX_CHARACTERS: Final = 1 << 20  # of the lines of an answer
MAX_TEXT: Final = 2000  # characters of a line
MAX_UNSEARCHED: Final = 100
_LEAD: Final = 200  # characters before the first match of a line that is cut
_MAX_SPANS: Final = 50
_PAGE: Final = 50
_NOT_BEGUN: Final = -1
_SCOPE = ("pattern", "regex", "ignore_case", "source_id", "source", "since", "until", "level")


@dataclass
class Place:
    """How far a search came: the source it is at, or the next one below, and the bytes of its file.

    `until` is where looking ends in this file, `counted` and `line` a place in it and the number of its line (0: not
    known). `files` and `size` are those that are done, and `all_files` and `all_size` those to do; `searched` bytes
    were really looked at.
    """

    source_id: int
    all_files: int
    all_size: int
    position: int = 0
    until: int = _NOT_BEGUN
    counted: int = 0
    line: int = 0
    files: int = 0
    size: int = 0
    searched: int = 0

    def next_file(self, source: Row[Any], *, counts: bool = True) -> None:
        """Go to the source below one, which is done."""
        self.source_id, self.position, self.until = source.id - 1, 0, _NOT_BEGUN
        if counts:
            self.files, self.size = self.files + 1, self.size + source.size


class Step:
    """One step of a search."""

    def __init__(self, call: Call) -> None:
        query = call.query
        self._call, self._query = call, query
        self._pattern = Pattern(query["pattern"], regex=query["regex"], ignore_case=query["ignore_case"])
        self._since, self._until, self._level = query.get("since"), query.get("until"), query.get("level")
        if self._since is not None and self._until is not None and self._since >= self._until:
            raise Invalid("until: must be after since")
        self._judged = (self._since, self._until, self._level) != (None, None, None)
        self._scope = repr([query.get(name) for name in _SCOPE])
        self._ends = time.monotonic() + SECONDS
        self._hits: list[dict[str, Any]] = []
        self._unsearched: list[dict[str, Any]] = []
        self._characters = 0
        self._path: str | None = None
        self._place = self._read_cursor(query["cursor"]) if "cursor" in query else self._first()

    def run(self) -> dict[str, Any]:
        """Search on, and return the answer of `source-search`."""
        place = self._place
        done = True
        for source in self._sources():
            if not self._wants(source):
                place.next_file(source, counts=False)
            elif not self._search(source):
                done = False
                break
            if self._is_full():
                done = False
                break
        self._add_events()
        return {
            "hits": [{name: hit[name] for name in hit if name != "end"} for hit in self._hits],
            "unsearched": self._unsearched,
            "progress": {
                "files": place.files,
                "all_files": max(place.files, place.all_files),
                "bytes": place.size + place.position,
                "all_bytes": max(place.size + place.position, place.all_size),
                "searched_bytes": place.searched,
                "path": None if done else self._path,
            },
            "cursor": None if done else paging.encode_cursor(self._scope, astuple(place)),
        }

    def _first(self) -> Place:
        with self._call.transaction(write=False) as db:
            last, number, size = queries.all_to_search(db, self._query.get("source_id"))
            if not number and "source_id" in self._query:
                raise NotFound("Unknown source.")
            if "source" in self._query:  # paths as they are shown are not in the database
                files = queries.files_to_search(db, self._query.get("source_id"))
                wanted = [file.size for file in files if self._wants(file)]
                number, size = len(wanted), sum(wanted)
        return Place(last, number, size)

    def _read_cursor(self, cursor: str) -> Place:
        values = paging.decode_cursor(cursor, self._scope)
        numbers = all(type(value) is int and _NOT_BEGUN <= value < 1 << 62 for value in values)
        if len(values) != len(fields(Place)) or not numbers or values[3] < 0:
            raise Invalid("cursor: not a cursor of this search; start again without it")
        return Place(*values)

    def _sources(self) -> Iterator[Row[Any]]:
        """Give the sources from the place on; it has to move on with each."""
        while True:
            with self._call.transaction(write=False) as db:
                rows = queries.next_to_search(db, self._query.get("source_id"), self._place.source_id, _PAGE)
            yield from rows
            if len(rows) < _PAGE:
                return

    def _wants(self, source: Row[Any]) -> bool:
        text = self._query.get("source")
        if text is None or source.channel == text:
            return True
        # What is shown is always the end of the path, so the dearer second test is rarely needed.
        wanted = key(text)
        return wanted in key(source.path) and wanted in key(show_path(self._call, source.path))

    def _is_full(self) -> bool:
        return (
            len(self._hits) >= self._query["limit"]
            or self._characters >= MAX_CHARACTERS
            or len(self._unsearched) >= MAX_UNSEARCHED
            or time.monotonic() >= self._ends
        )

    def _search(self, source: Row[Any]) -> bool:
        """Look through the file of a source from the place on; False when something is left of it."""
        self._path = show_path(self._call, source.path)
        try:
            with opened_file(self._call, source) as file:
                if not self._scan(source, file):
                    return False
        except (NotFound, ParseFailure, ParserFailed) as error:
            reason = error.message if isinstance(error, NotFound) else str(error)
            self._unsearched.append({"source_id": source.id, "path": self._path, "reason": reason})
        self._place.next_file(source)
        return True

    def _scan(self, source: Row[Any], file: OpenFile) -> bool:
        place = self._place
        if place.until == _NOT_BEGUN:
            place.position, place.until = part_of(self._call, source, self._since, self._until)
            place.counted, place.line = 0, 0 if place.position else 1
        if place.position >= place.until:
            return True
        begun = time.monotonic()
        with file.content() as stream:
            scan = Scan(
                stream,
                self._pattern,
                source.encoding,
                size=source.size,
                position=place.position,
                until=place.until,
                around=AROUND,
            )
            if file.state.compression:
                # To come back to a place means to unpack what is before. A step that takes as long as that was makes
                # all steps together take a few times as long as one would.
                now = time.monotonic()
                self._ends = max(self._ends, now + (now - begun))
            numbers = LineNumbers(file.content, source.encoding, MAX_COUNTED, place.counted, place.line)
            entries = Entries(self._call, source, file) if self._judged else None
            for found in scan:
                if found is not None:
                    self._take(source, scan, found, numbers, entries)
                place.searched += scan.position - place.position
                place.position = scan.position
                if self._is_full():
                    place.counted, place.line = numbers.position, numbers.line
                    return False
        return True

    def _take(self, source: Row[Any], scan: Scan, found: Found, numbers: LineNumbers, entries: Entries | None) -> None:
        """Add a line to the hits, if what is shown of it has a match and its entry is wanted."""
        context = self._query["context"]
        earlier = scan.before(found, context + 1)
        (text,) = self._shown(source, [found.data], b"".join(earlier[-1:]))
        # What is hidden cannot be found. Of a very long line only a part is at hand, in which ^ and $ mean nothing.
        changed = text != found.data.decode(source.encoding, "replace").removeprefix("\ufeff").rstrip("\r\n")
        if (found.whole or changed) and not self._pattern.fits(text):
            return
        entry = entries.of(scan, found) if entries is not None else Entry(None, None)
        if not self._is_wanted(entry):
            return
        spans = self._pattern.spans(text, _MAX_SPANS)
        shown, spans = _cut(text, spans)
        before = [line[:MAX_TEXT] for line in self._shown(source, earlier)[-context:]] if context else []
        behind = self._shown(source, scan.after(found, context), found.data) if context else []
        after = [line[:MAX_TEXT] for line in behind]
        self._characters += sum(map(len, (shown, *before, *after)))
        self._hits.append(
            {
                "source_id": source.id,
                "path": self._path,
                "offset": found.start,
                "end": found.end,
                "line": numbers.at(found.start),
                "text": shown,
                "cut": not found.whole or shown != text,
                "matches": spans,
                "before": before,
                "after": after,
                "time": entry.time,
                "level": entry.severity,
                "occurrence": None,
                "issue_id": None,
            }
        )

    def _shown(self, source: Row[Any], lines: Sequence[bytes], earlier: bytes = b"") -> list[str]:
        return shown_lines(self._call, lines, source.encoding, earlier)

    def _is_wanted(self, entry: Entry) -> bool:
        """Tell whether an entry is of the time and level asked for; one of an unknown time may be."""
        if self._level is not None and (entry.severity is None or RANK[entry.severity] > RANK[self._level]):
            return False
        early = self._since is not None and entry.time is not None and entry.time < self._since
        late = self._until is not None and entry.time is not None and entry.time >= self._until
        return not early and not late

    def _add_events(self) -> None:
        """Tell of each hit which stored event it belongs to: what is stored of that counts."""
        kept = []
        with self._call.transaction(write=False) as db:
            for hit in self._hits:
                row = queries.occurrence_at(db, hit["source_id"], hit["offset"], hit["end"])
                if row is not None:
                    hit |= {"occurrence": row.id, "issue_id": row.issue_id, "level": row.severity}
                    hit["time"] = row.occurred_at if row.time_source == "event" else hit["time"]
                if row is None or self._is_wanted(Entry(hit["time"], hit["level"])):
                    kept.append(hit)
        self._hits = kept


def _cut(text: str, spans: list[list[int]]) -> tuple[str, list[list[int]]]:
    """Return a line as it is shown, around its first match where it is long, and the places of the matches in that."""
    if len(text) <= MAX_TEXT:
        return text, spans
    begin = max(0, spans[0][0] - _LEAD) if spans else 0
    moved = [[first - begin, min(end - begin, MAX_TEXT)] for first, end in spans if first - begin < MAX_TEXT]
    return text[begin : begin + MAX_TEXT], moved
