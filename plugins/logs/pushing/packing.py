"""Compressing the documents of pushed events; each issue's events are much alike, so one of them is a dictionary.

A dictionary is the plain document of one event. It is made when an issue has some events: rare issues would pay
more for it than it saves.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import zstandard
from sqlalchemy import Connection, Row, bindparam, insert, select, update

from snaglist.kernel import Call
from snaglist.kernel.database import chunks, inserted_id
from snaglist.plugins.logs.tables import payload_dictionaries as _dictionaries
from snaglist.plugins.logs.tables import payloads as _payloads
from snaglist.plugins.system import rows

PLAIN = "zstd"
LEVEL = 3  # without a dictionary
# PERF: with a dictionary. The tables of level 3 take three times the memory for each dictionary, so that those of 50
# issues fit into no processor cache and compressing takes twice the time, for 1 % less text.
_SMALL = zstandard.ZstdCompressionParameters(
    window_log=16, hash_log=13, chain_log=13, min_match=5, strategy=zstandard.STRATEGY_DFAST
)
DICTIONARY_FROM = 4  # events of an issue
MAX_DICTIONARY = 64 * 1024
KEPT = 256  # dictionaries ready to use
CHUNK = 500
_OF_ISSUES = (  # PERF: runs with every group of requests
    select(_dictionaries.c.issue_id, _dictionaries.c.id, _dictionaries.c.created_at)
    .where(_dictionaries.c.issue_id.in_(bindparam("some", expanding=True)), _dictionaries.c.retired_at.is_(None))
    .order_by(_dictionaries.c.id)
)
_Named = tuple[int, str]  # id of a dictionary and when it was made: ids come back when a transaction fails


class Packer:
    """Compresses for one application, one thread at a time, and remembers dictionaries between batches."""

    def __init__(self) -> None:
        self._ready: OrderedDict[_Named, zstandard.ZstdCompressionDict] = OrderedDict()
        self._plain = zstandard.ZstdCompressor(level=LEVEL)

    def forget(self) -> None:
        """Forget the dictionaries: the transaction that made some of them failed, and their ids are free again."""
        self._ready.clear()

    def add(self, call: Call, documents: Iterable[tuple[int, int, bytes]], seen: Mapping[int, int]) -> None:
        """Store documents, given as occurrence id, issue id and bytes; `seen`: how many events their issues have."""
        known = _dictionaries_of(call.db, seen)
        packed = []
        for occurrence_id, issue_id, document in documents:
            if issue_id not in known and seen.get(issue_id, 0) >= DICTIONARY_FROM and len(document) <= MAX_DICTIONARY:
                known[issue_id] = self._make(call, issue_id, occurrence_id, document)
            codec, body = self._pack(call, known.get(issue_id), document)
            packed.append({"occurrence_id": occurrence_id, "codec": codec, "body": body})
        call.db.execute(insert(_payloads), packed)

    def pack_again(self, call: Call, occurrence_id: int, issue_id: int | None, document: bytes) -> None:
        """Compress a stored document anew, with a dictionary that its issue has now or that it becomes itself."""
        named = None
        if issue_id is not None and len(document) <= MAX_DICTIONARY:
            known = _dictionaries_of(call.db, [issue_id]).get(issue_id)
            named = known or self._make(call, issue_id, occurrence_id, document)
        codec, body = self._pack(call, named, document)
        mine = _payloads.c.occurrence_id == occurrence_id
        call.db.execute(update(_payloads).where(mine).values(codec=codec, body=body))

    def _pack(self, call: Call, named: _Named | None, document: bytes) -> tuple[str, bytes]:
        if named is None:
            return PLAIN, self._plain.compress(document)
        compressor = zstandard.ZstdCompressor(dict_data=self._dictionary(call, named), compression_params=_SMALL)
        return f"{PLAIN}:{named[0]}", compressor.compress(document)

    def _make(self, call: Call, issue_id: int, occurrence_id: int, document: bytes) -> _Named:
        row = {"issue_id": issue_id, "body": self._plain.compress(document), "created_at": call.now}
        row |= {"occurrence_id": occurrence_id}
        return inserted_id(call.db.execute(insert(_dictionaries), row)), call.now

    def _dictionary(self, call: Call, named: _Named) -> zstandard.ZstdCompressionDict:
        ready = self._ready.get(named)
        if ready is None:
            ready = _dictionary(_body(call.db, named[0]))
            ready.precompute_compress(compression_params=_SMALL)
            self._ready[named] = ready
            if len(self._ready) > KEPT:
                self._ready.popitem(last=False)
        else:
            self._ready.move_to_end(named)
        return ready


def unpack(db: Connection, occurrence_id: int) -> bytes | None:
    """Return the document of an occurrence, None when it has none."""
    row = db.execute(select(_payloads).where(_payloads.c.occurrence_id == occurrence_id)).first()
    return None if row is None else plain(db, row)


def plain(db: Connection, row: Row[Any]) -> bytes:
    """Return the document of a row of `payloads`."""
    dictionary_id = dictionary_of(row.codec)
    if dictionary_id is None:
        return zstandard.ZstdDecompressor().decompress(row.body)
    return zstandard.ZstdDecompressor(_dictionary(_body(db, dictionary_id))).decompress(row.body)


def dictionary_of(codec: str) -> int | None:
    """Return the id of the dictionary that a codec needs, None for none."""
    _, _, dictionary_id = codec.partition(":")
    return int(dictionary_id) if dictionary_id else None


def move_dictionaries(db: Connection, issue_ids: Collection[int], target_id: int) -> None:
    """Give the dictionaries of issues that are merged to the target."""
    rows.among(db, update(_dictionaries).values(issue_id=target_id), _dictionaries.c.issue_id, issue_ids)


def _dictionary(body: bytes) -> zstandard.ZstdCompressionDict:
    plain = zstandard.ZstdDecompressor().decompress(body)
    return zstandard.ZstdCompressionDict(plain, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _body(db: Connection, dictionary_id: int) -> bytes:
    body: bytes = db.execute(select(_dictionaries.c.body).where(_dictionaries.c.id == dictionary_id)).scalar_one()
    return body


def _dictionaries_of(db: Connection, issue_ids: Collection[int]) -> dict[int, _Named]:
    """Return the newest dictionary of each issue that has one."""
    found: dict[int, _Named] = {}
    for some in chunks(sorted(issue_ids), CHUNK):
        found.update({row[0]: (row[1], row[2]) for row in db.execute(_OF_ISSUES, {"some": some})})
    return found
