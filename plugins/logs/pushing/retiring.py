"""Retiring dictionaries: one that is the document of an event that is gone would keep what was deleted.

First nothing new is compressed with it, then what was is compressed anew, and at last it is emptied. Its row stays, so
that its id is not used for another one.
"""

from collections.abc import Collection

import zstandard
from sqlalchemy import Connection, select, update

from snaglist.kernel import Call
from snaglist.plugins.issues import stored
from snaglist.plugins.logs.pushing.packing import PLAIN, Packer, dictionary_of, plain, unpack
from snaglist.plugins.logs.tables import payload_dictionaries as _dictionaries
from snaglist.plugins.logs.tables import payloads as _payloads
from snaglist.plugins.system import rows

BATCH = 500
_GONE = b""
_issues, _occurrences = stored.issues, stored.occurrences


def used_by(db: Connection, occurrence_ids: Collection[int]) -> set[int]:
    """Return the dictionaries that the documents of occurrences need."""
    codecs = rows.among(db, select(_payloads.c.codec), _payloads.c.occurrence_id, occurrence_ids)
    return {found for row in codecs if (found := dictionary_of(row.codec)) is not None}


def retire(call: Call, dictionary_ids: Collection[int], issue_ids: Collection[int]) -> None:
    """Retire those of some dictionaries, and of those of issues, whose events are not stored any more.

    Whoever compresses with one of them has locked its issue: so does this, and nobody does any more when it is done.
    """
    db = call.db
    in_use = select(_dictionaries).where(_dictionaries.c.retired_at.is_(None))
    found = rows.among(db, in_use, _dictionaries.c.id, dictionary_ids)
    found += rows.among(db, in_use, _dictionaries.c.issue_id, issue_ids)
    of_issues = {row.issue_id for row in found if row.issue_id is not None}
    rows.among(db, select(_issues.id).order_by(_issues.id).with_for_update(), _issues.id, of_issues)
    for row in found:
        document = zstandard.ZstdDecompressor().decompress(row.body)
        if row.occurrence_id is None or unpack(db, row.occurrence_id) != document:  # ids of occurrences come back
            db.execute(update(_dictionaries).where(_dictionaries.c.id == row.id).values(retired_at=call.now))


def retired(db: Connection) -> list[int]:
    """Return the dictionaries that are retired and not empty yet."""
    waiting = select(_dictionaries.c.id).where(_dictionaries.c.retired_at.is_not(None), _dictionaries.c.body != _GONE)
    return list(db.execute(waiting.order_by(_dictionaries.c.id)).scalars())


def pack_some(call: Call, packer: Packer, dictionary_ids: Collection[int], after_id: int) -> int | None:
    """Compress some documents anew that need retired dictionaries, behind an occurrence, in the write transaction.

    Returns the last occurrence that was looked at, None when none is left.
    """
    db = call.db
    seen = select(_payloads.c.occurrence_id, _payloads.c.codec).where(_payloads.c.occurrence_id > after_id)
    page = db.execute(seen.order_by(_payloads.c.occurrence_id).limit(BATCH * 20)).all()
    codecs = {f"{PLAIN}:{one}" for one in dictionary_ids}
    found = [row.occurrence_id for row in page if row.codec in codecs]
    issue_ids = {
        row.id: row.issue_id
        for row in rows.among(db, select(_occurrences.id, _occurrences.issue_id), _occurrences.id, found[:BATCH])
    }
    for row in rows.among(db, select(_payloads), _payloads.c.occurrence_id, found[:BATCH]):
        packer.pack_again(call, row.occurrence_id, issue_ids.get(row.occurrence_id), plain(db, row))
    if len(found) > BATCH:
        return int(found[BATCH - 1])
    return int(page[-1].occurrence_id) if page else None


def empty(db: Connection, dictionary_ids: Collection[int]) -> None:
    """Empty retired dictionaries that no document needs any more."""
    rows.among(db, update(_dictionaries).values(body=_GONE, issue_id=None), _dictionaries.c.id, dictionary_ids)
