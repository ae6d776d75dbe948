"""How many users issues had before some events: what the trigger `users` compares with how many they have."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from snaglist.kernel import digest
from snaglist.plugins.alerting.evaluating.seen import SeenIssue
from snaglist.plugins.issues import stored
from snaglist.plugins.system import rows

_facets = stored.facets


def users_before(db: Connection, seen: Mapping[int, SeenIssue], issues: Mapping[int, Row[Any]]) -> dict[int, int]:
    """Return the number of users that each issue had before what was seen of it.

    A user is new whose events are all among these, or later ones.
    """
    counts = {
        issue_id: Counter(event.user for event in issue.events if event.user) + issue.later_users
        for issue_id, issue in seen.items()
    }
    hashes = {digest(user): user for users in counts.values() for user in users}
    columns = (_facets.issue_id, _facets.value_hash, _facets.count)
    users = select(*columns).where(_facets.facet == "user", _facets.issue_id.in_(sorted(counts)))
    new: Counter[int] = Counter()
    for issue_id, value_hash, number in rows.among(db, users, _facets.value_hash, hashes) if hashes else ():
        new[issue_id] += 0 < number <= counts[issue_id][hashes[value_hash]]
    return {issue_id: issues[issue_id].users - new[issue_id] for issue_id in seen}
