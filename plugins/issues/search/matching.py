"""Whether an event holds what was searched for: one test for all databases, which their index only makes quicker."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, literal, select

from snaglist.kernel import Call, key
from snaglist.plugins.issues.search.fields import text_conditions
from snaglist.plugins.issues.search.words import PHRASE, PREFIX, SAID, STACK, USER, VALUE, WORD, Term
from snaglist.plugins.issues.tables import grouping_texts, groupings, issues, occurrences
from snaglist.plugins.issues.values.contexts import UNINDEXED
from snaglist.plugins.issues.values.index import rows_with
from snaglist.plugins.issues.values.reading import StoredText, has_fixed_phrase
from snaglist.plugins.issues.values.storing import LAYOUT
from snaglist.plugins.issues.values.storing import STACK as STACK_TEXT
from snaglist.plugins.issues.values.words import has_word, index_prefix, index_words, words_of
from snaglist.plugins.system import rows


@dataclass(frozen=True, slots=True)
class Matching:
    """What an event must hold, `terms`, beside what its issue shows of itself.

    `words` are those of the terms that are values of the event, as no layout of the issue has them; `prefix` says that
    the last one may go on. `untold`: what events say is not stored, as they are of a version before 0.4.
    """

    terms: tuple[Term, ...]
    words: tuple[str, ...] = ()
    prefix: bool = False
    untold: bool = False

    def narrowed(self, db: Connection) -> Select[int] | None:
        """Select the ids of events that may hold it; None where no index tells."""
        return rows_with(db, occurrences, self.words, prefix=self.prefix) if self.words else None

    def holds(self, text: StoredText) -> bool:
        """Tell whether an event holds it."""
        return all(_holds(term, text) != term.without for term in self.terms)


def matching(terms: Sequence[Term], fixed: Set[str]) -> Matching:
    """Return what events must hold of which some have the words `fixed` in their layouts, as the index has them."""
    words: dict[str, None] = {}
    begin: str | None = None
    for term in terms:
        if term.without or term.kind == STACK:
            continue
        if term.kind == PREFIX:
            written = index_prefix(term.words[0])
            if begin is None and not any(word.startswith(written) for word in fixed):
                begin = term.words[0]
        elif term.kind == VALUE:
            if term.folded not in UNINDEXED:
                words.update(dict.fromkeys(term.words))
        else:
            words.update(dict.fromkeys(word for word in term.words if not has_word(fixed, word)))
    listed = [word for word in words if word != begin]
    return Matching(tuple(terms), (*listed, begin) if begin else tuple(listed), begin is not None)


def _holds(term: Term, text: StoredText) -> bool:
    if term.kind == USER:
        return bool(text.row.user_name == term.text)
    if term.kind == VALUE:
        return text.has_value(term.folded)
    return _said(term, text)


def is_part_of_word(term: Term, text: str) -> bool:
    """Tell whether a word that stands in a text is only a part of one there."""
    if term.kind != WORD or not term.words:
        return False
    return not has_word(frozenset(index_words(words_of(text)).split()), term.words[0])


class _Layout:
    """What is fixed in the messages of some events."""

    def __init__(self, words: frozenset[str], body: str) -> None:
        self.index_words, self._body = words, body

    def has_phrase(self, folded: str) -> bool:
        """Tell whether a folded text stands in it."""
        return has_fixed_phrase(self._body, folded)


def _said(term: Term, text: StoredText | _Layout) -> bool:
    if term.kind == PREFIX:
        begin = index_prefix(term.words[0])
        return any(word.startswith(begin) for word in text.index_words)
    if term.kind == WORD and term.words:
        return has_word(text.index_words, term.words[0])
    return text.has_phrase(term.folded)


def matching_of(call: Call, issue_ids: Sequence[int], terms: Sequence[Term]) -> dict[int, Matching]:
    """Return, by issue, what its events must hold; no entry for an issue of which all events hold all of it.

    They do where each of its layouts does: it has several after a merge, or when learning joined messages. What stands
    in tags, files, the stack or the exception of an issue is taken to be that of all of its events. What is not wanted
    is in no event of the issues that a search finds, but has to be told apart from others in the events of one.
    """
    asked = [term for term in terms if term.kind != STACK]
    said = [term for term in asked if term.kind in SAID and not term.without]
    own = _with_own(call, issue_ids, said)
    layouts, stacks = _fixed(call.db, issue_ids, said), _stacks(call.db, issue_ids)
    found: dict[int, Matching] = {}
    for issue_id in issue_ids:
        stack, known = stacks.get(issue_id, frozenset()), layouts.get(issue_id)
        fixed = known or _Fixed()
        left = tuple(
            term
            for term in asked
            if term.without or not (issue_id in own.get(term, ()) or term in fixed.everywhere or _within(term, stack))
        )
        if left:
            found[issue_id] = replace(matching(left, fixed.words), untold=known is None)
    return found


def _within(term: Term, words: Set[str]) -> bool:
    plain = term.kind in (WORD, PHRASE) and bool(term.words)
    return plain and all(has_word(words, word) for word in term.words)


def _with_own(call: Call, issue_ids: Sequence[int], said: Sequence[Term]) -> Mapping[Term, Set[int]]:
    """Return, by term, the issues that show its text themselves: in their tags, files, channel or exception."""
    found: dict[Term, set[int]] = {term: set() for term in said}
    for term in said:
        for test in text_conditions(call, term.text):
            having = rows.among(call.db, select(issues.c.id).where(test), issues.c.id, issue_ids)
            found[term].update(row.id for row in having)
    shown = select(issues.c.id, issues.c.exception_class, issues.c.source_frame, issues.c.channel)
    for issue_id, *texts in rows.among(call.db, shown, issues.c.id, issue_ids) if said else ():
        keys = [key(text) for text in texts if text]
        for term in said:
            if any(term.folded in one for one in keys):
                found[term].add(issue_id)
    return found


@dataclass(slots=True)
class _Fixed:
    """What the layouts of an issue have: the words of any, and the terms that each of them has."""

    words: set[str] = field(default_factory=set)
    everywhere: set[Term] = field(default_factory=set)


def _fixed(db: Connection, issue_ids: Sequence[int], said: Sequence[Term]) -> Mapping[int, _Fixed]:
    found: dict[int, _Fixed] = {}
    phrases = any(term.kind == PHRASE or not term.words for term in said)
    bodies = grouping_texts.c.body if phrases else literal("")  # each as long as all of its words
    for issue_id, words, body in _texts(db, issue_ids, LAYOUT, grouping_texts.c.words, bodies):
        layout = _Layout(frozenset((words or "").split()), body)
        fixed = found.setdefault(issue_id, _Fixed(everywhere=set(said)))
        fixed.words |= layout.index_words
        fixed.everywhere = {term for term in fixed.everywhere if _said(term, layout)}
    return found


def _stacks(db: Connection, issue_ids: Sequence[int]) -> Mapping[int, Set[str]]:
    """Return the words of the stacks of issues, as the index has them."""
    found: dict[int, set[str]] = {}
    for issue_id, words in _texts(db, issue_ids, STACK_TEXT, grouping_texts.c.words):
        found.setdefault(issue_id, set()).update((words or "").split())
    return found


def _texts(db: Connection, issue_ids: Sequence[int], kind: str, *columns: ColumnElement[Any]) -> list[Any]:
    statement = (
        select(groupings.c.issue_id, *columns)
        .join_from(groupings, grouping_texts, grouping_texts.c.grouping_id == groupings.c.id)
        .where(grouping_texts.c.kind == kind)
    )
    return rows.among(db, statement, groupings.c.issue_id, issue_ids)
