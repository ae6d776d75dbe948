"""Statements of removing issues and their occurrences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, select, update

from snaglist.plugins.issues.tables import event_days, event_hours, groupings, issues, occurrences
from snaglist.plugins.system import rows


def some_occurrences(db: Connection, issue_id: int, limit: int) -> list[Row[Any]]:
    """Return occurrences of an issue."""
    columns = ("id", "grouping_id", "source_id", "occurred_at", "severity")
    mine = select(*(occurrences.c[name] for name in columns)).where(occurrences.c.issue_id == issue_id)
    return list(db.execute(mine.limit(limit)))


def remove_occurrences(db: Connection, issue_ids: Sequence[int]) -> None:
    """Remove all occurrences of issues."""
    rows.among(db, delete(occurrences), occurrences.c.issue_id, issue_ids)


def remove_occurrences_by_id(db: Connection, ids: Sequence[int]) -> None:
    """Remove occurrences."""
    rows.among(db, delete(occurrences), occurrences.c.id, ids)


def sources_of(db: Connection, issue_ids: Sequence[int]) -> Counter[int]:
    """Return how many occurrences of issues each source has."""
    found: Counter[int] = Counter()
    counted = select(occurrences.c.source_id, func.count()).group_by(occurrences.c.source_id)
    for source_id, number in rows.among(db, counted, occurrences.c.issue_id, issue_ids):
        found[source_id] += number
    return found


def stored_days(db: Connection, issue_id: int) -> Counter[tuple[str, str]]:
    """Return how many stored occurrences of an issue each day and severity has."""
    day = func.substr(occurrences.c.occurred_at, 1, 10)
    found = db.execute(
        select(day, occurrences.c.severity, func.count())
        .where(occurrences.c.issue_id == issue_id)
        .group_by(day, occurrences.c.severity)
    )
    return Counter({(on, severity): number for on, severity, number in found})


def counted_days(db: Connection, issue_id: int) -> Counter[str]:
    """Return how many events of an issue each day counts, those that are stored no more included."""
    day = func.substr(event_hours.c.hour, 1, 10)
    found = db.execute(
        select(day, func.sum(event_hours.c["count"])).where(event_hours.c.issue_id == issue_id).group_by(day)
    )
    return Counter({on: int(number) for on, number in found})


def severities_of(db: Connection, day: str) -> dict[str, int]:
    """Return the events of a day by severity."""
    found = db.execute(select(event_days.c.severity, event_days.c["count"]).where(event_days.c.day == day))
    return {severity: number for severity, number in found}


def take_from_days(db: Connection, days: Mapping[tuple[str, str], int]) -> None:
    """Count fewer events per day and severity."""
    fewer = [{"on": day, "level": severity, "number": number} for (day, severity), number in sorted(days.items())]
    if fewer:
        row = (event_days.c.day == bindparam("on"), event_days.c.severity == bindparam("level"))
        db.execute(update(event_days).where(*row).values(count=event_days.c["count"] - bindparam("number")), fewer)
        keys = [{name: one[name] for name in ("on", "level")} for one in fewer]
        db.execute(delete(event_days).where(*row, event_days.c["count"] <= 0), keys)


def take_from_groupings(db: Connection, counts: Mapping[int, int]) -> None:
    """Count fewer events per grouping."""
    fewer = [{"row_id": grouping_id, "number": number} for grouping_id, number in sorted(counts.items())]
    left = groupings.c["count"] - bindparam("number")
    db.execute(update(groupings).where(groupings.c.id == bindparam("row_id")).values(count=left), fewer)


def take_from_hours(db: Connection, counts: Mapping[tuple[int, str], int]) -> None:
    """Count fewer events per grouping and hour."""
    fewer = [{"row_id": key[0], "at": key[1], "number": number} for key, number in sorted(counts.items())]
    row = (event_hours.c.grouping_id == bindparam("row_id"), event_hours.c.hour == bindparam("at"))
    db.execute(update(event_hours).where(*row).values(count=event_hours.c["count"] - bindparam("number")), fewer)


def take_from_issue(db: Connection, issue_id: int, number: int) -> None:
    """Count fewer events of an issue."""
    left = {name: issues.c[name] - number for name in ("count", "stored_occurrences")}
    db.execute(update(issues).where(issues.c.id == issue_id).values(left))
