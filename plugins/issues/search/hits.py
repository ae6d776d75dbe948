"""Which events of the issues that a search found hold what was searched for."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sqlalchemy import Select, select

from snaglist.kernel import Call
from snaglist.plugins.issues.search.finding import MOST_FOUND, Searched, stored_texts
from snaglist.plugins.issues.search.matching import Matching, is_part_of_word, matching_of
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.search.walking import walk
from snaglist.plugins.issues.search.words import SAID, Term
from snaglist.plugins.issues.tables import issues, occurrences
from snaglist.plugins.issues.values.index import found_by_index, newest
from snaglist.plugins.issues.values.reading import StoredText
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


@dataclass(slots=True)
class _Look:
    """Events of a range, looked at one by one: `left` more may be, and `cut` are the issues with some that were not."""

    call: Call
    span: Scope
    left: int
    cut: set[int] = field(default_factory=set)

    def holding(self, matching: Matching, issue_ids: Sequence[int]) -> Iterator[StoredText]:
        """Give the events of issues that hold what was searched for."""
        narrowed = matching.narrowed(self.call.db)
        texts = self._walked(issue_ids) if narrowed is None else self._found(narrowed, issue_ids)
        return (text for text in texts if matching.holds(text))

    def _found(self, narrowed: Select[int], issue_ids: Sequence[int]) -> Iterable[StoredText]:
        # The newest first, so that a word that nearly all events have costs no more than others.
        columns = (occurrences.c.id, occurrences.c.issue_id, occurrences.c.occurred_at)
        inside = newest(self.call.db, occurrences, narrowed, MOST_FOUND, *columns).subquery()
        tests = (inside.c.issue_id.in_(issue_ids), self.span.holds(inside.c.occurred_at))
        statement = select(inside.c.id).where(*tests).limit(self.left + 1)
        ids = [row.id for row in found_by_index(self.call.db, statement)]
        if len(ids) > self.left:
            self.cut.update(issue_ids)
        ids = ids[: self.left]
        self.left -= len(ids)
        return stored_texts(self.call, ids)

    def _walked(self, issue_ids: Sequence[int]) -> Iterator[StoredText]:
        """Give the newest events: of issues with few at first, so that of most of them all are looked at."""
        columns = select(issues.c.id, issues.c.stored_occurrences)
        stored = rows.among(self.call.db, columns, issues.c.id, issue_ids)
        for issue_id in [row.id for row in sorted(stored, key=lambda row: (row.stored_occurrences, row.id))]:
            if not self.left:
                self.cut.add(issue_id)
                continue
            for text in walk(
                self.call.db, (occurrences.c.issue_id == issue_id, self.span.holds(occurrences.c.occurred_at))
            ):
                if not self.left:
                    self.cut.add(issue_id)
                    break
                self.left -= 1
                yield text


def count_hits(call: Call, ids: Sequence[int], searched: Searched) -> dict[int, dict[str, Any]]:
    """Return, by issue, how many events match: `events`, and `exact`; no entry where all of its events do."""
    found: dict[int, dict[str, Any]] = {}
    for matching, issue_ids in _by_matching(call, ids, searched.terms).items():
        look = _Look(call, searched.scope, MOST)
        counted = Counter(text.issue_id for text in look.holding(matching, issue_ids))
        by_title = _by_title(call, matching, [issue_id for issue_id in issue_ids if not counted[issue_id]])
        for issue_id in issue_ids:
            if issue_id not in by_title:
                exact = searched.complete and issue_id not in look.cut
                found[issue_id] = {"events": counted[issue_id], "exact": exact}
    return found


def find_hits(call: Call, ids: Sequence[int], searched: Searched, span: Scope) -> Hits | None:
    """Return the events in a range, of issues, that match; None where there are too many to look at."""
    if not searched.complete:
        return None
    by_matching = _by_matching(call, ids, searched.terms)
    partly = {issue_id for some in by_matching.values() for issue_id in some}
    hits = Hits(whole=[issue_id for issue_id in ids if issue_id not in partly])
    look = _Look(call, span, MOST_TIMES)
    for matching, issue_ids in by_matching.items():
        for text in look.holding(matching, issue_ids):
            hits.events[text.issue_id].append(text.row.occurred_at)
        if look.cut:
            return None
        hits.whole += _by_title(call, matching, [issue_id for issue_id in issue_ids if issue_id not in hits.events])
    return hits


def _by_matching(call: Call, ids: Sequence[int], terms: Sequence[Term]) -> Mapping[Matching, list[int]]:
    """Return the issues by what their events must hold."""
    found: defaultdict[Matching, list[int]] = defaultdict(list)
    for issue_id, matching in matching_of(call, ids, terms).items():
        if not all(term.without for term in matching.terms):  # else it would not have been found
            found[matching].append(issue_id)
    return found


def _by_title(call: Call, matching: Matching, ids: Sequence[int]) -> list[int]:
    """Return the issues that show parts of words: they were found by these, and not by their events.

    Whole words of a title are those of the latest event, which has been looked at as all others, if its text is stored.
    """
    wanted = [term for term in matching.terms if not term.without]
    if any(term.kind not in SAID for term in wanted):  # values and users are those of events
        return []
    found = rows.among(call.db, select(issues.c.id, issues.c.search_text), issues.c.id, ids)
    return [
        row.id
        for row in found
        if all(term.folded in row.search_text for term in wanted)
        and (matching.untold or any(is_part_of_word(term, row.search_text) for term in wanted))
    ]
