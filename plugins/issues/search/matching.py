"""Whether an event holds what was searched for: one test for all databases, which their index only makes quicker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Select, select

from snaglist.kernel import Call, key
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.search.fields import text_conditions
from snaglist.plugins.issues.search.words import PHRASE, PREFIX, STACK, USER, VALUE, WORD, Term
from snaglist.plugins.issues.tables import grouping_texts, groupings, issues, occurrences
from snaglist.plugins.issues.values.index import rows_with
from snaglist.plugins.issues.values.reading import StoredText
from snaglist.plugins.issues.values.storing import LAYOUT
from snaglist.plugins.issues.values.storing import STACK as STACK_TEXT
from snaglist.plugins.issues.values.words import has_word, index_prefix

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Matching:
    """What an event must hold, `terms`, beside what its issue shows of itself.

    `words` are those of the terms that no layout of the issue has, so that they are values of the event; `prefix` says
    that the last one may go on.
    """

    terms: tuple[Term, ...]
    words: tuple[str, ...] = ()
    prefix: bool = False

    def narrowed(self, db: Connection) -> Select[int] | None:
        """Select the ids of events that may hold it; None where no index tells."""
        return rows_with(db, occurrences, self.words, prefix=self.prefix) if self.words else None

    def holds(self, text: StoredText) -> bool:
        """Tell whether an event holds it."""
        return all(_holds(term, text) != term.without for term in self.terms)


def matching(terms: Sequence[Term], fixed: frozenset[str]) -> Matching:
    """Return what events must hold whose layouts have the words `fixed`, as the index has them."""
    words: dict[str, None] = {}
    begin: str | None = None
    for term in terms:
        if term.without or term.kind == STACK:
            continue
        if term.kind == PREFIX:
            written = index_prefix(term.words[0])
            if begin is None and not any(word.startswith(written) for word in fixed):
                begin = term.words[0]
        else:
            words.update(dict.fromkeys(word for word in term.words if not has_word(fixed, word)))
    listed = [word for word in words if word != begin]
    return Matching(tuple(terms), (*listed, begin) if begin else tuple(listed), begin is not None)


def _holds(term: Term, text: StoredText) -> bool:
    if term.kind == USER:
        return bool(text.row.user_name == term.text)
    if term.kind == VALUE:
        return text.has_value(term.folded)
    if term.kind == PREFIX:
        begin = index_prefix(term.words[0])
        return any(word.startswith(begin) for word in text.index_words)
    if term.kind == WORD and term.words:
        return has_word(text.index_words, term.words[0])
    return text.has_phrase(term.folded)


def matching_of(call: Call, issue_ids: Sequence[int], terms: Sequence[Term]) -> dict[int, Matching]:
    """Return, by issue, what its events must hold; no entry for an issue of which all events hold all of it.

    What stands in tags, files, the stack or the exception of an issue is taken to be that of all of its events.
    """
    asked = [term for term in terms if term.kind != STACK]
    own = {term: _with_own(call, issue_ids, term) for term in asked if not term.without}
    layouts, stacks = _fixed(call.db, issue_ids, LAYOUT), _fixed(call.db, issue_ids, STACK_TEXT)
    found: dict[int, Matching] = {}
    for issue_id in issue_ids:
        stack = stacks.get(issue_id, frozenset())
        left = tuple(
            term for term in asked if issue_id not in own.get(term, ()) and (term.without or not _within(term, stack))
        )
        if left:
            found[issue_id] = matching(left, layouts.get(issue_id, frozenset()))
    return found


def _within(term: Term, words: frozenset[str]) -> bool:
    plain = term.kind in (WORD, PHRASE) and bool(term.words)
    return plain and all(has_word(words, word) for word in term.words)


def _with_own(call: Call, issue_ids: Sequence[int], term: Term) -> set[int]:
    """Return the issues that show the text of a term themselves: in their tags, files, channel or exception."""
    if term.kind not in (WORD, PREFIX, PHRASE):
        return set()
    found: set[int] = set()
    shown = (issues.c.exception_class, issues.c.source_frame, issues.c.channel)
    for some in chunks(issue_ids, CHUNK):
        mine = issues.c.id.in_(some)
        for test in text_conditions(call, term.text):
            found.update(call.db.execute(select(issues.c.id).where(mine, test)).scalars())
        for issue_id, *texts in call.db.execute(select(issues.c.id, *shown).where(mine)):
            if any(text and term.folded in key(text) for text in texts):
                found.add(issue_id)
    return found


def _fixed(db: Connection, issue_ids: Sequence[int], kind: str) -> Mapping[int, frozenset[str]]:
    """Return the words of the layouts, or of the stacks, of issues, as the index has them."""
    found: dict[int, set[str]] = {}
    statement = (
        select(groupings.c.issue_id, grouping_texts.c.words)
        .join_from(groupings, grouping_texts, grouping_texts.c.grouping_id == groupings.c.id)
        .where(grouping_texts.c.kind == kind)
    )
    for some in chunks(issue_ids, CHUNK):
        for issue_id, words in db.execute(statement.where(groupings.c.issue_id.in_(some))):
            found.setdefault(issue_id, set()).update((words or "").split())
    return {issue_id: frozenset(words) for issue_id, words in found.items()}
