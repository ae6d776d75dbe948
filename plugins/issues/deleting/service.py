"""Rules of removing issues. The figures of the whole application lose what the issues counted."""

from collections import Counter
from collections.abc import Collection

from snaglist.kernel import Call
from snaglist.plugins.issues.above import sources
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.deleting import queries
from snaglist.plugins.issues.events import IssueChange
from snaglist.plugins.issues.merging.queries import lock_groupings, lock_issues, remove_issues
from snaglist.plugins.issues.totals import Totals


def delete_issues(call: Call, issue_ids: Collection[int]) -> set[int]:
    """Remove issues with their occurrences, counters, tags and history, in the open write transaction.

    Returns the ids of those that were there.
    """
    db = call.db
    ids = sorted(issue_ids)
    lock_groupings(db, ids)
    rows = lock_issues(db, ids)
    # Before the rows go, so that plugins can remove what they keep about them.
    tell_change(call, IssueChange("delete", tuple(sorted(rows))))
    totals = Totals()
    days: Counter[tuple[str, str]] = Counter()
    unknown: Counter[tuple[str, str]] = Counter()
    for issue in rows.values():
        stored = queries.stored_days(db, issue["id"])
        days.update(stored)
        for day, number in (queries.counted_days(db, issue["id"]) - _by_day(stored)).items():
            unknown[day, issue["severity"]] += number
        totals.remove(issue["status"], issue["severity"], issue["log_type"], issue["count"])
    from_sources = queries.sources_of(db, ids)
    queries.remove_occurrences(db, ids)
    remove_issues(db, ids)
    totals.write(db)
    queries.take_from_days(db, days)
    for (day, severity), number in sorted(unknown.items()):
        _take_from_day(call, day, severity, number)
    sources(call).take_off(db, from_sources)
    return set(rows)


def take_out_some(call: Call, issue_id: int, limit: int) -> bool:
    """Remove at most `limit` occurrences of an issue that is to be deleted, in the open write transaction.

    All counters follow, so that the work can stop anywhere. False when none was left.
    """
    db = call.db
    lock_groupings(db, [issue_id])
    issue = lock_issues(db, [issue_id]).get(issue_id)
    found = queries.some_occurrences(db, issue_id, limit) if issue else []
    if issue is None or not found:
        return False
    queries.take_from_groupings(db, Counter(row.grouping_id for row in found))
    queries.take_from_hours(db, Counter((row.grouping_id, row.occurred_at[:13] + ":00:00") for row in found))
    queries.remove_occurrences_by_id(db, [row.id for row in found])
    queries.take_from_issue(db, issue_id, len(found))
    totals = Totals()
    totals.remove(issue["status"], issue["severity"], issue["log_type"], issue["count"])
    totals.add(issue["status"], issue["severity"], issue["log_type"], issue["count"] - len(found))
    totals.write(db)
    queries.take_from_days(db, Counter((row.occurred_at[:10], row.severity) for row in found))
    sources(call).take_off(db, Counter(row.source_id for row in found))
    return True


def _by_day(stored: Counter[tuple[str, str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (day, _), number in stored.items():
        found[day] += number
    return found


def _take_from_day(call: Call, day: str, severity: str, number: int) -> None:
    """Take events out of a day whose severity is not known any more: the issue's own first, then the most frequent."""
    counts = queries.severities_of(call.db, day)
    taken: Counter[tuple[str, str]] = Counter()
    for name in sorted(counts, key=lambda name: (name != severity, -counts[name])):
        part = min(number, counts[name])
        taken[day, name] += part
        number -= part
    queries.take_from_days(call.db, taken)
