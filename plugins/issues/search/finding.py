"""Which issues a text finds: each of its terms stands in what the issue shows of itself, or in one of its events.

The index of words narrows; what it cannot tell, such as whether words stand beside each other, is looked up in the
events that it leaves. Of a term that is in very many events only the newest are looked at, and the answer says so.

In a time range only its events count. What an issue shows of itself holds for all of its events, but for the words that
are in events outside of the range alone: the message that it shows is the one of its latest event.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Select, and_, case, false, func, not_, or_, select

from snaglist.kernel import Call
from snaglist.kernel.database import chunks, contains
from snaglist.plugins.issues.facets import USER as USER_FACET
from snaglist.plugins.issues.search.fields import has_facet, text_conditions
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.search.words import PHRASE, PREFIX, STACK, USER, VALUE, Term, read_terms
from snaglist.plugins.issues.tables import grouping_texts, groupings, issue_facets, issues, occurrences
from snaglist.plugins.issues.values.index import found_by_index, newest, rows_with
from snaglist.plugins.issues.values.reading import TEXTS, StoredText, has_fixed_phrase

MOST_FOUND = 10_000  # events, for one word
MOST_LOOKED_AT = 5_000  # events whose texts are read, for one term
CHUNK = 500
_found = grouping_texts.alias("found_texts")


@dataclass(slots=True)
class Searched:
    """What a text finds in a range; `complete` is false when not all events that may hold a term were looked at."""

    terms: Sequence[Term]
    scope: Scope
    conditions: list[ColumnElement[bool]] = field(default_factory=list)
    complete: bool = True


@dataclass(slots=True)
class _Holders:
    """The issues of events that hold a term: of those in the range, and of those outside of it."""

    inside: set[int] = field(default_factory=set)
    outside: set[int] = field(default_factory=set)


def search(call: Call, text: str, scope: Scope) -> Searched:
    """Return which issues a text finds in a range; needs an open transaction."""
    searched = Searched(read_terms(text), scope)
    for term in searched.terms:
        found = _condition(call, term, searched)
        searched.conditions.append(not_(found) if term.without else found)
    return searched


def _condition(call: Call, term: Term, searched: Searched) -> ColumnElement[bool]:
    db = call.db
    if term.kind == USER:
        return _of_user(term.text, searched)
    if term.kind == STACK:
        if not term.words:
            return false()
        return issues.c.id.in_(_of_texts(rows_with(db, grouping_texts, term.words)))
    if term.kind == VALUE:
        return issues.c.id.in_(_with_value(call, term, searched).inside) if term.words else false()
    if not term.words:
        return _shown(call, term)
    if term.kind == PHRASE:
        found = _with_phrase(call, term, searched)
        return or_(_shown(call, term, found.outside - found.inside), issues.c.id.in_(found.inside))
    prefix = term.kind == PREFIX
    found = _of_events(call, rows_with(db, occurrences, term.words, prefix=prefix), searched)
    return or_(
        _shown(call, term, found.outside - found.inside),
        issues.c.id.in_(sorted(found.inside)),
        issues.c.id.in_(_of_texts(rows_with(db, grouping_texts, term.words, prefix=prefix))),
    )


def _shown(call: Call, term: Term, outside: Collection[int] = ()) -> ColumnElement[bool]:
    """Test whether an issue shows a term itself, which is in events `outside` of the range of some."""
    shown = contains(issues.c.search_text, term.folded)
    if outside:
        shown = and_(shown, issues.c.id.not_in(sorted(outside)))
    return or_(shown, *text_conditions(call, term.text))


def _of_user(user: str, searched: Searched) -> ColumnElement[bool]:
    scope = searched.scope
    known = has_facet(USER_FACET, user)
    if not scope:
        return issues.c.id.in_(known)
    all_inside = known.where(scope.holds(issue_facets.c.first_seen), scope.holds(issue_facets.c.last_seen))
    mine = select(occurrences.c.issue_id, occurrences.c.occurred_at).where(occurrences.c.user_name == user)
    latest = mine.order_by(occurrences.c.id.desc()).limit(MOST_FOUND).subquery()
    here = select(latest.c.issue_id).where(scope.holds(latest.c.occurred_at))
    return or_(issues.c.id.in_(all_inside), issues.c.id.in_(here))


def _of_events(call: Call, ids: Select[int], searched: Searched) -> _Holders:
    """Return the issues of the newest events that an index finds: once, where a list asks for them several times."""
    columns = (occurrences.c.issue_id, occurrences.c.occurred_at)
    found = newest(call.db, occurrences, ids, MOST_FOUND + 1, *columns).subquery()
    inside = func.sum(case((searched.scope.holds(found.c.occurred_at), 1), else_=0))
    rows = found_by_index(call.db, select(found.c.issue_id, func.count(), inside).group_by(found.c.issue_id))
    searched.complete &= sum(events for _, events, _ in rows) <= MOST_FOUND
    return _Holders(
        {issue_id for issue_id, _, number in rows if number},
        {issue_id for issue_id, events, number in rows if number < events},
    )


def _of_texts(ids: Select[int]) -> Select[int]:
    found = ids.subquery()
    return (
        select(groupings.c.issue_id)
        .join_from(found, grouping_texts, grouping_texts.c.id == found.c.id)
        .join(groupings, groupings.c.id == grouping_texts.c.grouping_id)
    )


def _with_value(call: Call, term: Term, searched: Searched) -> _Holders:
    ids = _newest(call, rows_with(call.db, occurrences, term.words), searched)
    return _sorted((text for text in stored_texts(call, ids) if text.has_value(term.folded)), searched.scope)


def _with_phrase(call: Call, term: Term, searched: Searched) -> _Holders:
    db, ids = call.db, set[int]()
    for word in term.words:  # each that is a value in some event; the others are fixed in its layout
        ids.update(_newest(call, rows_with(db, occurrences, [word]), searched))
    texts = (text for text in stored_texts(call, sorted(ids)) if text.has_phrase(term.folded))
    found = _sorted(texts, searched.scope)
    fixed = select(groupings.c.issue_id, _found.c.body).join(groupings, groupings.c.id == _found.c.grouping_id)
    fixed = fixed.where(_found.c.id.in_(rows_with(db, grouping_texts, term.words))).limit(MOST_LOOKED_AT)
    found.inside.update(issue_id for issue_id, body in db.execute(fixed) if has_fixed_phrase(body, term.folded))
    return found


def _sorted(texts: Iterable[StoredText], scope: Scope) -> _Holders:
    found = _Holders()
    for text in texts:
        (found.inside if scope.has(text.row.occurred_at) else found.outside).add(text.issue_id)
    return found


def _newest(call: Call, ids: Select[int], searched: Searched) -> list[int]:
    """Return the ids of the newest events that an index finds."""
    found = ids.subquery()
    latest = select(found.c.id).order_by(found.c.id.desc()).limit(MOST_LOOKED_AT + 1)
    some = [row.id for row in found_by_index(call.db, latest)]
    searched.complete &= len(some) <= MOST_LOOKED_AT
    return some[:MOST_LOOKED_AT]


def stored_texts(call: Call, ids: Sequence[int]) -> Iterable[StoredText]:
    """Give what is stored of the texts of events."""
    for some in chunks(ids, CHUNK):
        for row in call.db.execute(TEXTS.where(occurrences.c.id.in_(some))):
            yield StoredText(row)
