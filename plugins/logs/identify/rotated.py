"""Files that rotate: which source a file found in place goes on from.

Content decides, never a name alone: a source is known again when the file holds, up to the source's
checkpoint, the bytes that were read. Looked at are the sources of the same device and inode (a rename) and
those of the same folder and name family (a copy, or an archive made of it).
"""

from functools import partial
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import file_at, stored_path
from snaglist.plugins.logs.identify.copies import behind_entries, contains, is_begun, shorter_copy
from snaglist.plugins.logs.identify.fingerprint import name_family, prefix_hash
from snaglist.plugins.logs.identify.moved import holds, identity_of
from snaglist.plugins.logs.identify.trail import Trail
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.read.parsing import Found, Near, Search
from snaglist.plugins.logs.store import queries

_ORIGINALS = 20  # so many files of a name may be copied between two readings


def in_place(call: Call, *, name: str = "", near: Near | None = None) -> Search:
    """Return the search for files that are read where they are.

    `near` tells whether a source's file stands in the same folder; by default their paths decide. `name` stands
    for the file's own name.
    """
    return partial(_find, call, name, near)


def _find(call: Call, name: str, near: Near | None, file: OpenFile, head: bytes) -> Found | None:
    """Find what the file goes on from: its source moves with it unless the original is still in its place."""
    if not head:
        return None
    state = file.state
    family = name_family(name or state.name)
    node = call.service.file_node
    with call.transaction(write=False) as db:
        same_content = queries.relatives(db, node, state.identity, family, prefix_hash(head))
        latest = queries.latest_of_family(db, node, family, _ORIGINALS)
    beside = near or (lambda row: file_at(call, row.path).parent == state.path.parent)

    def is_relative(row: Row[Any]) -> bool:
        other = row.path != stored_path(call, state.path)
        return other and row.family == family and beside(row) and _is_telling(head, row)

    for row in same_content:  # longest first
        renamed = row.identity == state.identity
        if (renamed or is_relative(row)) and (found := _whole(call, file, head, row, renamed)):
            return found
    for row in filter(is_relative, latest):
        if copy := shorter_copy(call, file, head, row):
            return Found(row, copy, ends=copy.position)
        if is_begun(call, file, head, row):
            return Found(row, None)
    return None


def _whole(call: Call, file: OpenFile, head: bytes, row: Row[Any], renamed: bool) -> Found | None:
    """Compare a file with a source all of whose bytes it may begin with."""
    trail = Trail.resume(file, head, row)
    if trail is None:
        return None
    original = file_at(call, row.path)
    if original == file.state.path:
        return Found(row, trail, moves=True)
    # Asked first: the original may be emptied at any moment, and what is left of it then holds nothing.
    longer = _goes_on(file, row.offset)
    same = longer and contains(original, file, row.offset)
    if not holds(original, row):
        return Found(row, trail, moves=True)
    if same or (renamed and identity_of(original) == file.state.identity):
        # All of it is in the original as well, and is read there, or here when it is there no more.
        trail.close()
        return Found(row, None)
    return Found(row, behind_entries(file, head, row, trail), ends=None if longer else row.offset)


def _is_telling(head: bytes, row: Row[Any]) -> bool:
    """Tell whether what was read of a source says which file it is, or is read again with what follows.

    Many files begin with the same half line.
    """
    return row.open_event is not None or row.offset > len(head) or b"\n" in head[: row.offset]


def _goes_on(file: OpenFile, position: int) -> bool:
    """Tell whether a file holds bytes behind a position."""
    with file.content(position) as stream:
        return bool(stream.read(1))
