"""Which issue a fingerprint leads to; unknown fingerprints make a new one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from snaglist.kernel import Call
from snaglist.plugins.issues.events import Event, EventSource
from snaglist.plugins.issues.grouping import GroupingKey, grouping_key
from snaglist.plugins.issues.grouping.version_1 import key_of_version_1
from snaglist.plugins.issues.grouping.version_2 import key_of_version_2
from snaglist.plugins.issues.learning import NewGrouping, context_of, learn_groupings
from snaglist.plugins.issues.storing import queries
from snaglist.plugins.issues.storing.queries import Place
from snaglist.plugins.issues.storing.samples import sample_fields
from snaglist.plugins.issues.storing.tally import Group
from snaglist.plugins.issues.storing.texts import clean, clean_json

# Key functions, newest first. The older ones find the issue of an event whose newest key is unknown, so that
# an upgrade of the rules orphans nothing.
GENERATIONS: tuple[Callable[[Event, int | None], GroupingKey], ...] = (
    grouping_key,
    key_of_version_2,
    key_of_version_1,
)


@dataclass(frozen=True, slots=True)
class Places:
    """Places by fingerprint, and the ids of the issues that were made."""

    by_fingerprint: Mapping[str, Place]
    new_issues: frozenset[int]


def find_or_make(call: Call, source: EventSource, groups: Mapping[str, Group]) -> Places:
    """Return where each group goes, with the groupings locked.

    Of two writers that make the same grouping at once the second one waits, then takes the first one's issue.
    """
    db, now = call.db, call.now
    places = queries.find_places(db, groups)
    missing = sorted(groups.keys() - places.keys())
    if not missing:
        return Places(places, frozenset())
    inherited = _inherit(db, source, [groups[fingerprint] for fingerprint in missing])
    made = queries.add_issues(
        db,
        [_issue_row(groups[fingerprint], source, now) for fingerprint in missing if fingerprint not in inherited],
    )
    leads_to = {**inherited, **made}
    queries.add_groupings(
        db, [_grouping_row(groups[fingerprint], leads_to[fingerprint], source, now) for fingerprint in missing]
    )
    places |= queries.find_places(db, missing)
    lost = {issue_id for fingerprint, issue_id in made.items() if places[fingerprint].issue_id != issue_id}
    queries.drop_issues(db, lost)
    fresh = frozenset(made.values()) - lost
    new = [
        NewGrouping(places[fingerprint].grouping_id, clean(found[0]), clean(found[1]))
        for fingerprint, issue_id in leads_to.items()
        if places[fingerprint].issue_id == issue_id and (found := context_of(groups[fingerprint].key))
    ]
    if learn_groupings(call, new, fresh):
        places = queries.find_places(db, groups)
        fresh &= {place.issue_id for place in places.values()}
    return Places(places, fresh)


def _inherit(db: Connection, source: EventSource, groups: list[Group]) -> dict[str, int]:
    """Return the issues that keys of earlier generations lead to, by newest fingerprint."""
    found: dict[str, int] = {}
    for older_key in GENERATIONS[1:]:
        older = {
            group.key.fingerprint: older_key(group.latest, source.module_id).fingerprint
            for group in groups
            if group.key.fingerprint not in found
        }
        places = queries.find_places(db, set(older.values()))
        found.update((newest, places[old].issue_id) for newest, old in older.items() if old in places)
    return found


def _issue_row(group: Group, source: EventSource, now: str) -> dict[str, Any]:
    return {
        "origin": "ingested",
        "kind": "error",
        "module_id": source.module_id,
        "fingerprint": group.key.fingerprint,
        "count": 0,
        "stored_occurrences": 0,
        "first_seen": group.span.first,
        "last_seen": group.span.last,
        "status": "open",
        "created_at": now,
        "updated_at": now,
        **sample_fields(group.latest),
    }


def _grouping_row(group: Group, issue_id: int, source: EventSource, now: str) -> dict[str, Any]:
    return {
        "issue_id": issue_id,
        "module_id": source.module_id,
        "fingerprint": group.key.fingerprint,
        "fingerprint_version": group.key.version,
        "key": clean(group.key.key),
        "parts": clean_json(group.key.parts),
        "count": 0,
        "first_seen": group.span.first,
        "last_seen": group.span.last,
        "created_at": now,
    }
