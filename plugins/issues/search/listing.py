"""The answers of `errors` and `groups`: one page of issues and what is known about the whole list."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snaglist.kernel import Call, Invalid, paging
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.contract import Condition
from snaglist.plugins.issues.search import queries
from snaglist.plugins.issues.search.fields import added_words, headings
from snaglist.plugins.issues.search.filters import NONE, asked, conditions, given
from snaglist.plugins.issues.search.finding import Searched, search
from snaglist.plugins.issues.search.hits import count_hits
from snaglist.plugins.issues.search.rows import load_issues
from snaglist.plugins.issues.search.scope import Scope, read_scope
from snaglist.plugins.issues.search.sorting import Position, Sort, resume, sort_by
from snaglist.plugins.issues.search.stack import without_libraries
from snaglist.plugins.issues.tables import issues

BATCH = 500  # ids in one statement
SAMPLES = ("sample_message", "sample_stack", "sample_context")


@dataclass(frozen=True, slots=True)
class Listing:
    """A prepared search: what to look for, in which order, what to show."""

    where: Sequence[Condition]
    sort: Sort
    scope: Scope
    samples: Collection[str]
    skip_vendor: bool
    after: Position | None = None
    searched: Searched | None = None


def prepare(call: Call, sort: str, samples: Collection[str]) -> Listing:
    """Read the query of a search; needs an open transaction."""
    scope = read_scope(call.query)
    after = None
    if "cursor" in call.query:
        values = paging.decode_cursor(call.query["cursor"], _cursor_scope(call, sort, scope))
        order, after = resume(sort, scope, call.now, values)
    else:
        order = sort_by(sort, scope, call.now)
    text = call.query.get("q")
    searched = search(call, text, scope) if text else None
    where = conditions(call, call.query, scope, searched)
    return Listing(where, order, scope, samples, bool(call.query.get("skip_vendor")), after, searched)


def one_page(call: Call, sort: str, samples: Collection[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the issues of the page that the query asks for, and its `meta`."""
    if "cursor" in call.query and "page" in call.query:
        raise Invalid("page: cannot be combined with cursor")
    limit = _limit(call)
    number = call.query.get("page", 1)
    listing = prepare(call, sort, samples)
    offset = (number - 1) * limit
    total, exact, ids = _look(call, listing, queries.FEW * (offset + limit))
    if listing.after:
        counted: Mapping[str, Any] = {"total": None, "total_exact": False, "page": None, "limit": limit, "pages": None}
    else:
        counted = {**paging.meta(total, number, limit), "total_exact": exact}
    found = queries.page(call.db, listing.where, ids, listing.sort, limit + 1, offset, listing.after)
    shown = found[:limit]
    more = len(found) > limit
    values = listing.sort.cursor_values(shown[-1]) if more else []
    meta = {
        **counted,
        "next_cursor": paging.encode_cursor(_cursor_scope(call, sort, listing.scope), values) if more else None,
        "sort": sort,
        "scoped": bool(listing.scope),
        "skip_vendor": listing.skip_vendor,
    }
    added = {"columns": headings(call), "words": added_words(call)}
    meta |= {name: some for name, some in added.items() if some}
    if listing.searched is not None:
        terms = [term.shown() for term in listing.searched.terms]
        meta["search"] = {"terms": terms, "complete": listing.searched.complete}
    return show(call, listing, [position.id for position in shown]), meta


def matching_ids(call: Call, query: Mapping[str, Any]) -> list[int]:
    """Return the ids, ascending, of all issues that pass the filters; needs an open transaction."""
    where = conditions(call, query, read_scope(query))
    return list(queries.every_id(call.db, where, Sort(issues.c.id, descending=False)))


def show(call: Call, listing: Listing, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Return the issue objects of ids as the listing shows them."""
    trimmed = listing.skip_vendor and "sample_stack" in listing.samples
    samples = [*listing.samples, *(["exceptions"] if trimmed else [])]
    found = [issue for some in chunks(ids, BATCH) for issue in load_issues(call, some, listing.scope, samples)]
    if listing.searched is not None:
        hits = count_hits(call, ids, listing.searched)
        for issue in found:
            issue["matching"] = hits.get(issue["id"])
    if trimmed:
        for issue in found:
            issue["sample_stack"] = without_libraries(issue["sample_stack"], issue.pop("exceptions"))
    return found


def _look(call: Call, listing: Listing, few: int) -> tuple[int, bool, Sequence[int] | None]:
    """Return how many issues there are, whether that is exact, and the ids where they are few.

    Few are found first and then sorted. Of more, the first in order are soon found by following the sort's index.
    """
    where, few = listing.where, min(few, queries.COUNTED)
    total = _known_total(call, where)
    if total is not None:
        return total, True, queries.find(call.db, where, few) if total < few else None
    ids = queries.find(call.db, where, few)
    if len(ids) < few:
        return len(ids), True, ids
    if listing.after:  # then nobody asks how many there are
        return few, False, None
    total = queries.count(call.db, where, queries.COUNTED + 1)
    return min(total, queries.COUNTED), total <= queries.COUNTED, None


def _known_total(call: Call, where: Sequence[Condition]) -> int | None:
    """Return how many issues there are where counters or an index tell it."""
    words = given(call, call.query)
    if len(words) == len(where) and all(word.name in queries.TOTALS for word, _ in words):
        return queries.sum_totals(call.db, {word.name: value for word, value in words})
    if len(words) == len(where) == 1 and words[0][0].indexed and words[0][1] not in (NONE, [NONE]):
        return queries.count(call.db, where, None)
    return None


def _limit(call: Call) -> int:
    limit: int = call.query.get("limit", call.setting("pagination.default_limit"))
    highest: int = call.setting("pagination.max_limit")
    if limit > highest:
        raise Invalid(f"limit: must be from 1 to {highest}")
    return limit


def _cursor_scope(call: Call, sort: str, scope: Scope) -> str:
    return json.dumps([asked(call, call.query, scope), sort], sort_keys=True)
