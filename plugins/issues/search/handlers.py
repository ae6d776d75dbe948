"""HTTP of the reading side: lists, export, detail, summary."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Invalid, Reply
from snaglist.plugins.issues.ids import resolve_issue_id
from snaglist.plugins.issues.search import listing, parts
from snaglist.plugins.issues.search.activity import activity
from snaglist.plugins.issues.search.detail import show_issue
from snaglist.plugins.issues.search.export import export
from snaglist.plugins.issues.search.summary import summarise


def summary(call: Call) -> Mapping[str, Any]:
    """Answer the figures of the application."""
    return summarise(call)


def issue_activity(call: Call) -> Mapping[str, Any]:
    """Answer what surrounds the list of issues that the filters find."""
    return activity(call)


def errors(call: Call) -> Reply | Mapping[str, Any]:
    """Answer a page of issues, or all of them as a file."""
    query = call.query
    stack, context = query["include_stack"], query["include_context"]
    samples = [*(["sample_stack"] if stack else []), *(["sample_context", "sample_message"] if context else [])]
    form = query["format"]
    if form != "json":
        given = [f"{name}: cannot be combined with format" for name in ("page", "limit", "cursor") if name in query]
        if given:
            raise Invalid(given)
    with call.transaction(write=False):
        if form != "json":
            return export(call, listing.prepare(call, query["sort"], samples), form)
        issues, meta = listing.one_page(call, query["sort"], samples)
    return {"data": issues, "meta": {**meta, "include_stack": stack, "include_context": context}}


def groups(call: Call) -> Mapping[str, Any]:
    """Answer a page of issues with their samples."""
    issues, meta = listing.one_page(call, call.query["sort"], listing.SAMPLES)
    return {"items": issues, "meta": meta}


def error(call: Call) -> Mapping[str, Any]:
    """Answer one issue in full."""
    return _detail(call, "data", 100)


def group(call: Call) -> Mapping[str, Any]:
    """Answer one issue in full, in the words of groups."""
    return _detail(call, "group", 500)


def state(call: Call) -> Mapping[str, Any]:
    """Answer what shows that an issue changed, for whoever watches one."""
    return parts.state(call.db, resolve_issue_id(call.db, call.query["id"]))


def _detail(call: Call, name: str, default_limit: int) -> Mapping[str, Any]:
    query = call.query
    if "cursor" in query and "page" in query:
        raise Invalid("page: cannot be combined with cursor")
    return show_issue(
        call,
        query["id"],
        name=name,
        page=query.get("page", 1),
        limit=query.get("limit", default_limit),
        cursor=query.get("cursor"),
        skip_vendor=query["skip_vendor"],
        include_context=query["include_context"],
        occurrence=query.get("occurrence"),
    )
