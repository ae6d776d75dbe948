"""Values of an issue's facets (environment, release, channel, source), bounded per issue and facet."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select

from snaglist.kernel import digest
from snaglist.kernel.database import chunks, upsert
from snaglist.plugins.issues.tables import issue_facets

MAX_VALUES = 1_000
OTHER = "(other)"  # the facet value that stands for all values past the limit per issue
CHUNK = 500
Facet = tuple[str, str]
_Pair = tuple[int, str]
_STORED = (  # PERF: runs with every batch
    select(issue_facets.c.issue_id, issue_facets.c.facet, func.count())
    .where(issue_facets.c.issue_id.in_(bindparam("some", expanding=True)))
    .group_by(issue_facets.c.issue_id, issue_facets.c.facet)
)


@dataclass(slots=True)
class Span:
    """A number of events and their earliest and latest time."""

    count: int
    first: str
    last: str

    def include(self, other: "Span") -> None:
        """Add another span."""
        self.count += other.count
        self.first = min(self.first, other.first)
        self.last = max(self.last, other.last)


def add_facets(db: Connection, spans: Mapping[int, Mapping[Facet, Span]]) -> None:
    """Add to the facets of (locked) issues; new values beyond the limit count as `(other)`."""
    hashes = {value: digest(value) for facets in spans.values() for _, value in facets}
    room = _room(db, spans, hashes)
    added: dict[tuple[int, str, str], tuple[str, Span]] = {}
    for issue_id, facets in spans.items():
        for (facet, value), span in facets.items():
            pair = (issue_id, facet)
            if pair in room and hashes[value] not in room[pair].known:
                if room[pair].free:
                    room[pair].free -= 1
                else:
                    value = OTHER
            key = (issue_id, facet, hashes.get(value) or digest(value))
            if key in added:
                added[key][1].include(span)
            else:
                added[key] = (value, Span(span.count, span.first, span.last))
    rows = [
        {
            "issue_id": key[0],
            "facet": key[1],
            "value": value,
            "value_hash": key[2],
            "count": span.count,
            "first_seen": span.first,
            "last_seen": span.last,
        }
        for key, (value, span) in sorted(added.items(), key=lambda item: item[0])
    ]
    upsert(db, issue_facets, rows, add=("count",), least=("first_seen",), greatest=("last_seen",))


class _Room:
    """How many new values a nearly full facet takes, and which of the batch's values it knows."""

    def __init__(self, free: int) -> None:
        self.free = free
        self.known: set[str] = set()


def _room(db: Connection, spans: Mapping[int, Mapping[Facet, Span]], hashes: Mapping[str, str]) -> dict[_Pair, _Room]:
    offered = Counter((issue_id, facet) for issue_id, facets in spans.items() for facet, _ in facets)
    stored: dict[_Pair, int] = {}
    for some in chunks(sorted(spans), CHUNK):
        rows = db.execute(_STORED, {"some": some})
        stored.update(((issue_id, facet), values) for issue_id, facet, values in rows)
    room = {
        pair: _Room(max(0, MAX_VALUES - stored.get(pair, 0)))
        for pair, values in offered.items()
        if stored.get(pair, 0) + values > MAX_VALUES
    }
    for issue_ids in chunks(sorted({issue_id for issue_id, _ in room}), CHUNK):
        for some_hashes in chunks(sorted(hashes.values()), CHUNK):
            known = select(issue_facets.c.issue_id, issue_facets.c.facet, issue_facets.c.value_hash).where(
                issue_facets.c.issue_id.in_(issue_ids),
                issue_facets.c.facet.in_(sorted({facet for _, facet in room})),
                issue_facets.c.value_hash.in_(some_hashes),
            )
            for issue_id, facet, value_hash in db.execute(known):
                if (issue_id, facet) in room:
                    room[issue_id, facet].known.add(value_hash)
    return room
