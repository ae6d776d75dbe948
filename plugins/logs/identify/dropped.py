"""Content that was dropped before: a file that equals an earlier one, or goes on where an earlier one ended."""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import file_at, stored_path
from snaglist.plugins.logs.identify.copies import behind_entries, contains
from snaglist.plugins.logs.identify.fingerprint import PREFIX_BYTES, ChainedHash, name_family, prefix_hash
from snaglist.plugins.logs.identify.trail import Trail
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.read.parsing import Found, Search
from snaglist.plugins.logs.store import queries

_MAX_SIZE = 2**63 - 1


def dropped(call: Call, module_id: int | None, *, growing: bool = False) -> Search:
    """Return the search for dropped files: equal to an earlier drop or mirror of the module, or longer.

    Of a file that is still `growing` nothing is to be read, either, while it may become one of these.
    """
    return partial(_find_dropped, call, module_id, growing)


def taking_over(call: Call, module_id: int | None, name: str, otherwise: Search) -> Search:
    """Return the search for files of a connector: it takes over a dropped file of the same name family."""
    return partial(_find_taken, call, module_id, name, otherwise)


def _find_dropped(call: Call, module_id: int | None, growing: bool, file: OpenFile, head: bytes) -> Found | None:
    if growing and (longer := _begun(call, module_id, file, head)):
        return Found(longer, None)
    known = _longest(file, _ours(call, module_id, file, head))
    if known is None:
        return None
    if known[1]:
        return Found(known[0], None)
    trail = Trail.resume(file, head, known[0])
    if known[0].connector_id is None and not file_at(call, known[0].path).exists():
        # It is that file: a run that died told the source of a move that never came, or the archive was cleared.
        return Found(known[0], trail, moves=True)
    return Found(known[0], trail and behind_entries(file, head, known[0], trail))


def _find_taken(
    call: Call, module_id: int | None, name: str, otherwise: Search, file: OpenFile, head: bytes
) -> Found | None:
    known = dropped_before(call, file, head, module_id, name)
    if known is None:
        return otherwise(file, head)
    return Found(known[0], Trail.resume(file, head, known[0]), moves=True)


def dropped_before(
    call: Call, file: OpenFile, head: bytes, module_id: int | None, name: str
) -> tuple[Row[Any], bool] | None:
    """Return the drop that a connector's file goes on from, and whether it is all of the file."""
    folders = (call.application.logs, call.application.processed)
    return _longest(
        file,
        [
            row
            for row in _ours(call, module_id, file, head)
            if row.connector_id is None and row.family == name_family(name) and _below(call, row, folders)
        ],
    )


def _ours(call: Call, module_id: int | None, file: OpenFile, head: bytes) -> list[Row[Any]]:
    """Return drops, mirrors and what connectors took over, whose head the file has, longest first."""
    state, node = file.state, call.service.file_node
    if not head:
        return []
    size = _MAX_SIZE if state.compression else state.size
    folders = (call.application.logs, call.application.processed, call.application.sources)
    with call.transaction(write=False) as db:
        lengths = queries.head_lengths(db, module_id, min(len(head), PREFIX_BYTES - 1))
        rows = queries.beginnings(db, module_id, _possible_heads(head, lengths), size)
    return [
        row
        for row in rows
        if row.node in (node or row.node,) and (row.connector_id is not None or _below(call, row, folders))
    ]


def _begun(call: Call, module_id: int | None, file: OpenFile, head: bytes) -> Row[Any] | None:
    """Return an earlier and longer drop or mirror whose first bytes a file is: it may be copied here once more."""
    state, node = file.state, call.service.file_node
    if state.compression or not head:
        return None
    with call.transaction(write=False) as db:
        rows = queries.longer(db, module_id, prefix_hash(head), name_family(state.name), state.size)
    folders = (call.application.logs, call.application.processed, call.application.sources)
    return next(
        (
            row
            for row in rows
            if row.path != stored_path(call, state.path)
            and row.node in (node or row.node,)
            and (row.connector_id is not None or _below(call, row, folders))
            and contains(file_at(call, row.path), file)
        ),
        None,
    )


def _below(call: Call, row: Row[Any], folders: Sequence[Path]) -> bool:
    return any(map(file_at(call, row.path).is_relative_to, folders))


def _longest(file: OpenFile, rows: Sequence[Row[Any]]) -> tuple[Row[Any], bool] | None:
    """Return the longest of the contents that the file begins with, and whether it is all of the file."""
    if not rows:
        return None
    with file.content() as stream:
        hashed = ChainedHash()
        found = None
        for row in reversed(rows):  # shortest first: one walk through the file meets all of them
            if not hashed.read_to(stream, row.offset):
                break
            if hashed.content_hash == row.content_hash:
                found = row
        if found is None:
            return None
        stream.seek(found.offset)
        return found, not stream.read(1)


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
