"""How many events of the issues that a search found hold what was searched for."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from snaglist.kernel import Call
from snaglist.plugins.issues.search.finding import MOST_FOUND, Searched, stored_texts
from snaglist.plugins.issues.search.matching import Matching, matching_of
from snaglist.plugins.issues.search.words import PHRASE, PREFIX, WORD, Term
from snaglist.plugins.issues.tables import issues, occurrences
from snaglist.plugins.issues.values.index import found_by_index, newest
from snaglist.plugins.system import rows

MOST = 1_000  # events that are looked at


def count_hits(call: Call, ids: Sequence[int], searched: Searched) -> dict[int, dict[str, Any]]:
    """Return, by issue, how many events match: `events`, and `exact`; no entry where the issue itself has it all."""
    terms, complete = searched.terms, searched.complete
    wanted = matching_of(call, ids, terms)
    by_terms: defaultdict[Matching, list[int]] = defaultdict(list)
    for issue_id, matching in wanted.items():
        by_terms[matching].append(issue_id)
    found: dict[int, dict[str, Any]] = {}
    for matching, issue_ids in by_terms.items():
        narrowed = matching.narrowed(call.db)
        if narrowed is None:
            continue
        # The newest first, so that a word that nearly all events have costs no more than others.
        columns = (occurrences.c.id, occurrences.c.issue_id)
        inside = newest(call.db, occurrences, narrowed, MOST_FOUND, *columns).subquery()
        statement = select(inside.c.id).where(inside.c.issue_id.in_(issue_ids)).limit(MOST + 1)
        candidates = [row.id for row in found_by_index(call.db, statement)]
        counted = Counter(text.issue_id for text in stored_texts(call, candidates[:MOST]) if matching.holds(text))
        exact = len(candidates) <= MOST and complete
        found.update({issue_id: {"events": counted[issue_id], "exact": exact} for issue_id in issue_ids})
    for issue_id in _by_title(call, [issue_id for issue_id, hits in found.items() if not hits["events"]], terms):
        del found[issue_id]
    return found


def _by_title(call: Call, ids: Sequence[int], terms: Sequence[Term]) -> list[int]:
    """Return the issues that show parts of words: they were found by these, and not by their events."""
    words = [term.folded for term in terms if term.kind in (WORD, PHRASE, PREFIX) and not term.without]
    found = rows.among(call.db, select(issues.c.id, issues.c.search_text), issues.c.id, ids)
    return [row.id for row in found if all(word in row.search_text for word in words)]
