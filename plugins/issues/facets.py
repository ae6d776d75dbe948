"""Values of an issue's facets (environment, release, channel, host, user, source), bounded per issue and facet."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select, update

from snaglist.kernel import digest
from snaglist.kernel.database import chunks, upsert
from snaglist.plugins.issues.tables import issue_facets, issues

MAX_VALUES = 1_000
USER = "user"
MAX_USERS = 10_000  # how many an issue tells apart
OTHER = "(other)"  # the facet value that stands for all values past the limit per issue
CHUNK = 500
Facet = tuple[str, str]
_Pair = tuple[int, str]
_STORED = (  # PERF: runs with every batch
    select(issue_facets.c.issue_id, issue_facets.c.facet, func.count())
    .where(issue_facets.c.issue_id.in_(bindparam("some", expanding=True)))
    .group_by(issue_facets.c.issue_id, issue_facets.c.facet)
)
_MORE_USERS = update(issues).where(issues.c.id == bindparam("row_id")).values(users=issues.c.users + bindparam("more"))


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
    users = {
        issue_id: {hashes[value] for facet, value in facets if facet == USER} for issue_id, facets in spans.items()
    }
    users = {issue_id: some for issue_id, some in users.items() if some}
    known_users = _known_users(db, users)
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
    came = Counter(key[0] for key, (value, _) in added.items() if key[1] == USER and value != OTHER)
    came.subtract({issue_id: len(known) for issue_id, known in known_users.items()})
    more = [{"row_id": issue_id, "more": number} for issue_id, number in sorted(came.items()) if number]
    if more:
        db.execute(_MORE_USERS, more)


def _known_users(db: Connection, users: Mapping[int, set[str]]) -> dict[int, set[str]]:
    """Return those of the users of a batch that issues have counted."""
    known: dict[int, set[str]] = {}
    pairs = [(issue_id, value_hash) for issue_id, some in sorted(users.items()) for value_hash in sorted(some)]
    for some_pairs in chunks(pairs, CHUNK):
        found = select(issue_facets.c.issue_id, issue_facets.c.value_hash).where(
            issue_facets.c.facet == USER,
            issue_facets.c.issue_id.in_({issue_id for issue_id, _ in some_pairs}),
            issue_facets.c.value_hash.in_({value_hash for _, value_hash in some_pairs}),
        )
        for issue_id, value_hash in db.execute(found):
            if value_hash in users[issue_id]:
                known.setdefault(issue_id, set()).add(value_hash)
    return known


def count_users(db: Connection, issue_ids: Collection[int]) -> None:
    """Count the users of issues anew, where facets were taken out or joined."""
    counted = (
        select(func.count())
        .where(issue_facets.c.issue_id == issues.c.id, issue_facets.c.facet == USER, issue_facets.c.value != OTHER)
        .scalar_subquery()
    )
    for some in chunks(sorted(issue_ids), CHUNK):
        db.execute(update(issues).where(issues.c.id.in_(some)).values(users=counted))


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
    most = {pair: MAX_USERS if pair[1] == USER else MAX_VALUES for pair in offered}
    room = {
        pair: _Room(max(0, most[pair] - stored.get(pair, 0)))
        for pair, values in offered.items()
        if stored.get(pair, 0) + values > most[pair]
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
