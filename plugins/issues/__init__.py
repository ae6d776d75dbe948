"""Issues: events become issues here, and here issues are searched, shown and changed.

`tables` holds the area's tables. Everything in `__all__` is open to the areas above and to other plugins.
"""

from collections.abc import Callable
from importlib.resources import files
from typing import Any

from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Description, Endpoint, Job, Option, hookimpl
from snaglist.plugins.issues import assignment, bulk, manual, modules, search, status, tables
from snaglist.plugins.issues.checking import check_event
from snaglist.plugins.issues.events import (
    RANK,
    SEVERITIES,
    STATUSES,
    AccessInfo,
    Event,
    EventSource,
    ExceptionInfo,
    Frame,
    IssueChange,
    StoredBatch,
    StoredEvent,
)
from snaglist.plugins.issues.facets import OTHER
from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.issues.grouping.paths import path_template
from snaglist.plugins.issues.ids import as_id, resolve_issue_id
from snaglist.plugins.issues.learning import GroupingModel, learn_again
from snaglist.plugins.issues.learning.tables import LATER
from snaglist.plugins.issues.learning.tables import TABLES as LEARNED
from snaglist.plugins.issues.manual import create_issue
from snaglist.plugins.issues.mirroring import Mirrored, create_mirrored, link_external, move_external, update_mirrored
from snaglist.plugins.issues.modules import find_or_create_module
from snaglist.plugins.issues.paths import path_of, path_text
from snaglist.plugins.issues.reading import read_back
from snaglist.plugins.issues.search.fields import Condition, ListColumn, SearchField, has_facet
from snaglist.plugins.issues.status import change_status, follow_statuses
from snaglist.plugins.issues.steps import STEPS
from snaglist.plugins.issues.stored_paths import file_at, move_paths, relative_to_data, show_path, stored_path
from snaglist.plugins.issues.storing import (
    Removed,
    Reread,
    Unstored,
    known_event_ids,
    remove_occurrences,
    rename_source,
    reoccurrence_times,
    replace_event,
    reread_events,
    store_events,
    withdraw_event,
)
from snaglist.plugins.issues.storing.samples import culprit_frame
from snaglist.plugins.issues.storing.texts import clean
from snaglist.plugins.issues.tagging import Tagging
from snaglist.plugins.issues.unmerging import unmerge_grouping

__all__ = [
    "OTHER",
    "RANK",
    "SEVERITIES",
    "STATUSES",
    "AccessInfo",
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
    "StoredBatch",
    "StoredEvent",
    "Tagging",
    "Unstored",
    "as_id",
    "change_status",
    "check_event",
    "clean",
    "create_issue",
    "create_mirrored",
    "culprit_frame",
    "file_at",
    "find_or_create_module",
    "follow_statuses",
    "grouping_key",
    "has_facet",
    "known_event_ids",
    "learn_again",
    "link_external",
    "move_external",
    "move_paths",
    "path_of",
    "path_template",
    "path_text",
    "read_back",
    "relative_to_data",
    "remove_occurrences",
    "rename_source",
    "reoccurrence_times",
    "replace_event",
    "reread_events",
    "resolve_issue_id",
    "show_path",
    "store_events",
    "stored_path",
    "tables",
    "unmerge_grouping",
    "update_mirrored",
    "withdraw_event",
]


@hookimpl
def describe() -> Description:
    """Name the area."""
    return Description(
        "issues", "Issues", "Groups events into issues, and lets people work on them", "core", "0.1.0", core=True
    )


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Say how long pages of issues are."""
    register(Option("pagination.default_limit", 50, "rows per page of errors and groups", 1, 1000))
    register(Option("pagination.max_limit", 200, "rows per page at most", 1, 1000))


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Offer modules, manual issues, statuses, assignment, bulk actions, and search."""
    for area in (modules, manual, status, assignment, bulk, search):
        for endpoint in area.ENDPOINTS:
            register(endpoint)


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Declare the tables."""
    for table in (*tables.TABLES, *LEARNED, *LATER):
        register(table)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Offer the schema steps."""
    for name, step in STEPS:
        register(name, step)


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Bring the words of a search, and open the schemas that name words and columns."""
    if kind == "search field":
        for word in search.FIELDS:
            register(word.name, word)
    if kind == "open_schema":
        for name, properties in search.OPEN.items():
            register(name, properties)


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Offer the job of large bulk actions."""
    for job in bulk.JOBS:
        register(job)


@hookimpl
def dashboard_assets() -> Assets:
    """Offer the list of issues and the page of one."""
    return Assets("issues", files("snaglist.plugins.issues") / "ui", "issues.js", ("issues.css",))
