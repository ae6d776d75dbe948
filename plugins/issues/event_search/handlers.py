"""HTTP of events: a page of an issue's events, all that match as a file, their values."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Invalid, NotFound, Reply, paging, times
from snaglist.plugins.issues.event_search.counting import count_values
from snaglist.plugins.issues.event_search.export import export
from snaglist.plugins.issues.event_search.finding import Wanted, find_events, place_of, read_wanted
from snaglist.plugins.issues.ids import resolve_issue_id
from snaglist.plugins.issues.search.occurrence import load_occurrences
from snaglist.plugins.issues.search.sorting import is_number, not_a_cursor
from snaglist.plugins.issues.search.walking import Place

_WALKS = ("cursor", "older_than", "newer_than")


def events(call: Call) -> Reply | Mapping[str, Any]:
    """Answer a page of the events of an issue that match, newest first, or all of them as a file."""
    query = call.query
    walks = [name for name in _WALKS if name in query]
    if len(walks) > 1:
        raise Invalid(f"{walks[1]}: cannot be combined with {walks[0]}")
    with call.transaction(write=False):
        issue_id = resolve_issue_id(call.db, query["id"])
        wanted = read_wanted(call, issue_id, query)
        if query["format"] != "json":
            if walks:
                raise Invalid(f"{walks[0]}: cannot be combined with format")
            return export(call, wanted, query["format"])
        return _page(call, wanted)


def _page(call: Call, wanted: Wanted) -> dict[str, Any]:
    query, limit = call.query, call.query["limit"]
    scope = f"events of {wanted.issue_id}"
    newest_first = "newer_than" not in query
    after = None
    if "cursor" in query:
        after = _place(paging.decode_cursor(query["cursor"], scope))
    elif walks := [query[name] for name in ("older_than", "newer_than") if name in query]:
        after = place_of(call.db, wanted.issue_id, walks[0])
        if after is None:
            raise NotFound("Unknown occurrence of this issue.")
    found = find_events(call, wanted, limit, after=after, newest_first=newest_first)
    ids, places = found.ids[:limit], found.places[:limit]
    going_on = found.last if not found.complete else places[-1] if len(found.ids) > limit else None
    shown = load_occurrences(call, wanted.issue_id, ids if newest_first else ids[::-1])
    cursor = paging.encode_cursor(scope, [going_on.occurred_at, going_on.id]) if going_on and newest_first else None
    return {
        "data": shown,
        "meta": {
            "limit": limit,
            "next_cursor": cursor,
            "looked_at": found.looked_at,
            "complete": found.complete,
            "searched_to": found.last.occurred_at if found.last else None,
        },
    }


def _place(values: list[Any]) -> Place:
    if len(values) != 2 or not (times.is_time(values[0]) and is_number(values[1])):
        raise not_a_cursor()
    return Place(values[0], values[1])


def values(call: Call) -> Mapping[str, Any]:
    """Answer what values the events of an issue have."""
    issue_id = resolve_issue_id(call.db, call.query["id"])
    return count_values(call, read_wanted(call, issue_id, call.query))
