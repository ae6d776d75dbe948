"""Issues as lists show them, loaded for a page of ids with a fixed number of statements."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from snaglist.kernel import Call
from snaglist.plugins.issues.search.fields import column_values
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.tables import (
    event_hours,
    groupings,
    issue_samples,
    issues,
    modules,
)

_NO_GENERATION = 1  # manual and tracker issues have a fingerprint, but no grouping that numbers its key's generation
_SAMPLES = {
    "sample_message": issue_samples.c.message,
    "sample_stack": issue_samples.c.stack,
    "sample_context": issue_samples.c.context,
    "exceptions": issue_samples.c.exceptions,
}
_FIELDS = [column for column in issues.c if column.name not in ("search_text", "count", "first_seen", "last_seen")]


def load_issues(call: Call, ids: Sequence[int], scope: Scope, samples: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the issue objects of at most 500 ids in the order given; ids that are gone are left out.

    `samples` names sample fields to add: sample_message, sample_stack, sample_context, exceptions.
    """
    if not ids:
        return []
    db, now = call.db, call.now
    rows = {row.id: row for row in db.execute(_statement(ids, scope, samples))}
    newest = _newest_groupings(db, ids)
    charts = _charts(db, ids, scope, now)
    added = _added(call, ids)
    found = []
    for row in (rows[issue_id] for issue_id in ids if issue_id in rows):
        issue = _issue(row, newest.get(row.id), now)
        issue["sparkline"] = charts[row.id]
        found.append(issue | added[row.id] | {name: getattr(row, name) for name in samples})
    return found


def _statement(ids: Sequence[int], scope: Scope, samples: Collection[str]) -> Any:
    return (
        select(
            *_FIELDS,
            issues.c.count.label("count_total"),
            scope.count.label("events"),
            scope.first_seen.label("first_seen"),
            scope.last_seen.label("last_seen"),
            modules.c.name.label("module_name"),
            modules.c.slug.label("module_slug"),
            modules.c.color.label("module_color"),
            issue_samples.c.stack.is_not(None).label("has_stack"),
            *(_SAMPLES[name].label(name) for name in samples),
        )
        .select_from(issues)
        .outerjoin(modules, modules.c.id == issues.c.module_id)
        .outerjoin(issue_samples, issue_samples.c.issue_id == issues.c.id)
        .where(issues.c.id.in_(ids))
    )


def _issue(row: Any, grouping: Any, now: str) -> dict[str, Any]:
    snoozed = row.snoozed_until if row.snoozed_until and row.snoozed_until > now else None
    return {
        "id": row.id,
        "fingerprint": grouping.fingerprint if grouping else row.fingerprint,
        "fingerprint_version": grouping.fingerprint_version if grouping else _NO_GENERATION,
        "title": row.title,
        "severity": row.severity,
        "environment": row.environment,
        "log_type": row.log_type,
        "channel": row.channel,
        "exception_class": row.exception_class,
        "source_frame": row.source_frame,
        "origin": row.origin,
        "kind": row.kind,
        "status": row.status,
        "count": int(row.events),
        "count_total": row.count_total,
        "stored_occurrences": row.stored_occurrences,
        "users": row.users,
        "first_seen": row.first_seen,
        "last_seen": row.last_seen,
        "sparkline": [],
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "status_updated_at": row.status_updated_at,
        "fixed_at": row.fixed_at,
        "fixed_release": row.fixed_release,
        "snoozed_until": snoozed,
        "snooze_count": row.snooze_count,
        "module_id": row.module_id,
        "module_name": row.module_name,
        "module_slug": row.module_slug,
        "module_color": row.module_color,
        "external_source": row.external_source,
        "external_id": row.external_id,
        "external_url": row.external_url,
        "assignee": row.assignee,
        "assigned_to_id": row.assigned_to_id,
        "assigned_to_label": row.assigned_to_label,
        "has_stack": bool(row.has_stack),
    }


def _newest_groupings(db: Connection, ids: Sequence[int]) -> Mapping[int, Any]:
    newest = select(func.max(groupings.c.id)).where(groupings.c.issue_id.in_(ids)).group_by(groupings.c.issue_id)
    columns = (groupings.c.issue_id, groupings.c.fingerprint, groupings.c.fingerprint_version)
    return {row.issue_id: row for row in db.execute(select(*columns).where(groupings.c.id.in_(newest)))}


def _charts(db: Connection, ids: Sequence[int], scope: Scope, now: str) -> Mapping[int, list[int]]:
    hours = scope.chart_hours(now)
    position = {hour: number for number, hour in enumerate(hours)}
    statement = select(event_hours.c.issue_id, event_hours.c.hour, event_hours.c.count).where(
        event_hours.c.issue_id.in_(ids),
        event_hours.c.hour >= hours[0],
        event_hours.c.hour <= hours[-1],
        scope.holds(event_hours.c.hour),
    )
    charts: dict[int, list[int]] = defaultdict(lambda: [0] * len(hours))
    for row in db.execute(statement):
        charts[row.issue_id][position[row.hour]] += row[2]
    return charts


def _added(call: Call, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the columns of areas and plugins by issue id."""
    rows: dict[int, dict[str, Any]] = {issue_id: {} for issue_id in ids}
    for column, values in column_values(call, ids):
        for issue_id, row in rows.items():
            row[column.name] = values.get(issue_id, column.missing)
    return rows
