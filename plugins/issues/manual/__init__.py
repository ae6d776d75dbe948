"""Manual issues: work items that people write, beside what comes from logs."""

from snaglist.plugins.issues.manual.handlers import ENDPOINTS
from snaglist.plugins.issues.manual.service import create_issue, edit_issue

__all__ = ["ENDPOINTS", "create_issue", "edit_issue"]
