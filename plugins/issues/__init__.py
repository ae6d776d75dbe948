"""Issues: events become issues here, and here issues are searched, shown and changed.

Everything in `__all__` is open to the areas above and to other plugins; `stored` holds the columns they may read.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from sqlalchemy import Table

from snaglist.kernel import Assets, Description, Endpoint, Installation, Option, SchemaStep, hookimpl
from snaglist.plugins.issues import (
    assignment,
    bulk,
    comments,
    contract,
    event_search,
    hookspecs,
    manual,
    modules,
    search,
    status,
    stored,
    tables,
)
from snaglist.plugins.issues.checking import check_event
from snaglist.plugins.issues.contract import Condition, ListColumn, SearchField, ShownStack, Sources, Tagging
from snaglist.plugins.issues.events import (
    LEVEL_SOURCES,
    RANK,
    SEVERITIES,
    STATUS_WORDS,
    STATUSES,
    AccessInfo,
    CodeContext,
    Event,
    EventSource,
    ExceptionInfo,
    Frame,
    IssueChange,
    StoredBatch,
    StoredEvent,
)
from snaglist.plugins.issues.facets import MAX_USERS, OTHER
from snaglist.plugins.issues.forgetting import (
    count_out,
    forget_events,
    forget_in_issues,
    issues_of_user,
    show_whole,
    tidy_indexes,
)
from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.issues.grouping.paths import path_template
from snaglist.plugins.issues.ids import as_id, resolve_issue_id
from snaglist.plugins.issues.learning import GroupingModel, learn_again
from snaglist.plugins.issues.learning.tables import LATER
from snaglist.plugins.issues.learning.tables import TABLES as LEARNED
from snaglist.plugins.issues.manual import create_issue
from snaglist.plugins.issues.mirroring import Mirrored, create_mirrored, link_external, move_external, update_mirrored
from snaglist.plugins.issues.modules import find_or_create_module, hold_module
from snaglist.plugins.issues.paths import path_of, path_text
from snaglist.plugins.issues.people import user_reader
from snaglist.plugins.issues.preparing import PRIVACY, redaction_of
from snaglist.plugins.issues.reading import read_back
from snaglist.plugins.issues.search import health
from snaglist.plugins.issues.search.fields import has_facet
from snaglist.plugins.issues.status import change_status, follow_statuses
from snaglist.plugins.issues.steps import STEPS
from snaglist.plugins.issues.stored_paths import file_at, relative_to_data, show_path, stored_path
from snaglist.plugins.issues.storing import (
    Removed,
    Reread,
    Unstored,
    forget_empty,
    known_event_ids,
    move_counts,
    move_occurrences,
    remove_occurrences,
    reoccurrence_times,
    replace_event,
    reread_events,
    settle_occurrence,
    store_events,
    withdraw_event,
)
from snaglist.plugins.issues.storing.frames import kept_code, stored_exceptions
from snaglist.plugins.issues.storing.samples import culprit_frame
from snaglist.plugins.issues.storing.texts import clean
from snaglist.plugins.issues.unmerging import unmerge_grouping
from snaglist.plugins.system import Job

__all__ = [
    "LEVEL_SOURCES",
    "MAX_USERS",
    "OTHER",
    "RANK",
    "SEVERITIES",
    "STATUSES",
    "STATUS_WORDS",
    "AccessInfo",
    "CodeContext",
    "Condition",
    "Event",
    "EventSource",
    "ExceptionInfo",
    "Frame",
    "GroupingModel",
    "IssueChange",
    "ListColumn",
    "Mirrored",
    "Removed",
    "Reread",
    "SearchField",
    "ShownStack",
    "Sources",
    "StoredBatch",
    "StoredEvent",
    "Tagging",
    "Unstored",
    "as_id",
    "change_status",
    "check_event",
    "clean",
    "count_out",
    "create_issue",
    "create_mirrored",
    "culprit_frame",
    "file_at",
    "find_or_create_module",
    "follow_statuses",
    "forget_empty",
    "forget_events",
    "forget_in_issues",
    "grouping_key",
    "has_facet",
    "hold_module",
    "hookspecs",
    "issues_of_user",
    "kept_code",
    "known_event_ids",
    "learn_again",
    "link_external",
    "move_counts",
    "move_external",
    "move_occurrences",
    "path_of",
    "path_template",
    "path_text",
    "read_back",
    "redaction_of",
    "relative_to_data",
    "remove_occurrences",
    "reoccurrence_times",
    "replace_event",
    "reread_events",
    "resolve_issue_id",
    "settle_occurrence",
    "show_path",
    "show_whole",
    "store_events",
    "stored",
    "stored_exceptions",
    "stored_path",
    "tidy_indexes",
    "unmerge_grouping",
    "update_mirrored",
    "user_reader",
    "withdraw_event",
]


health_details = hookimpl(health.details)


@hookimpl
def describe() -> Description:
    """Name the area."""
    return Description(
        "issues",
        "Issues",
        "Groups events into issues, and lets people work on them",
        "core",
        version("snaglist"),
        core=True,
    )


@hookimpl
def register_hookspecs() -> object:
    """Offer the hooks of events and issues."""
    return hookspecs


@hookimpl
def register_settings() -> Sequence[Option]:
    """Say how long pages of issues are, and what is kept of people."""
    return [
        *PRIVACY,
        Option("pagination.default_limit", 50, "rows per page of errors and groups", 1, 1000),
        Option("pagination.max_limit", 200, "rows per page at most", 1, 1000),
    ]


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Offer modules, manual issues, statuses, comments, assignment, bulk actions, and search."""
    return [
        endpoint
        for area in (modules, manual, status, comments, assignment, bulk, search, event_search)
        for endpoint in area.ENDPOINTS
    ]


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the tables."""
    return (*tables.TABLES, *LEARNED, *LATER)


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
    """Offer the schema steps."""
    return STEPS


@hookimpl
def register_search_fields() -> Sequence[SearchField]:
    """Bring the words of a search."""
    return search.FIELDS


@hookimpl
def open_schemas() -> Mapping[str, Callable[[Installation], Mapping[str, Any]]]:
    """Open the schemas that name words and columns."""
    return search.OPEN


@hookimpl
def check_added(hook: str, value: Any) -> None:
    """Look at words and columns."""
    contract.check_added(hook, value)


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Offer the job of large bulk actions."""
    return bulk.JOBS


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the list of issues and the page of one."""
    return [Assets("issues", files("snaglist.plugins.issues") / "ui", "issues.js", ("issues.css",))]
