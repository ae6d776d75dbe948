"""Finding events of an issue, newest first: filters of columns in SQL, words and values by the test of `matching`.

A rare word is looked up in the index, so that few events are read. Otherwise events are read in their order until a
page is full, or until enough were looked at: the answer says how far it came, and goes on from there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, select

from snaglist.kernel import Call, Invalid, key
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.search.matching import Matching, matching_of
from snaglist.plugins.issues.search.walking import CHUNK, Place, walk
from snaglist.plugins.issues.search.words import read_terms
from snaglist.plugins.issues.tables import occurrences
from snaglist.plugins.issues.values.contexts import UNINDEXED
from snaglist.plugins.issues.values.index import found_by_index
from snaglist.plugins.issues.values.reading import TEXTS, StoredText
from snaglist.plugins.issues.values.words import whole_words

MOST_LOOKED_AT = 10_000  # events, in one request
FEW = 5_000  # events that an index finds: they are read before they are ordered
_COLUMNS = {
    "severity": occurrences.c.severity,
    "environment": occurrences.c.environment,
    "release": occurrences.c.release,
    "host": occurrences.c.server_name,
    "user": occurrences.c.user_name,
    "occurrence": occurrences.c.id,
}


class NamedValue(NamedTuple):
    """A value that events must have, folded, by the name that it has in them."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events of an issue are looked for."""

    issue_id: int
    tests: tuple[ColumnElement[bool], ...]
    matching: Matching
    values: tuple[NamedValue, ...]

    @property
    def by_text(self) -> bool:
        """Tell whether the texts of events have to be looked at."""
        return bool(self.matching.terms or self.values)

    def holds(self, text: StoredText) -> bool:
        """Tell whether an event has the words and values."""
        if not self.matching.holds(text):
            return False
        if not self.values:
            return True
        having = {(key(name), StoredText.fold(value)) for name, _, value in text.named_values()}
        having |= {(key(name), StoredText.fold(value)) for name, value in text.fields.items()}
        return having.issuperset(self.values)

    def narrowed(self, db: Connection) -> Select[int] | None:
        """Select the ids of events that may be meant; None where no index tells."""
        told = [value.value for value in self.values if value.value not in UNINDEXED]
        words = dict.fromkeys(word for value in told for word in whole_words(value))
        matching = self.matching
        return Matching(matching.terms, (*words, *matching.words), matching.prefix).narrowed(db)


@dataclass(slots=True)
class Found:
    """Ids of events in order; `last` is the place that was looked at last when `complete` is false."""

    ids: list[int]
    places: list[Place]
    looked_at: int = 0
    complete: bool = True
    last: Place | None = None


def read_wanted(call: Call, issue_id: int, query: Mapping[str, Any]) -> Wanted:
    """Return what a query wants; Invalid for a value without a name."""
    tests = [occurrences.c.issue_id == issue_id]
    if start := query.get("from"):
        tests.append(occurrences.c.occurred_at >= start)
    if end := query.get("to"):
        tests.append(occurrences.c.occurred_at <= end)
    tests += [column == query[name] for name, column in _COLUMNS.items() if query.get(name)]
    terms = read_terms(query.get("q") or "")
    matching = matching_of(call, [issue_id], terms).get(issue_id, Matching(())) if terms else Matching(())
    return Wanted(issue_id, tuple(tests), matching, tuple(map(_named_value, query.get("value") or ())))


def _named_value(text: str) -> NamedValue:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise Invalid("value: must be like order=52045: a name, =, and the value")
    return NamedValue(key(name.strip()), StoredText.fold(value))


def find_events(
    call: Call, wanted: Wanted, limit: int, *, after: Place | None = None, newest_first: bool = True
) -> Found:
    """Return up to `limit` events and one more, behind a place; needs an open transaction."""
    found = Found([], [])
    for text in _candidates(call, wanted, after, newest_first):
        found.looked_at += 1
        place = Place(text.row.occurred_at, text.row.id)
        if not wanted.by_text or wanted.holds(text):
            found.ids.append(text.row.id)
            found.places.append(place)
            if len(found.ids) > limit:
                break
        if found.looked_at >= MOST_LOOKED_AT and len(found.ids) <= limit:
            found.complete, found.last = False, place
            break
    return found


def matching_texts(call: Call, wanted: Wanted, most: int, found: Found) -> Iterator[StoredText]:
    """Give the newest events that are wanted, at most so many; `found` tells how many were looked at."""
    given = 0
    for text in _candidates(call, wanted, None, newest_first=True):
        found.looked_at += 1
        found.last = Place(text.row.occurred_at, text.row.id)
        if not wanted.by_text or wanted.holds(text):
            given += 1
            yield text
        if given >= most or found.looked_at >= MOST_LOOKED_AT:
            found.complete = False
            return


def _candidates(call: Call, wanted: Wanted, after: Place | None, newest_first: bool) -> Iterator[StoredText]:
    few = _few(call.db, wanted)
    if few is not None:
        places = sorted(few, reverse=newest_first)
        if after is not None:
            places = [place for place in places if (place < after if newest_first else place > after)]
        for some in chunks(places, CHUNK):
            found_here = call.db.execute(TEXTS.where(occurrences.c.id.in_([place.id for place in some])))
            by_id = {row.id: row for row in found_here}
            yield from (StoredText(by_id[place.id]) for place in some if place.id in by_id)
        return
    yield from walk(call.db, wanted.tests, after, newest_first=newest_first)


def _few(db: Connection, wanted: Wanted) -> list[Place] | None:
    """Return the places of the events that an index finds, None when it does not or they are many."""
    narrowed = wanted.narrowed(db)
    if narrowed is None:
        return None
    # Two steps: a database that follows the index of the issue instead would read all of its events.
    ids = [row.id for row in found_by_index(db, narrowed.limit(FEW + 1))]
    if len(ids) > FEW:
        return None
    found: list[Place] = []
    for some in chunks(ids, CHUNK):
        statement = select(occurrences.c.occurred_at, occurrences.c.id).where(occurrences.c.id.in_(some), *wanted.tests)
        found += [Place(*row) for row in db.execute(statement)]
    return found


def place_of(db: Connection, issue_id: int, occurrence_id: int) -> Place | None:
    """Return the place of an event of an issue."""
    columns = select(occurrences.c.occurred_at, occurrences.c.id)
    mine = (occurrences.c.id == occurrence_id, occurrences.c.issue_id == issue_id)
    row = db.execute(columns.where(*mine)).first()
    return Place(row.occurred_at, row.id) if row else None
