"""What other areas and plugins may read of the tables of issues: these columns stay, and keep their meaning.

They are SQLAlchemy columns, for statements of any kind: `select(stored.issues.title).where(stored.issues.id == 7)`.
What is written goes through the functions of `snaglist.plugins.issues`.
"""

from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_

from snaglist.kernel.database import contains
from snaglist.plugins.issues import tables
from snaglist.plugins.issues.storing.samples import MAX_SEARCHED
from snaglist.plugins.system import rows

modules = rows.promised(tables.modules, "id", "name", "name_key", "slug", "color")
issues = rows.promised(
    tables.issues,
    "id", "origin", "kind", "module_id", "severity", "environment", "log_type", "channel", "title", "exception_class",
    "source_frame", "count", "stored_occurrences", "users", "first_seen", "last_seen", "status", "status_updated_at",
    "fixed_at", "fixed_release", "snoozed_until", "snooze_count", "external_source", "external_id", "external_url",
    "assignee", "assigned_to_id", "assigned_to_label", "sample_occurrence_id", "created_at", "updated_at",
)  # fmt: skip
samples = rows.promised(tables.issue_samples, "issue_id", "message", "stack", "context", "exceptions")
groupings = rows.promised(tables.groupings, "id", "issue_id", "fingerprint")
occurrences = rows.promised(
    tables.occurrences,
    "id", "issue_id", "grouping_id", "source_id", "occurred_at", "received_at", "time_source", "severity",
    "environment", "release", "server_name", "event_id", "byte_start", "byte_end", "provisional", "truncated",
    "context_preview", "level_source", "user_name",
)  # fmt: skip
facets = rows.promised(
    tables.issue_facets, "issue_id", "facet", "value", "value_hash", "count", "first_seen", "last_seen"
)
hours = rows.promised(tables.event_hours, "issue_id", "hour", "count")
history = rows.promised(
    tables.status_history, "id", "issue_id", "event", "from_status", "to_status", "note", "created_at"
)


def with_module(statement: Select[Any], module_id: ColumnElement[Any]) -> Select[Any]:
    """Add `module_name`, `module_slug` and `module_color` of the module that a column refers to, null without one."""
    shown = (modules[name].label(f"module_{name}") for name in ("name", "slug", "color"))
    return statement.add_columns(*shown).outerjoin(tables.modules, modules.id == module_id)


def with_sample(statement: Select[Any]) -> Select[Any]:
    """Join the rows of issues with their samples, where they have one."""
    return statement.outerjoin(tables.issue_samples, samples.issue_id == issues.id)


def may_hold(text: str) -> ColumnElement[bool]:
    """Test for issues, joined with their samples, whose title, exception class or message may hold a folded text.

    It only narrows: a message is searched to its end by whoever reads it.
    """
    long = func.length(samples.message) > MAX_SEARCHED  # bytes on MySQL, which finds no less
    return or_(contains(tables.issues.c.search_text, text), long)
