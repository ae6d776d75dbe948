"""The events of issues: found by what they hold, listed, counted by their values, exported."""

from snaglist.kernel import Endpoint, own, read
from snaglist.plugins.issues.event_search.handlers import events, values

__all__ = ["ENDPOINTS"]

ENDPOINTS = (
    Endpoint("events", get=own(events, "issues.read")),
    Endpoint("event-values", get=read(values, "issues.read")),
)
