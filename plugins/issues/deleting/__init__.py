"""Removing issues with all that belongs to them; a later event with the same key makes a new issue."""

from snaglist.plugins.issues.deleting.service import delete_issues, take_out_some

__all__ = ["delete_issues", "take_out_some"]
