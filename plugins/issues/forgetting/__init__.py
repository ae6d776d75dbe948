"""Forgetting people: their events go with all that was kept of them, and no issue shows one of them any more."""

from collections.abc import Sequence

from sqlalchemy import Table

from snaglist.kernel import Call
from snaglist.plugins.issues.forgetting.service import count_out, forget_events, forget_in_issues, issues_of_user
from snaglist.plugins.issues.tables import grouping_texts, occurrences
from snaglist.plugins.issues.unmerging.refreshing import refresh_sample
from snaglist.plugins.issues.values.index import tidy_word_index

__all__ = ["count_out", "forget_events", "forget_in_issues", "issues_of_user", "show_whole", "tidy_indexes"]


def show_whole(call: Call, issue_ids: Sequence[int]) -> None:
    """Let issues show the whole text of their latest event, where it can be read; opens transactions of its own."""
    for issue_id in issue_ids:
        refresh_sample(call, issue_id)


def tidy_indexes(call: Call) -> None:
    """Take the words out of the indexes that were removed from rows; many short transactions of its own."""
    for indexed in (occurrences, grouping_texts):
        first = True
        more = True
        while more:

            def step(indexed: Table = indexed, first: bool = first) -> bool:
                with call.transaction() as db:
                    return tidy_word_index(db, indexed, first=first)

            more = call.repeat(step)
            first = False
