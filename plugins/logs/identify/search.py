"""Sources elsewhere that a file may share its content with: which ones are looked at, and how they compare with it.

Content decides, never a name alone: a source is known again when the file holds, up to the source's checkpoint, the
bytes that were read. Files that are read in place are compared with sources of the same device and inode (a rename)
and of the same folder and name family (a copy, or an archive made of it); dropped files with what was dropped before.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import file_at, stored_path
from snaglist.plugins.logs.identify.compare import behind_entries, contains, holds, identity_of, is_begun, shorter_copy
from snaglist.plugins.logs.identify.decide import Elsewhere, Place
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, ChainedHash, Trail, name_family, prefix_hash
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.store import queries

Near = Callable[[Row[Any]], bool]
Compare = Callable[[], Elsewhere | None]
# Called with the file and its head in an open transaction; what it returns compares the contents outside of it.
Search = Callable[[OpenFile, bytes], Compare]

_MAX_SIZE = 2**63 - 1
_ORIGINALS = 20  # so many files of a name may be copied between two readings


def nowhere(file: OpenFile, head: bytes) -> Compare:
    """Search for no other sources."""
    return lambda: None


def in_place(call: Call, *, name: str = "", near: Near | None = None) -> Search:
    """Return the search for files that are read where they are.

    `near` tells whether a source's file stands in the same folder; by default their paths decide. `name` stands
    for the file's own name.
    """
    return partial(_in_place, call, name, near)


def _in_place(call: Call, name: str, near: Near | None, file: OpenFile, head: bytes) -> Compare:
    state, node = file.state, call.service.file_node
    if not head:
        return lambda: None
    family = name_family(name or state.name)
    beside = near or (lambda row: file_at(call, row.path).parent == state.path.parent)

    def is_relative(row: Row[Any]) -> bool:
        other = row.path != stored_path(call, state.path)
        return other and row.family == family and beside(row) and is_telling(head, row)

    alike = [
        row
        for row in queries.relatives(call.db, node, state.identity, family, prefix_hash(head))
        if row.identity == state.identity or is_relative(row)
    ]
    latest = filter(is_relative, queries.latest_of_family(call.db, node, family, _ORIGINALS))
    return partial(_compare_in_place, call, file, head, alike, list(latest))


def is_telling(head: bytes, row: Row[Any]) -> bool:
    """Tell whether what was read of a source says which file it is, or is read again with what follows.

    Many files begin with the same half line.
    """
    return row.open_event is not None or row.offset > len(head) or b"\n" in head[: row.offset]


def _compare_in_place(
    call: Call, file: OpenFile, head: bytes, alike: Sequence[Row[Any]], latest: Sequence[Row[Any]]
) -> Elsewhere | None:
    for row in alike:  # longest first
        if trail := Trail.resume(file, head, row):
            return _begins_with(call, file, head, row, trail)
    for row in latest:
        if copy := shorter_copy(call, file, head, row):
            return Elsewhere(row, Place.THERE, trail=copy, ends=copy.position)
        if is_begun(call, file, head, row):
            return Elsewhere(row, Place.THERE, complete=True)
    return None


def _begins_with(call: Call, file: OpenFile, head: bytes, row: Row[Any], trail: Trail) -> Elsewhere:
    """Compare a file with a source all of whose bytes it begins with; `trail` is behind them."""
    original = file_at(call, row.path)
    if original == file.state.path:
        return Elsewhere(row, Place.HERE, trail=trail)
    # Asked first: the original may be emptied at any moment, and what is left of it then holds nothing.
    longer = file.goes_on(row.offset)
    same = longer and contains(original, file, row.offset)
    if not holds(original, row):
        return Elsewhere(row, Place.GONE, trail=trail)
    if same or file.state.identity == row.identity == identity_of(original):
        # All of it is in the original as well, and is read there, or here when it is there no more.
        trail.close()
        return Elsewhere(row, Place.THERE, complete=True)
    trail = behind_entries(file, head, row, trail)
    return Elsewhere(row, Place.THERE, trail=trail, ends=None if longer else row.offset)


def dropped(call: Call, module_id: int | None, *, growing: bool = False) -> Search:
    """Return the search for dropped files: equal to an earlier drop or mirror of the module, or longer.

    Of a file that is still `growing` nothing is to be read, either, while it may become one of these.
    """

    def search(file: OpenFile, head: bytes) -> Compare:
        longer = _longer(call, module_id, file, head) if growing else []
        return partial(_compare_dropped, call, file, head, longer, dropped_before(call, file, head, module_id))

    return search


def _compare_dropped(
    call: Call, file: OpenFile, head: bytes, longer: Sequence[Row[Any]], shorter: Sequence[Row[Any]]
) -> Elsewhere | None:
    for more in longer:  # the file may be that one, copied here once more
        if contains(file_at(call, more.path), file):
            return Elsewhere(more, Place.THERE, complete=True)
    if (row := longest(file, shorter)) is None:
        return None
    if not file.goes_on(row.offset):
        return Elsewhere(row, Place.THERE, complete=True)
    trail = Trail.resume(file, head, row)
    if row.connector_id is None and not file_at(call, row.path).exists():
        # It is that file: a run that died told the source of a move that never came, or the archive was cleared.
        return Elsewhere(row, Place.GONE, trail=trail)
    return Elsewhere(row, Place.THERE, trail=trail and behind_entries(file, head, row, trail))


def taking_over(call: Call, module_id: int | None, name: str, otherwise: Search) -> Search:
    """Return the search for files of a connector: it takes over a dropped file of the same name family."""

    def search(file: OpenFile, head: bytes) -> Compare:
        drops = dropped_before(call, file, head, module_id, name)
        other = otherwise(file, head)

        def compare() -> Elsewhere | None:
            row = longest(file, drops)
            return other() if row is None else Elsewhere(row, Place.TAKEN_OVER, trail=Trail.resume(file, head, row))

        return compare

    return search


def dropped_before(
    call: Call, file: OpenFile, head: bytes, module_id: int | None, name: str | None = None
) -> list[Row[Any]]:
    """Return drops, mirrors and what connectors took over, whose head the file has, longest first.

    With `name` only drops of its family. Needs an open transaction.
    """
    if not head:
        return []
    size = _MAX_SIZE if file.state.compression else file.state.size
    lengths = queries.head_lengths(call.db, module_id, min(len(head), PREFIX_BYTES - 1))
    rows = queries.beginnings(call.db, module_id, _possible_heads(head, lengths), size)
    return _ours(call, rows, None if name is None else name_family(name))


def _longer(call: Call, module_id: int | None, file: OpenFile, head: bytes) -> list[Row[Any]]:
    """Return earlier drops and mirrors of which more was read than the file has now."""
    state = file.state
    if state.compression or not head:
        return []
    rows = queries.longer(call.db, module_id, prefix_hash(head), name_family(state.name), state.size)
    return [row for row in _ours(call, rows) if row.path != stored_path(call, state.path)]


def _ours(call: Call, rows: Sequence[Row[Any]], family: str | None = None) -> list[Row[Any]]:
    """Return those sources whose files are kept here: dropped, archived or, without a `family`, mirrored."""
    application, node = call.application, call.service.file_node
    folders = [application.logs, application.processed, *([application.sources] if family is None else [])]

    def is_ours(row: Row[Any]) -> bool:
        if row.node != (node or row.node) or (family is not None and (row.family != family or row.connector_id)):
            return False
        return bool(row.connector_id) or any(map(file_at(call, row.path).is_relative_to, folders))

    return list(filter(is_ours, rows))


def longest(file: OpenFile, rows: Sequence[Row[Any]]) -> Row[Any] | None:
    """Return the source of the longest of the contents that the file begins with."""
    found = None
    if rows:
        with file.content() as stream:
            hashed = ChainedHash()
            for row in reversed(rows):  # shortest first: one walk through the file meets all of them
                if not hashed.read_to(stream, row.offset):
                    break
                if hashed.content_hash == row.content_hash:
                    found = row
    return found


def _possible_heads(head: bytes, lengths: Sequence[int]) -> list[str]:
    """Return the prefix hashes of contents that the file may begin with: of these lengths, or a full head."""
    running = hashlib.sha256()
    hashes = []
    done = 0
    for length in lengths:
        running.update(head[done:length])
        done = length
        hashes.append(running.copy().hexdigest())
    return list(dict.fromkeys([*hashes, prefix_hash(head)]))
