"""Which events of the issues that a search found hold what was searched for."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sqlalchemy import select

from snaglist.kernel import Call
from snaglist.plugins.issues.search.finding import MOST_FOUND, Searched, stored_texts
from snaglist.plugins.issues.search.matching import Matching, matching_of
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.search.words import PHRASE, PREFIX, WORD, Term
from snaglist.plugins.issues.tables import issues, occurrences
from snaglist.plugins.issues.values.index import found_by_index, newest
from snaglist.plugins.system import rows

MOST = 1_000  # events that are looked at
MOST_TIMES = 2_000  # where the time of each is wanted


@dataclass(slots=True)
class Hits:
    """The events that hold what was searched for: their times by issue, and the issues of which all events do."""

    events: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    whole: list[int] = field(default_factory=list)

    def times(self) -> Iterator[str]:
        """Give the times of the events."""
        return chain.from_iterable(self.events.values())


def count_hits(call: Call, ids: Sequence[int], searched: Searched) -> dict[int, dict[str, Any]]:
    """Return, by issue, how many events match: `events`, and `exact`; no entry where the issue itself has it all."""
    found: dict[int, dict[str, Any]] = {}
    for matching, issue_ids in _by_matching(call, ids, searched.terms).items():
        candidates = _candidates(call, matching, issue_ids, searched.scope, MOST)
        if candidates is None:
            continue
        texts = stored_texts(call, candidates[:MOST])
        counted = Counter(text.issue_id for text in texts if matching.holds(text))
        exact = len(candidates) <= MOST and searched.complete
        found.update({issue_id: {"events": counted[issue_id], "exact": exact} for issue_id in issue_ids})
    for issue_id in _by_title(call, [issue_id for issue_id, hits in found.items() if not hits["events"]], searched):
        del found[issue_id]
    return found


def find_hits(call: Call, ids: Sequence[int], searched: Searched, span: Scope) -> Hits | None:
    """Return the events in a range, of issues, that match; None where there are too many to look at."""
    if not searched.complete:
        return None
    by_matching = _by_matching(call, ids, searched.terms)
    partly = {issue_id for some in by_matching.values() for issue_id in some}
    hits = Hits(whole=[issue_id for issue_id in ids if issue_id not in partly])
    left = MOST_TIMES
    for matching, issue_ids in by_matching.items():
        candidates = _candidates(call, matching, issue_ids, span, left)
        if candidates is None:
            hits.whole += issue_ids
            continue
        left -= len(candidates)
        if left < 0:
            return None
        for text in stored_texts(call, candidates):
            if matching.holds(text):
                hits.events[text.issue_id].append(text.row.occurred_at)
        hits.whole += _by_title(call, [issue_id for issue_id in issue_ids if issue_id not in hits.events], searched)
    return hits


def _by_matching(call: Call, ids: Sequence[int], terms: Sequence[Term]) -> Mapping[Matching, list[int]]:
    """Return the issues by what their events must hold."""
    found: defaultdict[Matching, list[int]] = defaultdict(list)
    for issue_id, matching in matching_of(call, ids, terms).items():
        found[matching].append(issue_id)
    return found


def _candidates(call: Call, matching: Matching, issue_ids: Sequence[int], span: Scope, most: int) -> list[int] | None:
    """Return up to `most` events of issues in a range that may match, and one more; None where no index tells."""
    narrowed = matching.narrowed(call.db)
    if narrowed is None:
        return None
    # The newest first, so that a word that nearly all events have costs no more than others.
    columns = (occurrences.c.id, occurrences.c.issue_id, occurrences.c.occurred_at)
    inside = newest(call.db, occurrences, narrowed, MOST_FOUND, *columns).subquery()
    tests = (inside.c.issue_id.in_(issue_ids), span.holds(inside.c.occurred_at))
    return [row.id for row in found_by_index(call.db, select(inside.c.id).where(*tests).limit(most + 1))]


def _by_title(call: Call, ids: Sequence[int], searched: Searched) -> list[int]:
    """Return the issues that show parts of words: they were found by these, and not by their events."""
    words = [term.folded for term in searched.terms if term.kind in (WORD, PHRASE, PREFIX) and not term.without]
    found = rows.among(call.db, select(issues.c.id, issues.c.search_text), issues.c.id, ids)
    return [row.id for row in found if all(word in row.search_text for word in words)]
