"""Merging: several issues become one, and every old id goes on to work."""

from snaglist.plugins.issues.merging.queries import show_newest
from snaglist.plugins.issues.merging.service import merge_issues

__all__ = ["merge_issues", "show_newest"]
