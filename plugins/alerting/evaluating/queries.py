"""SQL of evaluation: issues, what fired when, and what has to be looked at again."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select

from snaglist.kernel.database import insert_ignore, upsert
from snaglist.plugins.alerting.rules import about
from snaglist.plugins.alerting.tables import rules, state
from snaglist.plugins.issues import stored
from snaglist.plugins.system import rows

_issues, _occurrences, _hours = stored.issues, stored.occurrences, stored.hours


def some_issues(db: Connection, issue_ids: Collection[int]) -> dict[int, Row[Any]]:
    """Return what rules and messages need of issues."""
    names = (
        "id", "origin", "status", "severity", "title", "count", "users", "environment", "module_id", "snoozed_until",
        "fixed_at", "last_seen", "created_at",
    )  # fmt: skip
    columns = [_issues[name] for name in names]
    return {row.id: row for row in rows.among(db, select(*columns), _issues.id, issue_ids)}


def fired(db: Connection, issue_ids: Collection[int]) -> dict[tuple[int, int], str]:
    """Return when rules last fired for issues, by rule and issue."""
    found = rows.among(db, select(state), state.c.issue_id, issue_ids)
    return {(row.rule_id, row.issue_id): row.last_fired_at for row in found}


def note_fired(db: Connection, rule_id: int, times: Mapping[int, str]) -> None:
    """Remember when a rule fired for issues."""
    now = [{"rule_id": rule_id, "issue_id": issue_id, "last_fired_at": at} for issue_id, at in sorted(times.items())]
    upsert(db, state, now, greatest=("last_fired_at",))


def copy_fired(db: Connection, issue_ids: Collection[int], target_id: int) -> None:
    """Let an issue count as fired wherever one of the others does."""
    latest: dict[int, str] = {}
    for (rule_id, _), at in fired(db, issue_ids).items():
        latest[rule_id] = max(at, latest.get(rule_id, ""))
    own = [{"rule_id": rule_id, "issue_id": target_id, "last_fired_at": at} for rule_id, at in sorted(latest.items())]
    upsert(db, state, own, greatest=("last_fired_at",))


def forget_fired(db: Connection, issue_ids: Collection[int]) -> None:
    """Forget what fired for issues."""
    rows.among(db, delete(state), state.c.issue_id, issue_ids)


def events_between(db: Connection, rule: Row[Any], issue_id: int, after: str, until: str) -> int:
    """Return how many stored events that a rule is about an issue has, later than one time and up to another."""
    at = _occurrences.occurred_at
    here = (_occurrences.issue_id == issue_id, at > after, at <= until, *about(rule, _occurrences))
    return int(db.execute(select(func.count(_occurrences.id)).where(*here)).scalar_one())


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
    names = ("id", "issue_id", "occurred_at", "received_at", "severity", "environment", "user_name")
    found = select(*(_occurrences[name] for name in names)).where(_occurrences.id >= first_id)
    return db.execute(found.order_by(_occurrences.id).limit(size)).all()


def numbers_after(db: Connection, issue_ids: Collection[int], last_id: int) -> Counter[int]:
    """Return how many stored events with a greater id than this one issues have."""
    of = _occurrences.issue_id
    counted = select(of, func.count()).where(_occurrences.id > last_id).group_by(of)
    return Counter({issue_id: number for issue_id, number in rows.among(db, counted, of, issue_ids)})


def users_after(db: Connection, issue_ids: Collection[int], last_id: int) -> dict[int, Counter[str]]:
    """Return how many stored events with a greater id than this one issues have, by user."""
    of, user = _occurrences.issue_id, _occurrences.user_name
    counted = select(of, user, func.count()).where(_occurrences.id > last_id, user.is_not(None)).group_by(of, user)
    found: dict[int, Counter[str]] = {}
    for issue_id, name, number in rows.among(db, counted, of, issue_ids):
        found.setdefault(issue_id, Counter())[name] = number
    return found


def note_known(db: Connection, issue_id: int, now: str) -> None:
    """Let an issue that was part of another one be new to no rule."""
    found = db.execute(
        select(rules.c.id).where(rules.c.trigger_type.in_(("new_error", "users"))).order_by(rules.c.id)
    ).scalars()
    missing = [{"rule_id": rule_id, "issue_id": issue_id, "last_fired_at": now} for rule_id in found]
    insert_ignore(db, state, missing)
