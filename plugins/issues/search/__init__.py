"""Reading issues: lists and filters, export, one issue in full, the summary."""

from snaglist.kernel import Endpoint, own, read
from snaglist.plugins.issues.search import handlers

ENDPOINTS = (
    Endpoint("summary", get=read(handlers.summary, "issues.read"), etag=True),
    Endpoint("errors", get=own(handlers.errors, "issues.read"), etag=True),
    Endpoint("groups", get=read(handlers.groups, "issues.read"), etag=True),
    Endpoint("error", get=read(handlers.error, "issues.read")),
    Endpoint("group", get=read(handlers.group, "issues.read")),
)
