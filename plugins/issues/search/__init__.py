"""Reading issues: lists and filters, export, one issue in full, the summary."""

from snaglist.kernel import Endpoint, own, read
from snaglist.plugins.issues.search import handlers
from snaglist.plugins.issues.search.fields import column_schemas, filter_schemas, query_schemas
from snaglist.plugins.issues.search.filters import FIELDS

__all__ = ["ENDPOINTS", "FIELDS", "OPEN"]

# What the schemas that say `x-open` take from words and columns.
OPEN = {"search_words": query_schemas, "filter_words": filter_schemas, "issue_columns": column_schemas}

ENDPOINTS = (
    Endpoint("summary", get=read(handlers.summary, "issues.read"), etag=True),
    Endpoint("errors", get=own(handlers.errors, "issues.read"), etag=True),
    Endpoint("issue-activity", get=read(handlers.issue_activity, "issues.read"), etag=True),
    Endpoint("groups", get=read(handlers.groups, "issues.read"), etag=True),
    Endpoint("error", get=read(handlers.error, "issues.read")),
    Endpoint("issue-state", get=read(handlers.state, "issues.read"), etag=True),
    Endpoint("group", get=read(handlers.group, "issues.read")),
)
