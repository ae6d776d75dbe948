"""The figures of `summary`: from counters and indexes, whatever the number of issues and events."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from snaglist.kernel import Call, times
from snaglist.plugins.issues.above import sources
from snaglist.plugins.issues.events import RANK, SEVERITIES
from snaglist.plugins.issues.modules.queries import list_modules
from snaglist.plugins.issues.search.scope import HOURS_SHOWN, earlier, hours_until
from snaglist.plugins.issues.tables import event_days, event_hours, issue_totals, issues

STATUS_ORDER = ("open", "in_progress", "reoccurred", "fixed", "wont_fix")
DAYS_SHOWN = 30
FILES_SHOWN = 12

_DAYS = select(event_days.c.day, event_days.c.severity, event_days.c.count.label("events")).order_by(event_days.c.day)


def summarise(call: Call) -> dict[str, Any]:
    """Return the answer of `summary`; needs an open transaction."""
    db = call.db
    totals = db.execute(select(issue_totals)).all()
    days = db.execute(_DAYS).all()
    by_severity = _by(totals, "severity")
    by_status = _by(totals, "status")
    by_type = _by(totals, "log_type")
    return {
        "total": {
            "groups_count": sum(row.issues for row in totals),
            "occurrences": sum(row.occurrences for row in totals),
            "last_seen": last_seen(db),
        },
        "severity": [{"severity": name, **by_severity[name]} for name in SEVERITIES if name in by_severity],
        "status": [{"status": name, **by_status[name]} for name in STATUS_ORDER if name in by_status],
        "types": [
            {"log_type": name, **figures}
            for name, figures in sorted(by_type.items(), key=lambda item: (-item[1]["occurrences"], item[0]))
        ],
        "trend": _trend(days),
        "hours": hourly(db, call.now),
        "daily_severity": _daily_severity(days),
        "files": sources(call).latest(call, FILES_SHOWN),
        "modules": list_modules(db),
    }


def _by(totals: Iterable[Any], column: str) -> Mapping[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in totals:
        if row.issues > 0:
            figures = found.setdefault(getattr(row, column), {"groups_count": 0, "occurrences": 0})
            figures["groups_count"] += row.issues
            figures["occurrences"] += row.occurrences
    return found


def last_seen(db: Connection) -> str | None:
    """Return the time of the last event of all."""
    return db.execute(select(issues.c.last_seen).order_by(issues.c.last_seen.desc()).limit(1)).scalar()


def _trend(days: Iterable[Any]) -> list[dict[str, Any]]:
    counts: dict[str, int] = defaultdict(int)
    for row in days:
        counts[row.day] += row.events
    return [{"day": day, "count": events} for day, events in counts.items() if events > 0]


def _daily_severity(days: Iterable[Any]) -> list[dict[str, Any]]:
    shown = [row for row in days if row.events > 0]
    if not shown:
        return []
    first = earlier(f"{shown[-1].day} 00:00:00", 24 * (DAYS_SHOWN - 1))[:10]
    recent = sorted((row for row in shown if row.day >= first), key=lambda row: (row.day, RANK[row.severity]))
    return [{"day": row.day, "severity": row.severity, "count": row.events} for row in recent]


def hourly(db: Connection, now: str) -> list[int]:
    """Return the number of events of each of the last 24 hours, up to the current one."""
    hours = hours_until(times.hour(now), HOURS_SHOWN)
    statement = select(event_hours.c.hour, func.sum(event_hours.c.count).label("events"))
    within = statement.where(event_hours.c.hour >= hours[0], event_hours.c.hour <= hours[-1])
    counts = {row.hour: int(row.events) for row in db.execute(within.group_by(event_hours.c.hour))}
    return [counts.get(hour, 0) for hour in hours]
