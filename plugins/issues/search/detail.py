"""One issue in full: the body of `error` and `group`, and of every answer that shows an issue it changed."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, NotFound, paging, times
from snaglist.plugins.issues.above import sources, tagging
from snaglist.plugins.issues.ids import resolve_issue_id
from snaglist.plugins.issues.learning import learned_values, suggestions
from snaglist.plugins.issues.search import parts
from snaglist.plugins.issues.search.occurrence import show_occurrence
from snaglist.plugins.issues.search.rows import load_issues
from snaglist.plugins.issues.search.samples import show_exceptions, shown_event
from snaglist.plugins.issues.search.scope import Scope
from snaglist.plugins.issues.search.sorting import is_number, not_a_cursor
from snaglist.plugins.issues.search.stack import without_libraries
from snaglist.plugins.issues.stored_paths import show_path

_SAMPLES = ("sample_message", "sample_stack", "sample_context", "exceptions")


def show_issue(
    call: Call,
    issue_id: int,
    *,
    name: str = "data",
    page: int = 1,
    limit: int = 100,
    cursor: str | None = None,
    skip_vendor: bool = False,
    include_context: bool = True,
    occurrence: int | None = None,
) -> dict[str, Any]:
    """Return the answer of `error` and `group`, the issue under `name`; needs an open transaction."""
    issue_id = resolve_issue_id(call.db, issue_id)
    found = load_issues(call, [issue_id], Scope(), _SAMPLES)
    if not found:  # deleted between two statements
        raise NotFound("Unknown issue.")
    issue = found[0]
    exceptions = _take_event(call, issue, occurrence)
    if skip_vendor:
        issue["sample_stack"] = without_libraries(issue["sample_stack"], exceptions)
    if not include_context:
        del issue["sample_context"]
    occurrences, paged = _occurrences(call, issue, page, limit, cursor)
    groupings = parts.keys(call.db, issue_id)
    grouping_ids = [grouping["id"] for grouping in groupings]
    learned = learned_values(call.db, grouping_ids)
    return {
        name: issue,
        "occurrences": [_occurrence(call, issue_id, row, include_context) for row in occurrences],
        "timeline": parts.days(call.db, issue_id),
        "status_history": parts.history(call.db, issue_id),
        "tags": tagging(call).shown(call, issue_id),
        "groupings": [{**grouping, "learned": learned.get(grouping["id"])} for grouping in groupings],
        "exceptions": exceptions,
        "facets": _facets(call, issue_id),
        "suggestions": suggestions(call.db, issue_id, grouping_ids),
        "meta": {
            **paged,
            "total_occurrences": issue["stored_occurrences"],
            "skip_vendor": skip_vendor,
            "include_context": include_context,
        },
    }


def _take_event(call: Call, issue: dict[str, Any], occurrence: int | None) -> list[dict[str, Any]]:
    """Put the texts of the event that is shown into the issue and return its exceptions."""
    event = shown_event(call, issue, occurrence)
    del issue["exceptions"]
    if event is None:
        row = parts.one_occurrence(call.db, occurrence or 0)
        issue |= {
            "sample_message": None,
            "sample_stack": None,
            "sample_context": row.context_preview if row else None,
        }
        return []
    issue |= {
        "sample_message": event.message,
        "sample_stack": event.stack or None,
        "sample_context": event.context or None,
    }
    return show_exceptions(call, event, issue["module_id"])


def _occurrences(
    call: Call, issue: Mapping[str, Any], page: int, limit: int, cursor: str | None
) -> tuple[list[Row[Any]], dict[str, Any]]:
    scope = f"occurrences of {issue['id']}"
    after = None if cursor is None else _position(paging.decode_cursor(cursor, scope))
    table, offset = sources(call).table, (page - 1) * limit
    found = parts.occurrence_page(call.db, table, issue["id"], limit + 1, offset=offset, after=after)
    shown = list(found[:limit])
    if after is None:
        meta: dict[str, Any] = {**paging.meta(issue["stored_occurrences"], page, limit)}
    else:
        meta = {"total": None, "page": None, "limit": limit, "pages": None}
    more = len(found) > limit
    meta["next_cursor"] = paging.encode_cursor(scope, [shown[-1].occurred_at, shown[-1].id]) if more else None
    return shown, meta


def _position(values: list[Any]) -> tuple[str, int]:
    if len(values) != 2 or not (times.is_time(values[0]) and is_number(values[1])):
        raise not_a_cursor()
    return values[0], values[1]


def _occurrence(call: Call, issue_id: int, row: Row[Any], include_context: bool) -> dict[str, Any]:
    shown = show_occurrence(call, issue_id, row)
    if not include_context:
        del shown["context_preview"], shown["fields"]
    return shown


def _facets(call: Call, issue_id: int) -> dict[str, Any]:
    found = dict(parts.facets(call.db, issue_id))
    found["source"] = [{**item, "value": show_path(call, item["value"])} for item in found["source"]]
    return found
