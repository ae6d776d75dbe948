"""SQL of evaluation: issues, what fired when, and what has to be looked at again."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from snaglist.kernel.database import chunks, insert_ignore, upsert
from snaglist.plugins.alerting.tables import rules, state
from snaglist.plugins.issues import stored

CHUNK = 500
_issues, _occurrences, _hours = stored.issues, stored.occurrences, stored.hours


def some_issues(db: Connection, issue_ids: Collection[int]) -> dict[int, Row[Any]]:
    """Return what rules and messages need of issues."""
    names = (
        "id", "origin", "status", "severity", "title", "count", "environment", "module_id", "snoozed_until", "fixed_at",
        "last_seen", "created_at",
    )  # fmt: skip
    columns = [_issues[name] for name in names]
    found: dict[int, Row[Any]] = {}
    for some in chunks(sorted(issue_ids), CHUNK):
        found.update((row.id, row) for row in db.execute(select(*columns).where(_issues.id.in_(some))))
    return found


def fired(db: Connection, issue_ids: Collection[int]) -> dict[tuple[int, int], str]:
    """Return when rules last fired for issues, by rule and issue."""
    found: dict[tuple[int, int], str] = {}
    for some in chunks(sorted(issue_ids), CHUNK):
        rows = db.execute(select(state).where(state.c.issue_id.in_(some)))
        found.update(((row.rule_id, row.issue_id), row.last_fired_at) for row in rows)
    return found


def note_fired(db: Connection, rule_id: int, times: Mapping[int, str]) -> None:
    """Remember when a rule fired for issues."""
    rows = [{"rule_id": rule_id, "issue_id": issue_id, "last_fired_at": at} for issue_id, at in sorted(times.items())]
    upsert(db, state, rows, greatest=("last_fired_at",))


def copy_fired(db: Connection, issue_ids: Collection[int], target_id: int) -> None:
    """Let an issue count as fired wherever one of the others does."""
    latest: dict[int, str] = {}
    for (rule_id, _), at in fired(db, issue_ids).items():
        latest[rule_id] = max(at, latest.get(rule_id, ""))
    rows = [{"rule_id": rule_id, "issue_id": target_id, "last_fired_at": at} for rule_id, at in sorted(latest.items())]
    upsert(db, state, rows, greatest=("last_fired_at",))


def forget_fired(db: Connection, issue_ids: Collection[int]) -> None:
    """Forget what fired for issues."""
    for some in chunks(sorted(issue_ids), CHUNK):
        db.execute(delete(state).where(state.c.issue_id.in_(some)))


def events_between(db: Connection, rule: Row[Any], issue_id: int, after: str, until: str) -> int:
    """Return how many stored events that a rule is about an issue has, later than one time and up to another."""
    wanted = [
        _occurrences.issue_id == issue_id, _occurrences.occurred_at > after, _occurrences.occurred_at <= until,
    ]  # fmt: skip
    if rule.severities:
        wanted.append(_occurrences.severity.in_(rule.severities))
    if rule.environment is not None:
        wanted.append(_occurrences.environment == rule.environment)
    return int(db.execute(select(func.count(_occurrences.id)).where(*wanted)).scalar_one())


def events_of_hours(db: Connection, issue_id: int, first: str, before: str) -> int:
    """Return how many events an issue had in the hours from one on and before another, whatever they were."""
    here = (_hours.issue_id == issue_id, _hours.hour >= first, _hours.hour < before)
    return int(db.execute(select(func.coalesce(func.sum(_hours.count), 0)).where(*here)).scalar_one())


def first_of_batch(db: Connection, source_id: int, byte_start: int) -> int | None:
    """Return the id of the occurrence at a place of a source."""
    here = (_occurrences.source_id == source_id, _occurrences.byte_start == byte_start)
    return db.execute(select(_occurrences.id).where(*here)).scalar()


def occurrences_from(db: Connection, first_id: int, size: int) -> Sequence[Row[Any]]:
    """Return occurrences by id, from one on."""
    names = ("id", "issue_id", "occurred_at", "received_at", "severity", "environment")
    rows = select(*(_occurrences[name] for name in names)).where(_occurrences.id >= first_id)
    return db.execute(rows.order_by(_occurrences.id).limit(size)).all()


def numbers_after(db: Connection, issue_ids: Collection[int], last_id: int) -> Counter[int]:
    """Return how many stored events with a greater id than this one issues have."""
    found: Counter[int] = Counter()
    for some in chunks(sorted(issue_ids), CHUNK):
        rows = (
            select(_occurrences.issue_id, func.count())
            .where(_occurrences.issue_id.in_(some), _occurrences.id > last_id)
            .group_by(_occurrences.issue_id)
        )
        found.update({issue_id: number for issue_id, number in db.execute(rows)})
    return found


def note_known(db: Connection, issue_id: int, now: str) -> None:
    """Let an issue that was part of another one be new to no rule."""
    rows = db.execute(select(rules.c.id).where(rules.c.trigger_type == "new_error").order_by(rules.c.id)).scalars()
    missing = [{"rule_id": rule_id, "issue_id": issue_id, "last_fired_at": now} for rule_id in rows]
    insert_ignore(db, state, missing)
