"""Rules of forgetting people.

First their events go, some at a time, and with the same transaction what issues show of them. Then each issue that
counted them loses what is left: texts that only their events had, words of stacks. An issue counts somebody until
nothing of them is left in it, so that all of it can be repeated.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from snaglist.kernel import Call
from snaglist.plugins.issues.facets import count_users
from snaglist.plugins.issues.forgetting import queries
from snaglist.plugins.issues.forgetting.names import Name
from snaglist.plugins.issues.forgetting.samples import show_another
from snaglist.plugins.issues.merging.queries import lock_groupings, lock_issues
from snaglist.plugins.issues.storing.removing import Removed, remove_occurrences
from snaglist.plugins.issues.values.storing import MAX_STACK_WORDS
from snaglist.plugins.issues.values.words import index_words, words_of

issues_of_user = queries.issues_of_user


def forget_events(call: Call, occurrence_ids: Sequence[int], user: str) -> Removed:
    """Remove occurrences that happened to somebody, in the open write transaction; issues keep counts and history.

    As for `remove_occurrences` the rows of `sources` are the caller's.
    """
    db = call.db
    _lock(db, queries.issues_of(db, occurrence_ids))
    spans = queries.issues_of(db, occurrence_ids)  # again: until now a merge could move them
    shown = queries.showing(db, occurrence_ids)
    removed = remove_occurrences(db, occurrence_ids)
    queries.note_user(db, user, spans)
    for issue_id, issue in lock_issues(db, sorted(shown)).items():
        if issue_id in shown:
            show_another(call, issue, user)
    return removed


def forget_in_issues(call: Call, issue_ids: Sequence[int], user: str) -> None:
    """Remove what is left of somebody in issues whose events of theirs are gone, in the open write transaction."""
    db = call.db
    _lock(db, issue_ids)
    name = Name(user)
    for issue_id, issue in lock_issues(db, issue_ids).items():
        queries.drop_unused_layouts(db, issue_id)
        for stack in queries.stacks_of(db, issue_id):  # chained exceptions say in it what happened to somebody
            words = index_words(words_of(stack.body)[:MAX_STACK_WORDS]) or None
            if words != stack.words:
                queries.set_words(db, stack.id, words)
        _hide_in_groupings(db, issue_id, name)
        if issue["origin"] == "ingested" and issue["sample_occurrence_id"] is None:
            show_another(call, issue, user)  # whose event it shows is not known any more


def count_out(call: Call, issue_ids: Sequence[int], user: str) -> None:
    """Count somebody no more in issues that have no event of theirs, in the open write transaction: all is done."""
    _lock(call.db, issue_ids)
    queries.drop_user(call.db, user, issue_ids)
    count_users(call.db, issue_ids)


def _lock(db: Connection, issue_ids: Collection[int]) -> None:
    """Lock issues with their groupings, in the order in which storing locks them."""
    lock_groupings(db, sorted(issue_ids))
    lock_issues(db, sorted(issue_ids))


def _hide_in_groupings(db: Connection, issue_id: int, name: Name) -> None:
    """Take a name out of the keys of groupings that have no event any more: out of what their messages shared."""
    for row in queries.groupings_of(db, issue_id):
        if not name.stands_in(row.key) or queries.has_events(db, issue_id, row.id):
            continue
        queries.change_grouping(db, row.id, name.hidden(row.key), name.hidden_in(row.parts))
        for template in queries.templates_of(db, row.id):
            queries.change_template(db, template.id, name.hidden(template.template))
            for slot in queries.slots_of(db, template.id):
                queries.change_slot(db, template.id, slot.digest, name.hidden_in(slot.words))
