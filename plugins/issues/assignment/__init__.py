"""Who works on an issue: one of the people that the host offers; without a host nobody can be assigned."""

from snaglist.plugins.issues.assignment.handlers import ENDPOINTS
from snaglist.plugins.issues.assignment.service import Assignee, assign_issues, find_assignee

__all__ = ["ENDPOINTS", "Assignee", "assign_issues", "find_assignee"]
