"""Endpoint `bulk-issues`: one action on many issues, in the request when it is small, else as a job."""

from snaglist.kernel import Endpoint, own
from snaglist.plugins.issues.bulk import handlers
from snaglist.plugins.issues.bulk.jobs import JOBS

__all__ = ["ENDPOINTS", "JOBS"]

ENDPOINTS = (Endpoint("bulk-issues", post=own(handlers.post, "issues.write", 200, 202)),)
