"""Auto-tagging rules: what a rule matches, and running all rules on some issues."""

from collections.abc import Collection

from snaglist.kernel import Call, key
from snaglist.kernel.database import chunks
from snaglist.plugins.system import rows
from snaglist.plugins.tags import queries
from snaglist.plugins.tags.assignments import attach_automatic

BATCH = 1000


def matches(match_key: str, fields: Collection[str]) -> bool:
    """Tell whether one of the folded fields holds the folded word; each field counts on its own."""
    return any(match_key in field for field in fields)


def run_rules(call: Call, issue_ids: Collection[int], *, rebuild: bool = False) -> None:
    """Run the enabled rules on some issues, in the open write transaction.

    Adds what matches. With `rebuild`, assignments by rules that match no longer go.
    """
    if not issue_ids:
        return
    rules = queries.enabled_rules(call.db)
    if not rules and not rebuild:
        return
    for ids in chunks(sorted(issue_ids), rows.MOST):
        matched = [
            (issue.id, rule.tag_id)
            for issue in queries.issue_texts(call.db, ids)
            for rule in rules
            if matches(rule.match_key, issue.fields)
        ]
        if rebuild:
            queries.clear_assignments(call.db, queries.assignments(call.db, ids, "rule").difference(matched), "rule")
        present = queries.hold_tags(call.db, {tag_id for _, tag_id in matched})
        attach_automatic(call.db, [pair for pair in matched if pair[1] in present], "rule", now=call.now)


def count_matches(call: Call, word: str) -> int:
    """Return how many issues a rule with this word matches."""
    match_key, count, position = key(word), 0, 0
    while batch := queries.last_of_batch(call.db, position, BATCH):
        found = queries.candidates(call.db, match_key, position, batch[0], tag_id=0)
        count += sum(matches(match_key, issue.fields) for issue in found)
        position = batch[0]
    return count
