"""Which issues a text finds: each of its terms stands in what the issue shows of itself, or in one of its events.

The index of words narrows; what it cannot tell, such as whether words stand beside each other, is looked up in the
events that it leaves. Of a term that is in very many events only the newest are looked at, and the answer says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Select, false, func, not_, or_, select

from snaglist.kernel import Call
from snaglist.kernel.database import chunks, contains
from snaglist.plugins.issues.facets import USER as USER_FACET
from snaglist.plugins.issues.search.fields import has_facet, text_conditions
from snaglist.plugins.issues.search.words import PHRASE, PREFIX, STACK, USER, VALUE, Term, read_terms
from snaglist.plugins.issues.tables import grouping_texts, groupings, issues, occurrences
from snaglist.plugins.issues.values.index import found_by_index, newest, rows_with
from snaglist.plugins.issues.values.layouts import SEPARATOR
from snaglist.plugins.issues.values.reading import TEXTS, StoredText
from snaglist.plugins.issues.values.storing import LAYOUT

MOST_FOUND = 10_000  # events, for one word
MOST_LOOKED_AT = 5_000  # events whose texts are read, for one term
CHUNK = 500
_found = grouping_texts.alias("found_texts")


@dataclass(slots=True)
class Searched:
    """What a text finds; `complete` is false when not all events that may hold a term were looked at."""

    terms: Sequence[Term]
    conditions: list[ColumnElement[bool]] = field(default_factory=list)
    complete: bool = True


def search(call: Call, text: str) -> Searched:
    """Return which issues a text finds; needs an open transaction."""
    searched = Searched(read_terms(text))
    for term in searched.terms:
        found = _condition(call, term, searched)
        searched.conditions.append(not_(found) if term.without else found)
    return searched


def _condition(call: Call, term: Term, searched: Searched) -> ColumnElement[bool]:
    db = call.db
    if term.kind == USER:
        return issues.c.id.in_(has_facet(USER_FACET, term.text))
    if term.kind == STACK:
        if not term.words:
            return false()
        return issues.c.id.in_(_of_texts(rows_with(db, grouping_texts, term.words)))
    if term.kind == VALUE:
        return issues.c.id.in_(_with_value(call, term, searched)) if term.words else false()
    shown = or_(contains(issues.c.search_text, term.folded), *text_conditions(call, term.text))
    if not term.words:
        return shown
    if term.kind == PHRASE:
        return or_(shown, issues.c.id.in_(_with_phrase(call, term, searched)))
    prefix = term.kind == PREFIX
    return or_(
        shown,
        issues.c.id.in_(_of_events(call, rows_with(db, occurrences, term.words, prefix=prefix), searched)),
        issues.c.id.in_(_of_texts(rows_with(db, grouping_texts, term.words, prefix=prefix))),
    )


def _of_events(call: Call, ids: Select[int], searched: Searched) -> list[int]:
    """Return the issues of the newest events that an index finds: once, where a list asks for them several times."""
    found = newest(call.db, occurrences, ids, MOST_FOUND + 1, occurrences.c.issue_id).subquery()
    rows = found_by_index(call.db, select(found.c.issue_id, func.count()).group_by(found.c.issue_id))
    searched.complete &= sum(events for _, events in rows) <= MOST_FOUND
    return sorted(issue_id for issue_id, _ in rows)


def _of_texts(ids: Select[int]) -> Select[int]:
    found = ids.subquery()
    return (
        select(groupings.c.issue_id)
        .join_from(found, grouping_texts, grouping_texts.c.id == found.c.id)
        .join(groupings, groupings.c.id == grouping_texts.c.grouping_id)
    )


def _with_value(call: Call, term: Term, searched: Searched) -> set[int]:
    ids = _newest(call, rows_with(call.db, occurrences, term.words), searched)
    return {text.issue_id for text in stored_texts(call, ids) if text.has_value(term.folded)}


def _with_phrase(call: Call, term: Term, searched: Searched) -> set[int]:
    db, ids = call.db, set[int]()
    for word in term.words:  # each that is a value in some event; the others are fixed in its layout
        ids.update(_newest(call, rows_with(db, occurrences, [word]), searched))
    found = {text.issue_id for text in stored_texts(call, sorted(ids)) if text.has_phrase(term.folded)}
    fixed = select(groupings.c.issue_id, _found.c.kind, _found.c.body).join(
        groupings, groupings.c.id == _found.c.grouping_id
    )
    fixed = fixed.where(_found.c.id.in_(rows_with(db, grouping_texts, term.words))).limit(MOST_LOOKED_AT)
    for issue_id, kind, body in db.execute(fixed):
        text = StoredText.fold(body.replace(SEPARATOR, " ") if kind == LAYOUT else body)
        if term.folded in text:
            found.add(issue_id)
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
