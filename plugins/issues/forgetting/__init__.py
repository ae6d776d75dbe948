"""Forgetting people: their events go with all that was kept of them, and no issue shows one of them any more."""

from collections.abc import Sequence

from snaglist.kernel import Call
from snaglist.plugins.issues.forgetting.service import count_out, forget_events, forget_in_issues, issues_of_user
from snaglist.plugins.issues.unmerging.refreshing import refresh_sample

__all__ = ["count_out", "forget_events", "forget_in_issues", "issues_of_user", "show_whole"]


def show_whole(call: Call, issue_ids: Sequence[int]) -> None:
    """Let issues show the whole text of their latest event, where it can be read; opens transactions of its own."""
    for issue_id in issue_ids:
        refresh_sample(call, issue_id)
