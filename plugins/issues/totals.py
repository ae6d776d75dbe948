"""Counters of issues and events by status, severity and log type, so that a summary never counts issues."""

from collections import defaultdict

from sqlalchemy import Connection

from snaglist.kernel.database import upsert
from snaglist.plugins.issues.tables import issue_totals


class Totals:
    """Collected differences of `issue_totals`; write them last, they are the rows that all writers share."""

    def __init__(self) -> None:
        self._changes: defaultdict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])

    def add(self, status: str, severity: str, log_type: str, occurrences: int) -> None:
        """Count one issue with its events in."""
        self._change((status, severity, log_type), 1, occurrences)

    def remove(self, status: str, severity: str, log_type: str, occurrences: int) -> None:
        """Take one issue with its events out."""
        self._change((status, severity, log_type), -1, -occurrences)

    def write(self, db: Connection) -> None:
        """Add the differences to the table, in key order."""
        rows = [
            {"status": key[0], "severity": key[1], "log_type": key[2], "issues": change[0], "occurrences": change[1]}
            for key, change in sorted(self._changes.items())
            if any(change)
        ]
        upsert(db, issue_totals, rows, add=("issues", "occurrences"))

    def _change(self, key: tuple[str, str, str], issues: int, occurrences: int) -> None:
        change = self._changes[key]
        change[0] += issues
        change[1] += occurrences
