"""Unmerging: one grouping of an issue becomes an issue of its own, and learning leaves it alone from then on."""

from snaglist.plugins.issues.unmerging.refreshing import refresh_sample
from snaglist.plugins.issues.unmerging.service import unmerge_grouping

__all__ = ["refresh_sample", "unmerge_grouping"]
