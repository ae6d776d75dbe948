"""Where the reading of a file begins: what the rules of `decide` ask for is looked up here."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.logs.identify.compare import cut_down
from snaglist.plugins.logs.identify.decide import Content, Decision, Elsewhere, Here, decide
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, Trail, is_rotated_name
from snaglist.plugins.logs.identify.moved import follow_file
from snaglist.plugins.logs.identify.search import Compare, Search
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.files import FileState, OpenFile
from snaglist.plugins.logs.store import deletions
from snaglist.plugins.logs.store.sources import known_source


@dataclass(frozen=True, slots=True)
class Start:
    """What a file is, and where its reading begins.

    `head` are the first bytes of the file, by which its format is chosen. `source`: the one that goes on, or that the
    file is a copy of. `here`: the newest source of the path until now. `trail` is behind the bytes that are known.
    `ends`: where the file ended, if it may be a copy in the making. `original` is the source, if any, whose deleted
    events are deleted in a new source too. `left`: sources whose file was at the path and is there no more.
    """

    decision: Decision
    head: bytes
    source: Row[Any] | None
    here: Row[Any] | None
    trail: Trail | None = None
    ends: int | None = None
    original: int | None = None
    left: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the database knows elsewhere: sources to compare the file with, and those of which events were deleted.

    They were looked for by the `head` of the file.
    """

    head: bytes
    compare: Compare
    deleted: list[Row[Any]]


@dataclass(frozen=True, slots=True)
class Known:
    """What the database knows of a file: the newest source of its path, and candidates if that is needed at once."""

    here: Row[Any] | None
    unchanged: bool = False
    candidates: Candidates | None = None


def look_up(call: Call, file: OpenFile, search: Search) -> Known:
    """Look a file up, in a transaction of its own. PERF: a new file all at once."""
    with call.transaction(write=False):
        here = known_source(call, file.state.path)
        if here is not None or file.state.compression:
            return Known(here, here is not None and _is_unchanged(here, file.state))
        return Known(None, candidates=_candidates(call, file, _head_of(call, file), search))


def _candidates(call: Call, file: OpenFile, head: bytes, search: Search) -> Candidates:
    return Candidates(head, search(file, head), deletions.alike(call.db, head))


def _head_of(call: Call, file: OpenFile) -> bytes:
    """Return the head of a file, by which its format is chosen."""
    return file.head(max(call.setting("ingestion.sample_bytes"), PREFIX_BYTES))


def _is_unchanged(here: Row[Any], state: FileState) -> bool:
    # A change in the second of the last read does not show in the modification time: look closer then.
    return bool(
        here.status == "ok"
        and here.identity == state.identity
        and here.modified_at == state.modified_at
        and here.modified_at < here.imported_at
        and (state.compression or here.offset == here.size == state.size)
    )


def find_start(call: Call, file: OpenFile, known: Known, search: Search, parsers: Sequence[Parser]) -> Start:
    """Find out what a file is; sources that are in its way follow the files they were read from."""
    row, candidates = known.here, known.candidates
    head = candidates.head if candidates else _head_of(call, file)
    here, trail = _look_here(call, file, head, row, parsers)
    elsewhere: Elsewhere | None = None
    left: list[int] = []
    looked = False
    while True:
        decision = decide(here, elsewhere, looked=looked)
        if decision is Decision.DISPLACED and row is not None:
            left.append(row.id)
            follow_file(call, row)
            with call.transaction(write=False):
                row = known_source(call, file.state.path)
            here, trail = _look_here(call, file, head, row)
            here = here and replace(here, followed=True)
        elif decision is Decision.LOOK:
            if candidates is None:
                with call.transaction(write=False):
                    candidates = _candidates(call, file, head, search)
            elsewhere, looked = candidates.compare(), True
            if elsewhere is not None and row is not None and elsewhere.source.id == row.id:
                elsewhere = None
        else:
            break
    if decision is Decision.APPEND:
        return Start(decision, head, row, row, trail, left=left)
    if decision is Decision.SHRUNK and row is not None:
        return Start(decision, head, row, row, trail, original=row.id, left=[*left, row.id])
    if elsewhere is not None:
        source = elsewhere.source
        return Start(decision, head, source, row, elsewhere.trail, elsewhere.ends, original=source.id, left=left)
    ends = _possible_end(file, head)
    original = deletions.copied_from(file, head, candidates.deleted) if candidates else None
    return Start(decision, head, row, row, Trail.start(file, head), ends, original, left)


def _look_here(
    call: Call, file: OpenFile, head: bytes, row: Row[Any] | None, parsers: Sequence[Parser] | None = None
) -> tuple[Here | None, Trail | None]:
    """Compare a file with its path's source; `parsers` are needed to see whether it was cut down."""
    if row is None:
        return None, None
    if not row.offset:
        return Here(Content.NONE_READ), None
    if trail := Trail.resume(file, head, row):
        return Here(Content.SAME, borrowed=row.offset == row.first_byte), trail
    if parsers is not None and (trail := cut_down(call, file, head, row, parsers)):
        return Here(Content.FIRST_EVENTS), trail
    return Here(Content.OTHER), None


def _possible_end(file: OpenFile, head: bytes) -> int | None:
    """Return where a rotated file ended that was shorter than what files are known by: it may be copied right now."""
    short = is_rotated_name(file.state.name) and not file.state.compression and len(head) < PREFIX_BYTES
    return len(head) if short else None
