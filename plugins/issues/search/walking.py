"""Reading events one after the other, in the order of their times, as far as somebody wants."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, or_

from snaglist.plugins.issues.tables import occurrences
from snaglist.plugins.issues.values.reading import TEXTS, StoredText

CHUNK = 500
_NEWEST = (occurrences.c.occurred_at.desc(), occurrences.c.id.desc())
_OLDEST = (occurrences.c.occurred_at.asc(), occurrences.c.id.asc())


class Place(NamedTuple):
    """Where an event stands in the order of an issue's events."""

    occurred_at: str
    id: int


def walk(
    db: Connection, tests: Sequence[ColumnElement[bool]], after: Place | None = None, *, newest_first: bool = True
) -> Iterator[StoredText]:
    """Give the events that pass, behind a place; of one issue, or no index has their order."""
    order = _NEWEST if newest_first else _OLDEST
    while True:
        statement = TEXTS.where(*tests).order_by(*order).limit(CHUNK)
        if after is not None:
            statement = statement.where(_behind(after, newest_first))
        rows = list(db.execute(statement))
        yield from map(StoredText, rows)
        if len(rows) < CHUNK:
            return
        after = Place(rows[-1].occurred_at, rows[-1].id)


def _behind(place: Place, newest_first: bool) -> ColumnElement[bool]:
    """Test for what comes after a place; the first test alone bounds a walk through the index."""
    at, id_ = occurrences.c.occurred_at, occurrences.c.id
    if newest_first:
        return and_(at <= place.occurred_at, or_(at < place.occurred_at, id_ < place.id))
    return and_(at >= place.occurred_at, or_(at > place.occurred_at, id_ > place.id))
