"""The status of issues: a person's or plugin's change of it, its history row, and the hook."""

from snaglist.plugins.issues.status.handlers import ENDPOINTS
from snaglist.plugins.issues.status.service import (
    Fix,
    Wanted,
    change_status,
    change_statuses,
    fixes_of,
    follow_statuses,
)

__all__ = ["ENDPOINTS", "Fix", "Wanted", "change_status", "change_statuses", "fixes_of", "follow_statuses"]
